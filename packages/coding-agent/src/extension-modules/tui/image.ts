// Images in a terminal, as far as they make sense without one: what it can do, their size, and words in their place.

import { imageSize } from "../../lib/image.js";
import type { Component } from "./component.js";
import { truncateToWidth } from "./width.js";

/** What a terminal can do; `images` names a protocol, null when it has none. */
export interface TerminalCapabilities {
  images: "kitty" | "iterm2" | null;
  trueColor: boolean;
  hyperlinks: boolean;
}

export interface ImageDimensions {
  widthPx: number;
  heightPx: number;
}

const none: TerminalCapabilities = { images: null, trueColor: false, hyperlinks: false };
let capabilities: TerminalCapabilities = none;
let cell: ImageDimensions = { widthPx: 9, heightPx: 18 };
let lastImageId = 0;

/** What the terminal can do: nothing, unless somebody said otherwise, because there is none. */
export function getCapabilities(): TerminalCapabilities {
  return capabilities;
}

export function detectCapabilities(): TerminalCapabilities {
  return { ...none };
}

export function setCapabilities(changed: Partial<TerminalCapabilities>): void {
  capabilities = { ...none, ...changed };
}

export function resetCapabilitiesCache(): void {
  capabilities = none;
}

/** Pixels of one character cell. */
export function getCellDimensions(): ImageDimensions {
  return cell;
}

export function setCellDimensions(dimensions: ImageDimensions): void {
  cell = dimensions;
}

/** A number for an image that no other image of this process has. */
export function allocateImageId(): number {
  lastImageId += 1;
  return lastImageId;
}

/** The sequence of Kitty's protocol that removes one image. */
export function deleteKittyImage(id: number): string {
  return `\u001b_Ga=d,d=I,i=${id},q=2\u001b\\`;
}

/** The sequence of Kitty's protocol that removes all images. */
export function deleteAllKittyImages(): string {
  return "\u001b_Ga=d,d=A,q=2\u001b\\";
}

/** Text that is a link where the terminal knows links (OSC 8). */
export function hyperlink(text: string, url: string): string {
  return `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\`;
}

/** The size of an image given as base64; null when it is no PNG, JPEG, GIF or WebP. */
export function getImageDimensions(data: string, _mimeType?: string): ImageDimensions | null {
  const size = imageSize(Buffer.from(data, "base64"));
  return size ? { widthPx: size.width, heightPx: size.height } : null;
}

/** Lines that an image takes when it is so many columns wide. */
export function calculateImageRows(image: ImageDimensions, columns: number, of: ImageDimensions = cell): number {
  const pixels = (columns * of.widthPx * image.heightPx) / Math.max(1, image.widthPx);
  return Math.max(1, Math.ceil(pixels / of.heightPx));
}

/** Words in place of an image. */
export function imageFallback(mimeType: string, dimensions?: ImageDimensions, filename?: string): string {
  const size = dimensions ? [`${dimensions.widthPx}x${dimensions.heightPx}`] : [];
  return `[Image: ${[...(filename ? [filename] : []), `[${mimeType}]`, ...size].join(" ")}]`;
}

/** Null: no terminal here shows images. */
export function renderImage(..._image: unknown[]): null {
  return null;
}

export interface ImageTheme {
  fallbackColor?: (text: string) => string;
}

export interface ImageOptions {
  maxWidthCells?: number;
  maxHeightCells?: number;
  filename?: string;
  imageId?: number;
}

/** An image, shown as words. `data` is base64. */
export class Image implements Component {
  readonly #words: string;
  readonly #theme: ImageTheme;
  readonly #imageId: number | undefined;

  constructor(
    data: string,
    mimeType: string,
    theme: ImageTheme = {},
    options: ImageOptions = {},
    dimensions?: ImageDimensions,
  ) {
    const size = dimensions ?? getImageDimensions(data, mimeType) ?? undefined;
    this.#words = imageFallback(mimeType, size, options.filename);
    this.#theme = theme;
    this.#imageId = options.imageId;
  }

  getImageId(): number | undefined {
    return this.#imageId;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const words = truncateToWidth(this.#words, width);
    return [this.#theme.fallbackColor?.(words) ?? words];
  }
}
