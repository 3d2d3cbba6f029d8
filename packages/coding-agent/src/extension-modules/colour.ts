// Concrete colours: how they are written, mixed, and said to a terminal.

/** A colour of red, green and blue, 0 to 255 each, or an index of the terminal's palette of 256. */
export type Color = { kind: "rgb"; r: number; g: number; b: number } | { kind: "indexed"; index: number };
export type ColorMode = "truecolor" | "256color";

export function rgbColor(r: number, g: number, b: number): Color {
  return { kind: "rgb", r: byte(r), g: byte(g), b: byte(b) };
}

/** A colour of the palette, 0 to 255. */
export function indexedColor(index: number): Color {
  return { kind: "indexed", index: byte(index) };
}

/** Reads `#rgb`, `#rrggbb` or a number of the palette. Throws for anything else. */
export function parseColor(value: string | number): Color {
  if (typeof value === "number") return indexedColor(value);
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value.trim())?.[1];
  if (!digits) throw new Error(`Cannot read color "${value}": it is no #rgb, #rrggbb or palette number`);
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
  return colourOf(Number.parseInt(long, 16));
}

/** The colour of a number `0xrrggbb`. */
export function colourOf(number: number): Color {
  return rgbColor(number >> 16, (number >> 8) & 0xff, number & 0xff);
}

export function colorToRgb(color: Color): { r: number; g: number; b: number } {
  if (color.kind === "rgb") return { r: color.r, g: color.g, b: color.b };
  const { index } = color;
  if (index < 16) return basicColours[index] as { r: number; g: number; b: number };
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return { r: grey, g: grey, b: grey };
  }
  const step = (place: number) => cubeSteps[Math.floor((index - 16) / place) % 6] as number;
  return { r: step(36), g: step(6), b: step(1) };
}

/** `#rrggbb`. */
export function colorToHex(color: Color): string {
  const { r, g, b } = colorToRgb(color);
  return `#${[r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** A colour between two: 0 is the first, 1 the second. */
export function mixColors(a: Color, b: Color, amount = 0.5): Color {
  const [from, to] = [colorToRgb(a), colorToRgb(b)];
  const between = (x: number, y: number) => x + (y - x) * amount;
  return rgbColor(between(from.r, to.r), between(from.g, to.g), between(from.b, to.b));
}

/** True colour when the environment says the terminal has it, else the palette of 256. */
export function getTerminalColorMode(env: Record<string, string | undefined> = process.env): ColorMode {
  return /^(truecolor|24bit)$/i.test(env.COLORTERM ?? "") ? "truecolor" : "256color";
}

/** The escape sequence that starts the colour for text. */
export function foregroundAnsi(color: Color, mode: ColorMode = getTerminalColorMode()): string {
  return `\u001b[38;${selector(color, mode)}m`;
}

/** The escape sequence that starts the colour behind text. */
export function backgroundAnsi(color: Color, mode: ColorMode = getTerminalColorMode()): string {
  return `\u001b[48;${selector(color, mode)}m`;
}

function selector(color: Color, mode: ColorMode): string {
  if (color.kind === "indexed") return `5;${color.index}`;
  if (mode === "truecolor") return `2;${color.r};${color.g};${color.b}`;
  return `5;${nearestIndex(color)}`;
}

/** The nearest of the colour cube and the greys; the first 16 are the user's to change. */
function nearestIndex(color: { r: number; g: number; b: number }): number {
  let best = 16;
  let least = Number.POSITIVE_INFINITY;
  for (let index = 16; index < 256; index += 1) {
    const other = colorToRgb({ kind: "indexed", index });
    const distance = (other.r - color.r) ** 2 + (other.g - color.g) ** 2 + (other.b - color.b) ** 2;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

const cubeSteps = [0, 95, 135, 175, 215, 255];

const basicColours = [
  0x000000, 0x800000, 0x008000, 0x808000, 0x000080, 0x800080, 0x008080, 0xc0c0c0, 0x808080, 0xff0000, 0x00ff00,
  0xffff00, 0x0000ff, 0xff00ff, 0x00ffff, 0xffffff,
].map((number) => ({ r: number >> 16, g: (number >> 8) & 0xff, b: number & 0xff }));

function byte(value: number): number {
  return Math.max(0, Math.min(255, Math.round(value)));
}
