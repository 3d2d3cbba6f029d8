import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { readSecretLine } from "../../src/lib/secret-line.js";

class Keyboard extends EventEmitter {
  readonly modes: boolean[] = [];
  isPaused = true;
  setRawMode(isRaw: boolean) {
    this.modes.push(isRaw);
  }
  pause() {
    this.isPaused = true;
  }
  resume() {
    this.isPaused = false;
  }
}

describe("readSecretLine", () => {
  test.each<[string, string[], string | undefined]>([
    ["a line", ["sk-1\r"], "sk-1"],
    ["a line in pieces", ["s", "k-", "1", "\n"], "sk-1"],
    ["corrections", ["ab\x7fc\b\bx😀\x7f", "y\r"], "xy"],
    ["a pasted text", ["\x1b[200~sk-2\x1b[201~", "\r"], "sk-2"],
    ["nothing", ["\r"], ""],
    ["Ctrl-C", ["sk", "\x03"], undefined],
    ["Ctrl-D in front", ["\x04"], undefined],
    ["Ctrl-D behind something", ["sk\x04\r"], "sk"],
  ])("%s", async (_, pieces, expected) => {
    const keyboard = new Keyboard();
    const line = readSecretLine(keyboard);
    // Hidden from the first letter on.
    expect([keyboard.modes, keyboard.isPaused]).toEqual([[true], false]);
    for (const piece of pieces) keyboard.emit("data", Buffer.from(piece));
    expect(await line).toBe(expected);
    expect([keyboard.modes, keyboard.isPaused, keyboard.listenerCount("data")]).toEqual([[true, false], true, 0]);
  });
});
