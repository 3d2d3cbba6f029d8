// What a terminal sends → the key that was pressed: old sequences, xterm's modified ones, and Kitty's keyboard protocol.

import { canonicalKey, keyName } from "./key-names.js";

/**
 * Whether `data` is the key, written as `ctrl+shift+x`. Several keys send the same in old terminals (Enter and ctrl+j,
 * Tab and ctrl+i): all of them match.
 */
export function matchesKey(data: string, key: string): boolean {
  const wanted = canonicalKey(key);
  return keysOf(data).some((name) => canonicalKey(name) === wanted);
}

/** The name of the key that `data` is; undefined for text of more than one character and for unknown sequences. */
export function parseKey(data: string): string | undefined {
  return /^[!-~]$/.test(data) ? data : keysOf(data)[0];
}

/** Whether the data says that a key was let go (Kitty's protocol only). Pasted text never does. */
export function isKeyRelease(data: string): boolean {
  return eventType(data) === 3;
}

/** Whether the data says that a key is being held (Kitty's protocol only). */
export function isKeyRepeat(data: string): boolean {
  return eventType(data) === 2;
}

/** The character a sequence of Kitty's protocol types; undefined when it types none. */
export function decodeKittyPrintable(data: string): string | undefined {
  const key = kitty.exec(data);
  if (!key) return undefined;
  const bits = modifierBits(key[4]);
  if (bits & ~shiftBit) return undefined;
  const code = bits & shiftBit && key[2] ? Number(key[2]) : Number(key[1]);
  const pad = keypad[code];
  if (pad !== undefined) return pad.length === 1 ? pad : undefined;
  if (code < 32 || code === 127 || (code >= 57344 && code <= 63743)) return undefined;
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** `ESC [ code : shifted : base ; modifiers : event ; text u`. */
const kitty = /^\u001b\[(\d+)(?::(\d*))?(?::(\d+))?(?:;(\d*)(?::(\d+))?)?(?:;[\d:]*)?u$/;
/** `ESC [ number ; modifiers : event letter`, and the same with `~`. */
const modified = /^\u001b\[(\d*)(?:;(\d*)(?::(\d+))?)?([A-HPQRSZ~])$/;
const otherKeys = /^\u001b\[27;(\d+);(\d+)~$/;

const shiftBit = 1;
const modifierNames = ["shift", "alt", "ctrl", "super"];

/** The keys that send `data`, the most likely first. */
function keysOf(data: string): string[] {
  const fixed = fixedKeys[data];
  if (fixed) return fixed;
  if (data.length === 1) return characterKeys(data);
  const other = otherKeys.exec(data);
  if (other) return codeKeys(Number(other[2]), modifierBits(other[1]));
  const key = kitty.exec(data);
  if (key) {
    // The key's place on a Latin keyboard counts where its own character is of another alphabet.
    const code = Number(key[1]) > 126 && key[3] ? Number(key[3]) : Number(key[1]);
    return codeKeys(code, modifierBits(key[4]), key[2] ? Number(key[2]) : undefined);
  }
  const sequence = modified.exec(data);
  if (sequence) {
    const [, number, modifiers, , final] = sequence;
    const name = final === "~" ? tildeKeys[Number(number)] : letterKeys[final as string];
    return name ? [withModifiers(name, modifierBits(modifiers))] : [];
  }
  const character = data.length === 2 && data[0] === "\u001b" ? (data[1] as string) : "";
  if (character === "" || /[A-Z]/.test(character)) return [];
  return (fixedKeys[character] ?? characterKeys(character)).map((name) => withModifiers(name, 2));
}

/** Keys of one character as it is typed. */
function characterKeys(character: string): string[] {
  if (/^[A-Z]$/.test(character)) return [`shift+${character.toLowerCase()}`];
  if (/^[!-~]$/.test(character)) return [character];
  const code = character.charCodeAt(0);
  return code >= 1 && code <= 26 ? [`ctrl+${String.fromCharCode(code + 96)}`] : [];
}

function codeKeys(code: number, bits: number, shifted?: number): string[] {
  const special = codeNames[code] ?? keypad[code];
  if (special) return [withModifiers(special, bits)];
  if (code < 33 || code > 0x10ffff || (code >= 57344 && code <= 63743)) return [];
  const names = [withModifiers(String.fromCodePoint(code).toLowerCase(), bits)];
  // shift+1 is also the key `!`.
  if (bits & shiftBit && shifted) names.push(withModifiers(String.fromCodePoint(shifted), bits & ~shiftBit));
  return names;
}

function withModifiers(name: string, bits: number): string {
  if (bits === 0) return name;
  const own = name.split("+").slice(0, -1);
  const key = name.endsWith("+") ? "+" : (name.split("+").at(-1) as string);
  return keyName([...own, ...modifierNames.filter((_, index) => bits & (1 << index))], key);
}

/** Locks (caps, num) are no modifiers of a key. */
function modifierBits(parameter: string | undefined): number {
  return Math.max(0, Number(parameter || 1) - 1) & 0b1111;
}

function eventType(data: string): number {
  if (data.startsWith("\u001b[200~")) return 1;
  const found = kitty.exec(data)?.[5] ?? modified.exec(data)?.[3];
  return found === undefined ? 1 : Number(found);
}

const letterKeys: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "clear",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  Z: "shift+tab",
};

const tildeKeys: Readonly<Record<number, string>> = {
  ...{ 1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageUp", 6: "pageDown", 7: "home", 8: "end" },
  ...{ 11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9", 21: "f10" },
  ...{ 23: "f11", 24: "f12" },
};

const codeNames: Readonly<Record<number, string>> = {
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
};

/** The number pad in Kitty's protocol. */
const keypad: Readonly<Record<number, string>> = Object.fromEntries([
  ..."0123456789./*-+".split("").map((character, index) => [57399 + index, character] as const),
  [57414, "enter"],
  [57415, "="],
  ...["left", "right", "up", "down", "pageUp", "pageDown", "home", "end", "insert", "delete", "clear"].map(
    (name, index) => [57417 + index, name] as const,
  ),
]);

/** Sequences that are always the same; rxvt's modified arrows among them. */
const fixedKeys: Readonly<Record<string, string[]>> = {
  "\u001b": ["escape", "ctrl+["],
  "\r": ["enter", "ctrl+m"],
  "\n": ["enter", "ctrl+j"],
  "\t": ["tab", "ctrl+i"],
  " ": ["space"],
  "\u007f": ["backspace"],
  "\b": ["backspace", "ctrl+h"],
  "\u0000": ["ctrl+space", "ctrl+@"],
  "\u001c": ["ctrl+\\"],
  "\u001d": ["ctrl+]"],
  "\u001e": ["ctrl+^"],
  "\u001f": ["ctrl+-", "ctrl+_"],
  "\u001bb": ["alt+left", "alt+b"],
  "\u001bf": ["alt+right", "alt+f"],
  "\u001b\u001b": ["ctrl+alt+[", "alt+escape"],
  "\u001bOM": ["enter"],
  ...Object.fromEntries(
    Object.entries(letterKeys)
      .filter(([letter]) => letter !== "Z")
      .map(([letter, name]) => [`\u001bO${letter}`, [name]] as const),
  ),
  ...Object.fromEntries(
    ["up", "down", "right", "left"].flatMap((name, index) => {
      const letter = "abcd"[index];
      return [
        [`\u001b[${letter}`, [`shift+${name}`]],
        [`\u001bO${letter}`, [`ctrl+${name}`]],
      ];
    }),
  ),
};
