// Keys: what terminals send, old and new, and which key that is.

import { describe, expect, it } from "vitest";
import { Key } from "../../../src/extension-modules/tui/key-names.js";
import { KeybindingsManager } from "../../../src/extension-modules/tui/keybindings.js";
import {
  decodeKittyPrintable,
  isKeyRelease,
  isKeyRepeat,
  matchesKey,
  parseKey,
} from "../../../src/extension-modules/tui/keys.js";

describe("matchesKey", () => {
  it.each([
    ["\u0003", "ctrl+c"],
    ["\u001b", "escape"],
    ["\u001b", "esc"],
    ["\u001b[A", "up"],
    ["\u001bOA", "up"],
    ["\u001b[1;5A", "ctrl+up"],
    ["\u001b[1;3D", "alt+left"],
    ["\u001b[1;9A", "super+up"],
    ["\u001b[a", "shift+up"],
    ["\u001bOa", "ctrl+up"],
    ["\r", "enter"],
    ["\r", "return"],
    ["\n", "enter"],
    ["\n", "ctrl+j"],
    ["\u001b\r", "alt+enter"],
    ["\u001b[13;2u", "shift+enter"],
    ["\u001b[27;2;13~", "shift+enter"],
    ["\u001b[97;5u", "ctrl+a"],
    ["\u001b[97;5:3u", "ctrl+a"],
    ["\u001b[97;6u", "ctrl+shift+a"],
    ["\u001b[27;5;99~", "ctrl+c"],
    ["\u001b[1089::99;5u", "ctrl+c"],
    ["\u001b[99;9u", "super+c"],
    ["\t", "tab"],
    ["\u001b[Z", "shift+tab"],
    ["\u007f", "backspace"],
    ["\b", "backspace"],
    ["\b", "ctrl+h"],
    ["\u001bb", "alt+b"],
    ["\u001bb", "alt+left"],
    ["\u001b\u007f", "alt+backspace"],
    [" ", "space"],
    ["\u0000", "ctrl+space"],
    ["a", "a"],
    ["A", "shift+a"],
    ["?", "?"],
    ["+", "+"],
    ["\u001b[43;5u", "ctrl++"],
    ["\u001b[49:33;2u", "!"],
    ["\u001b[49:33;2u", "shift+1"],
    ["\u001b[3~", "delete"],
    ["\u001b[3;5~", "ctrl+delete"],
    ["\u001b[2~", "insert"],
    ["\u001b[5~", "pageUp"],
    ["\u001b[H", "home"],
    ["\u001b[E", "clear"],
    ["\u001bOP", "f1"],
    ["\u001b[15~", "f5"],
    ["\u001c", "ctrl+\\"],
    ["\u001d", "ctrl+]"],
    ["\u001f", "ctrl+-"],
    ["\u001f", "ctrl+_"],
    ["\u001b[57414u", "enter"],
    ["\u001b[57417u", "left"],
    ["\u001bOM", "enter"],
  ])("finds in %j the key %s", (data, key) => {
    expect(matchesKey(data, key)).toBe(true);
  });

  it.each([
    ["\n", "shift+enter"],
    ["\u001b\r", "shift+enter"],
    ["A", "a"],
    ["a", "ctrl+a"],
    ["\b", "ctrl+backspace"],
    ["\u001b[A", "ctrl+up"],
    ["abc", "a"],
    ["", "escape"],
    ["\u001b[200~", "escape"],
  ])("does not find in %j the key %s", (data, key) => {
    expect(matchesKey(data, key)).toBe(false);
  });

  it("takes the names of Key", () => {
    expect(matchesKey("\u0003", Key.ctrl("c"))).toBe(true);
    expect(matchesKey("\u001b[112;6u", Key.ctrlShift("p"))).toBe(true);
    expect(matchesKey("\u001b[6~", Key.pageDown)).toBe(true);
    expect([Key.slash, Key.esc, Key.shiftAlt("x")]).toEqual(["/", "esc", "shift+alt+x"]);
  });
});

describe("parseKey", () => {
  it.each([
    ["\u0003", "ctrl+c"],
    ["\u001b[97;6u", "shift+ctrl+a"],
    ["A", "A"],
    [" ", "space"],
    ["\u001bb", "alt+left"],
    ["\u001b1", "alt+1"],
    ["\u001b[Z", "shift+tab"],
    ["\u001b[57399u", "0"],
    ["é", undefined],
    ["abc", undefined],
    ["", undefined],
    ["\u001b[200~", undefined],
  ])("names %j %s", (data, key) => {
    expect(parseKey(data)).toBe(key);
  });
});

describe("isKeyRelease and isKeyRepeat", () => {
  it.each([
    ["\u001b[97;1:3u", true, false],
    ["\u001b[97;1:2u", false, true],
    ["\u001b[1;1:3A", true, false],
    ["\u001b[3;1:2~", false, true],
    ["a", false, false],
    ["\u001b[200~:3u", false, false],
  ])("see in %j a release: %s, a repeat: %s", (data, release, repeat) => {
    expect([isKeyRelease(data), isKeyRepeat(data)]).toEqual([release, repeat]);
  });
});

describe("decodeKittyPrintable", () => {
  it.each([
    ["\u001b[97u", "a"],
    ["\u001b[97;2u", "a"],
    ["\u001b[97:65;2u", "A"],
    ["\u001b[57399u", "0"],
    ["\u001b[57410u", "/"],
    ["\u001b[97;5u", undefined],
    ["\u001b[13u", undefined],
    ["\u001b[57414u", undefined],
    ["a", undefined],
  ])("reads %j as %s", (data, character) => {
    expect(decodeKittyPrintable(data)).toBe(character);
  });
});

describe("KeybindingsManager", () => {
  it("replaces the keys of an action by those chosen, and finds keys with two actions", () => {
    const keys = new KeybindingsManager(undefined, { "tui.select.up": ["k", "up"], "tui.select.down": "k" });
    expect(keys.getKeys("tui.select.up")).toEqual(["k", "up"]);
    expect(keys.matches("k", "tui.select.down")).toBe(true);
    expect(keys.matches("\u001b[B", "tui.select.down")).toBe(false);
    expect(keys.matches("\r", "tui.select.confirm")).toBe(true);
    expect(keys.matches("x", "nobody.knows.it")).toBe(false);
    expect(keys.getConflicts()).toEqual([{ key: "k", keybindings: ["tui.select.up", "tui.select.down"] }]);
    expect(keys.getResolvedBindings()["tui.editor.undo"]).toEqual(["ctrl+-"]);
  });
});
