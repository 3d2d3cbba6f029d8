// Turns the bytes a program prints into plain text: valid UTF-8 without ANSI codes, carriage returns and control characters.

import { isAscii } from "node:buffer";

/**
 * Cleans output piece by piece. Characters and escape sequences cut by a piece's edge are put together again, so cleaning
 * in pieces gives the same text as cleaning the whole. Tab and LF stay; invalid bytes become U+FFFD.
 */
export class OutputCleaner {
  // Streaming: the bytes of a character that is not complete are kept for the next piece.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #decoderIsEmpty = true;
  #held = "";
  #isUnchanged = false;

  /** Whether the text of the last piece is its bytes one for one, so that they need not be encoded again. */
  get isUnchanged(): boolean {
    return this.#isUnchanged;
  }

  /** The clean text of the next bytes, as far as it is known. */
  write(bytes: Uint8Array): string {
    return this.#clean(this.#decode(bytes), false);
  }

  /** The clean text that was still held back. */
  end(): string {
    this.#isUnchanged = false;
    return this.#clean(this.#decoder.decode(), true);
  }

  // Plain ASCII, the usual case, is copied about ten times as fast as it is decoded.
  #decode(bytes: Uint8Array): string {
    const isPlain = this.#decoderIsEmpty && isAscii(bytes);
    this.#isUnchanged = isPlain && this.#held === "";
    if (isPlain) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    const text = this.#decoder.decode(bytes, { stream: true });
    // A piece that ends in ASCII leaves nothing behind in the decoder.
    this.#decoderIsEmpty = bytes.length === 0 ? this.#decoderIsEmpty : bytes[bytes.length - 1]! < 0x80;
    return text;
  }

  #clean(piece: string, last: boolean): string {
    let text = this.#held + piece;
    this.#held = "";
    if (!unwanted.test(text)) return text;
    this.#isUnchanged = false;
    const cut = startOfOpenSequence(text);
    if (cut >= 0) {
      if (!last) this.#held = text.slice(cut);
      // Nobody will end it now: a colour code is dropped, of an open string only the introducer.
      const open = text.slice(cut);
      text = text.slice(0, cut) + (last && stringIntroducer.test(open) ? open.slice(2) : "");
    }
    return cleanWhole(text);
  }
}

/** Control characters other than tab and LF (C0, DEL, C1). */
const unwanted = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const allUnwanted = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * The escape sequences of ECMA-48: control sequences (CSI), control strings ended by BEL or ST, and the short ones.
 * Not node:util's stripVTControlCharacters: it leaves parts of sequences with a space (`ESC [ 2 SP q`) and of strings ended
 * by ST, and what it knows differs between Node versions.
 */
const escapeSequence =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;

/** Sequences to which only the end is missing. */
const openSequence = /^(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[\]PX^_][^\x07\x1b\x9c]*\x1b?|\x1b[ -/]*)$/;
const stringIntroducer = /^\x1b[\]PX^_]/;

/** A longer sequence is not waited for: what looks like its start was binary data. */
const longestSequence = 4096;

function cleanWhole(text: string): string {
  const plain = text.includes("\x1b") || text.includes("\x9b") ? text.replace(escapeSequence, "") : text;
  return plain.replace(allUnwanted, "");
}

/** Where a sequence starts that the text's end leaves open; -1 when there is none. */
function startOfOpenSequence(text: string): number {
  const from = Math.max(0, text.length - longestSequence);
  const tail = text.slice(from);
  for (const match of tail.matchAll(/[\x1b\x9b]/g))
    if (openSequence.test(tail.slice(match.index))) return from + match.index;
  return -1;
}
