// Which keys stand for which action in components.

import { matchesKey } from "./keys.js";

/** An action, the keys it has unless others are chosen, and what it does, for people. */
export interface KeybindingDefinition {
  defaultKeys: string | readonly string[];
  description: string;
}

const bind = (description: string, ...defaultKeys: string[]): KeybindingDefinition => ({ defaultKeys, description });

/** The actions of components. */
export const TUI_KEYBINDINGS: Readonly<Record<string, KeybindingDefinition>> = {
  "tui.editor.cursorUp": bind("Up a line", "up"),
  "tui.editor.cursorDown": bind("Down a line", "down"),
  "tui.editor.historyPrevious": bind("Earlier prompt"),
  "tui.editor.historyNext": bind("Later prompt"),
  "tui.editor.cursorLeft": bind("Left", "left", "ctrl+b"),
  "tui.editor.cursorRight": bind("Right", "right", "ctrl+f"),
  "tui.editor.cursorWordLeft": bind("Left by a word", "alt+left", "ctrl+left", "alt+b"),
  "tui.editor.cursorWordRight": bind("Right by a word", "alt+right", "ctrl+right", "alt+f"),
  "tui.editor.cursorLineStart": bind("Start of the line", "home", "ctrl+a"),
  "tui.editor.cursorLineEnd": bind("End of the line", "end", "ctrl+e"),
  "tui.editor.jumpForward": bind("Forward to a character", "ctrl+]"),
  "tui.editor.jumpBackward": bind("Back to a character", "ctrl+alt+]"),
  "tui.editor.pageUp": bind("Up a page", "pageUp", "ctrl+pageUp"),
  "tui.editor.pageDown": bind("Down a page", "pageDown", "ctrl+pageDown"),
  "tui.editor.deleteCharBackward": bind("Delete the character before", "backspace"),
  "tui.editor.deleteCharForward": bind("Delete the character after", "delete", "ctrl+d"),
  "tui.editor.deleteWordBackward": bind("Delete the word before", "ctrl+w", "alt+backspace"),
  "tui.editor.deleteWordForward": bind("Delete the word after", "alt+d", "alt+delete"),
  "tui.editor.deleteToLineStart": bind("Delete to the start of the line", "ctrl+u"),
  "tui.editor.deleteToLineEnd": bind("Delete to the end of the line", "ctrl+k"),
  "tui.editor.yank": bind("Put back what was deleted", "ctrl+y"),
  "tui.editor.yankPop": bind("Put back what was deleted before that", "alt+y"),
  "tui.editor.undo": bind("Undo", "ctrl+-"),
  "tui.input.newLine": bind("New line", "shift+enter", "ctrl+j"),
  "tui.input.submit": bind("Submit", "enter"),
  "tui.input.tab": bind("Complete", "tab"),
  "tui.input.copy": bind("Copy", "ctrl+c"),
  "tui.select.up": bind("Up", "up"),
  "tui.select.down": bind("Down", "down"),
  "tui.select.pageUp": bind("Up a page", "pageUp"),
  "tui.select.pageDown": bind("Down a page", "pageDown"),
  "tui.select.confirm": bind("Choose", "enter"),
  "tui.select.cancel": bind("Cancel", "escape", "ctrl+c"),
};

type Bindings = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Actions and their keys. */
export class KeybindingsManager {
  readonly #definitions: Readonly<Record<string, KeybindingDefinition>>;
  #chosen: Bindings;

  /** `chosen` replaces the keys of single actions; an empty list leaves an action without a key. */
  constructor(definitions: Readonly<Record<string, KeybindingDefinition>> = TUI_KEYBINDINGS, chosen: Bindings = {}) {
    this.#definitions = definitions;
    this.#chosen = chosen;
  }

  /** Whether the data is a key of the action; false for an unknown action. */
  matches(data: string, action: string): boolean {
    return this.getKeys(action).some((key) => matchesKey(data, key));
  }

  /** The action's keys; empty for an unknown action. */
  getKeys(action: string): string[] {
    const keys = this.#chosen[action] ?? this.#definitions[action]?.defaultKeys ?? [];
    return typeof keys === "string" ? [keys] : [...keys];
  }

  getDefinition(action: string): KeybindingDefinition | undefined {
    return this.#definitions[action];
  }

  /** Keys that were chosen for more than one action, with those actions. */
  getConflicts(): { key: string; keybindings: string[] }[] {
    const actions = new Map<string, string[]>();
    for (const action of Object.keys(this.#chosen))
      for (const key of this.getKeys(action)) actions.set(key, [...(actions.get(key) ?? []), action]);
    return [...actions].filter(([, of]) => of.length > 1).map(([key, keybindings]) => ({ key, keybindings }));
  }

  setUserBindings(bindings: Bindings): void {
    this.#chosen = bindings;
  }

  getUserBindings(): Bindings {
    return { ...this.#chosen };
  }

  /** Every action with its keys. */
  getResolvedBindings(): Record<string, string[]> {
    return Object.fromEntries(Object.keys(this.#definitions).map((action) => [action, this.getKeys(action)]));
  }
}

let current = new KeybindingsManager();

/** The keys components go by. */
export function getKeybindings(): KeybindingsManager {
  return current;
}

export function setKeybindings(keybindings: KeybindingsManager): void {
  current = keybindings;
}

/** The name older extensions know `getKeybindings` by; its actions had no prefix then. */
export function getEditorKeybindings(): Pick<KeybindingsManager, "matches" | "getKeys"> {
  const full = (action: string) =>
    action.includes(".")
      ? action
      : (Object.keys(TUI_KEYBINDINGS).find((name) => name.endsWith(`.${action}`)) ?? olderNames[action] ?? action);
  return {
    matches: (data, action) => current.matches(data, full(action)),
    getKeys: (action) => current.getKeys(full(action)),
  };
}

const olderNames: Readonly<Record<string, string>> = {
  selectUp: "tui.select.up",
  selectDown: "tui.select.down",
  selectPageUp: "tui.select.pageUp",
  selectPageDown: "tui.select.pageDown",
  selectConfirm: "tui.select.confirm",
  selectCancel: "tui.select.cancel",
};
