// The theme: puts ANSI codes for the roles of an interface around text. Cheap to import: no libraries.

import {
  backgroundAnsi,
  type Color,
  type ColorMode,
  colourOf,
  foregroundAnsi,
  getTerminalColorMode,
} from "./colour.js";
import { backgrounds, type Colour, foregrounds, type ThemeBg, type ThemeColor } from "./theme-colours.js";

export type { ThemeBg, ThemeColor } from "./theme-colours.js";

/** What `style` puts on a text; a colour is a role's name or a concrete one. */
export interface TextStyle {
  fg?: ThemeColor | Color;
  bg?: ThemeBg | Color;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
  strikethrough?: boolean;
}

/** Colours by role. Names nobody knows throw, so that a typing error shows. */
export class Theme {
  readonly name: string;
  readonly appearance = "dark";
  readonly #mode: ColorMode;
  readonly #foregrounds = new Map<string, string>();
  readonly #backgrounds = new Map<string, string>();
  readonly #colours: Readonly<Record<string, Colour>>;

  /** `fgColors` and `bgColors` are roles with `0xrrggbb`, `#rrggbb`, or null for the terminal's own. */
  constructor(
    fgColors: Readonly<Record<string, Colour | string>> = foregrounds,
    bgColors: Readonly<Record<string, Colour | string>> = backgrounds,
    mode: ColorMode = getTerminalColorMode(),
    options: { name?: string } = {},
  ) {
    this.name = options.name ?? "default";
    this.#mode = mode;
    this.#colours = { ...numbers(fgColors), ...numbers(bgColors) };
    for (const role of Object.keys(fgColors)) this.#foregrounds.set(role, this.#start(role, foregroundAnsi, 39));
    for (const role of Object.keys(bgColors)) this.#backgrounds.set(role, this.#start(role, backgroundAnsi, 49));
  }

  /** Concrete colours by role; one the terminal decides is reported as light grey for text, nearly black behind it. */
  get colors(): Record<string, Color> {
    const guess = (role: string) => (this.#backgrounds.has(role) ? 0x1c1e22 : 0xd8dce2);
    return Object.fromEntries(
      Object.entries(this.#colours).map(([role, colour]) => [role, colourOf(colour ?? guess(role))] as const),
    );
  }

  /** Text in the colour of a role. Throws for an unknown role. */
  fg(color: ThemeColor, text: string): string {
    return `${this.getFgAnsi(color)}${text}\u001b[39m`;
  }

  /** Text on the background of a role. Throws for an unknown role. */
  bg(color: ThemeBg, text: string): string {
    return `${this.getBgAnsi(color)}${text}\u001b[49m`;
  }

  bold(text: string): string {
    return `\u001b[1m${text}\u001b[22m`;
  }

  italic(text: string): string {
    return `\u001b[3m${text}\u001b[23m`;
  }

  underline(text: string): string {
    return `\u001b[4m${text}\u001b[24m`;
  }

  inverse(text: string): string {
    return `\u001b[7m${text}\u001b[27m`;
  }

  strikethrough(text: string): string {
    return `\u001b[9m${text}\u001b[29m`;
  }

  /** Text with all of a style at once. Throws for an unknown role. */
  style(text: string, style: TextStyle): string {
    let styled = text;
    if (style.bold) styled = this.bold(styled);
    if (style.dim) styled = `\u001b[2m${styled}\u001b[22m`;
    if (style.italic) styled = this.italic(styled);
    if (style.underline) styled = this.underline(styled);
    if (style.inverse) styled = this.inverse(styled);
    if (style.strikethrough) styled = this.strikethrough(styled);
    const { fg, bg } = style;
    if (fg)
      styled = typeof fg === "string" ? this.fg(fg, styled) : `${foregroundAnsi(fg, this.#mode)}${styled}\u001b[39m`;
    if (bg)
      styled = typeof bg === "string" ? this.bg(bg, styled) : `${backgroundAnsi(bg, this.#mode)}${styled}\u001b[49m`;
    return styled;
  }

  /** The sequence that starts a role's colour. Throws for an unknown role. */
  getFgAnsi(color: ThemeColor): string {
    return known(this.#foregrounds, color);
  }

  /** The sequence that starts a role's background. Throws for an unknown role. */
  getBgAnsi(color: ThemeBg): string {
    return known(this.#backgrounds, color);
  }

  getColorMode(): ColorMode {
    return this.#mode;
  }

  /** What colours the editor's border at a thinking level; an unknown level has that of `off`. */
  getThinkingBorderColor(level: string): (text: string) => string {
    const role = `thinking${level.charAt(0).toUpperCase()}${level.slice(1)}`;
    const color = (this.#foregrounds.has(role) ? role : "thinkingOff") as ThemeColor;
    return (text) => this.fg(color, text);
  }

  getBashModeBorderColor(): (text: string) => string {
    return (text) => this.fg("bashMode", text);
  }

  #start(role: string, ansi: (color: Color, mode: ColorMode) => string, reset: number): string {
    const colour = this.#colours[role];
    if (colour === null || colour === undefined) return `\u001b[${reset}m`;
    return ansi(colourOf(colour), this.#mode);
  }
}

let theme: Theme | undefined;

/** The theme of this process, made when it is first asked for. */
export function defaultTheme(): Theme {
  theme ??= new Theme();
  return theme;
}

function numbers(colours: Readonly<Record<string, Colour | string>>): Record<string, Colour> {
  const entries = Object.entries(colours).map(([role, value]) => {
    if (typeof value !== "string") return [role, value] as const;
    return [role, value === "" ? null : Number.parseInt(value.replace(/^#/, ""), 16)] as const;
  });
  return Object.fromEntries(entries);
}

function known(codes: ReadonlyMap<string, string>, role: string): string {
  const code = codes.get(role);
  if (code === undefined) throw new Error(`Unknown theme color: ${role}`);
  return code;
}
