// Keeps the end of a program's output for the model, and the whole of it in a log once it is too long.

import { OutputLog } from "./output-log.js";
import { countLineFeeds, defaultMaxBytes, defaultMaxLines, type TruncationResult, truncateTail } from "./truncate.js";

/** Pieces below this many characters are joined, so that byte-wise output makes no list of thousands. */
const smallPiece = 4096;

/** Takes clean text piece by piece; costs the same for each byte however much there is. */
export class OutputCapture {
  readonly #folder: string | undefined;
  #pieces: { text: string; bytes: number }[] = [];
  #keptBytes = 0;
  #totalBytes = 0;
  #lineFeeds = 0;
  #endsWithLineFeed = true;
  #log: OutputLog | undefined;
  #logWanted = false;

  /** `folder` is where the log goes: the system's folder for temporary files unless given. */
  constructor(folder?: string) {
    this.#folder = folder;
  }

  /** Adds text, with its UTF-8 bytes when they are at hand; a promise tells when the log has caught up with it. */
  add(text: string, encoded?: Uint8Array): Promise<void> | undefined {
    if (text === "") return undefined;
    const bytes = encoded?.length ?? Buffer.byteLength(text);
    this.#totalBytes += bytes;
    this.#lineFeeds += countLineFeeds(text);
    this.#endsWithLineFeed = text.endsWith("\n");
    this.#keptBytes += bytes;
    const last = this.#pieces.at(-1);
    if (last && last.text.length < smallPiece) {
      last.text += text;
      last.bytes += bytes;
    } else {
      this.#pieces.push({ text, bytes });
    }
    const written = this.#logWanted ? this.#log?.write(encoded ?? text, bytes) : this.#startLog();
    // What is dropped leaves more than the limit behind, so that a line cut here never counts as a whole one.
    while (this.#keptBytes - this.#pieces[0]!.bytes > defaultMaxBytes) this.#keptBytes -= this.#pieces.shift()!.bytes;
    return written;
  }

  /** The output as it is shown: all of it, or its end. */
  snapshot(): TruncationResult {
    const totalLines = this.#totalLines();
    const text = this.#pieces.map((piece) => piece.text).join("");
    return { ...truncateTail(text), totalLines, totalBytes: this.#totalBytes };
  }

  /** Where the whole output is; undefined until it is truncated, and when no log could be made. */
  get logPath(): string | undefined {
    return this.#log?.path;
  }

  /** Whether the log has everything so far; false above 200 MB. */
  get logIsComplete(): boolean {
    return this.#log?.isComplete ?? false;
  }

  /** Completes and closes the log. */
  async end(): Promise<void> {
    if (this.#log && !(await this.#log.end())) this.#log = undefined;
  }

  #totalLines(): number {
    return this.#lineFeeds + (this.#endsWithLineFeed ? 0 : 1);
  }

  #startLog(): Promise<void> | undefined {
    if (this.#totalBytes <= defaultMaxBytes && this.#totalLines() <= defaultMaxLines) return undefined;
    this.#logWanted = true;
    try {
      this.#log = new OutputLog(this.#folder);
    } catch {
      return undefined; // no room for a log: the end of the output is shown all the same
    }
    let written: Promise<void> | undefined;
    for (const piece of this.#pieces) written = this.#log.write(piece.text, piece.bytes);
    return written;
  }
}
