// What components look like in the theme, and how keys are shown.

import { highlightCode } from "./code-view.js";
import { defaultTheme, type ThemeColor } from "./theme.js";
import { getKeybindings } from "./tui/keybindings.js";
import type { MarkdownTheme } from "./tui/markdown.js";
import type { SelectListTheme, SettingsListTheme } from "./tui/selection.js";

const inColour = (color: ThemeColor) => (text: string) => defaultTheme().fg(color, text);

export function getMarkdownTheme(): MarkdownTheme {
  const theme = defaultTheme();
  return {
    heading: inColour("mdHeading"),
    link: inColour("mdLink"),
    linkUrl: inColour("mdLinkUrl"),
    code: inColour("mdCode"),
    codeBlock: inColour("mdCodeBlock"),
    codeBlockBorder: inColour("mdCodeBlockBorder"),
    quote: inColour("mdQuote"),
    quoteBorder: inColour("mdQuoteBorder"),
    hr: inColour("mdHr"),
    listBullet: inColour("mdListBullet"),
    bold: (text) => theme.bold(text),
    italic: (text) => theme.italic(text),
    underline: (text) => theme.underline(text),
    strikethrough: (text) => theme.strikethrough(text),
    highlightCode,
  };
}

export function getSelectListTheme(): SelectListTheme {
  return {
    selectedPrefix: inColour("accent"),
    selectedText: inColour("accent"),
    description: inColour("muted"),
    scrollInfo: inColour("muted"),
    noMatch: inColour("muted"),
  };
}

export function getSettingsListTheme(): SettingsListTheme {
  const theme = defaultTheme();
  return {
    label: (text, selected) => (selected ? theme.fg("accent", text) : text),
    value: (text, selected) => theme.fg(selected ? "accent" : "muted", text),
    description: inColour("dim"),
    cursor: theme.fg("accent", "→ "),
    hint: inColour("dim"),
  };
}

/** The keys of an action for people, such as `escape/ctrl+c`; empty for an action nobody can do here. */
export function keyText(action: string): string {
  return getKeybindings().getKeys(action).join("/");
}

/** The keys of an action and what they do. */
export function keyHint(action: string, text: string): string {
  return rawKeyHint(keyText(action), text);
}

/** A key and what it does. */
export function rawKeyHint(key: string, text: string): string {
  const theme = defaultTheme();
  return theme.fg("dim", key) + theme.fg("muted", ` ${text}`);
}
