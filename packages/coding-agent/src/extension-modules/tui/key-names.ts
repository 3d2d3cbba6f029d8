// How keys are named: `modifier+key`, and constants for those who do not want to write strings.

const specials = [
  ...(["escape", "esc", "enter", "return", "tab", "space", "backspace", "delete", "insert", "clear"] as const),
  ...(["home", "end", "pageUp", "pageDown", "up", "down", "left", "right"] as const),
  ...(["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"] as const),
];

const symbols = {
  backtick: "`",
  hyphen: "-",
  equals: "=",
  leftbracket: "[",
  rightbracket: "]",
  backslash: "\\",
  semicolon: ";",
  quote: "'",
  comma: ",",
  period: ".",
  slash: "/",
  exclamation: "!",
  at: "@",
  hash: "#",
  dollar: "$",
  percent: "%",
  caret: "^",
  ampersand: "&",
  asterisk: "*",
  leftparen: "(",
  rightparen: ")",
  underscore: "_",
  plus: "+",
  pipe: "|",
  tilde: "~",
  leftbrace: "{",
  rightbrace: "}",
  colon: ":",
  lessthan: "<",
  greaterthan: ">",
  question: "?",
};

const combinations = {
  ctrl: "ctrl",
  shift: "shift",
  alt: "alt",
  super: "super",
  ctrlShift: "ctrl+shift",
  shiftCtrl: "shift+ctrl",
  ctrlAlt: "ctrl+alt",
  altCtrl: "alt+ctrl",
  shiftAlt: "shift+alt",
  altShift: "alt+shift",
  ctrlSuper: "ctrl+super",
  superCtrl: "super+ctrl",
  shiftSuper: "shift+super",
  superShift: "super+shift",
  altSuper: "alt+super",
  superAlt: "super+alt",
  ctrlShiftAlt: "ctrl+shift+alt",
  ctrlShiftSuper: "ctrl+shift+super",
};

type Modify = (key: string) => string;

/** Names of keys (`Key.escape`, `Key.slash`) and of combinations (`Key.ctrl("c")`, `Key.ctrlShift("p")`). */
export const Key = {
  ...(Object.fromEntries(specials.map((name) => [name, name])) as Record<(typeof specials)[number], string>),
  ...symbols,
  ...(Object.fromEntries(
    Object.entries(combinations).map(([name, prefix]) => [name, (key: string) => `${prefix}+${key}`]),
  ) as Record<keyof typeof combinations, Modify>),
};

/** A key with its modifiers in the one order in which they are compared. */
export function canonicalKey(name: string): string {
  const lower = name.toLowerCase();
  // The key after the last plus sign; a plus sign at the end is the key itself.
  const at = lower.endsWith("+") ? lower.lastIndexOf("+", Math.max(0, lower.length - 2)) : lower.lastIndexOf("+");
  const key = lower.slice(at + 1);
  return keyName(lower.slice(0, Math.max(0, at)).split("+"), aliases[key] ?? key);
}

/** `shift+ctrl+alt+super+key`, with those modifiers that are in the list. */
export function keyName(modifiers: readonly string[], key: string): string {
  return [...["shift", "ctrl", "alt", "super"].filter((modifier) => modifiers.includes(modifier)), key].join("+");
}

const aliases: Readonly<Record<string, string>> = { esc: "escape", return: "enter" };
