// The flag table of the command line; parsing and --help come from it.

import { parseArgs as tokenize } from "node:util";
import { modeNames } from "./modes/index.js";

interface Flag {
  /** What `--help` says; absent for options that are only accepted. */
  does?: string;
  /** Short forms without the dash; those of several letters are ours, not bundles. */
  short?: string;
  /** Name of the value, for options that take one. */
  value?: string;
  repeatable?: boolean;
  /** The value may be left out. */
  optionalValue?: boolean;
}

/** An option that an extension brings. */
export interface ExtensionFlag {
  type: "boolean" | "string";
  description?: string;
}

/** Every option by its long name. */
export const flags = {
  mode: { value: "mode", does: "What is written to stdout: text (default), json or rpc" },
  print: { short: "p", does: "Run the prompts, print the last answer, and exit" },
  provider: { value: "name", does: "Provider to look for --model in" },
  model: { value: "pattern", does: 'Model id or pattern; "provider/id" and ":thinking" may be part of it' },
  "api-key": { value: "key", does: "Key for the chosen model's provider, for this process" },
  models: { value: "patterns", does: "Models to cycle through, separated by commas; * matches anything" },
  thinking: { value: "level", does: "off, minimal, low, medium, high, xhigh or max" },
  "list-models": { value: "search", optionalValue: true, does: "List models with credentials, and exit" },
  continue: { short: "c", does: "Continue the latest session of this directory" },
  session: { value: "path|id", does: "Open a session by file or by the beginning of its id" },
  "session-id": { value: "id", does: "Open this directory's session with the id, or start one" },
  "session-dir": { value: "dir", does: "Where sessions are stored and looked for" },
  "no-session": { does: "Keep the session in memory only" },
  name: { short: "n", value: "name", does: "Display name of the session" },
  resume: { short: "r", does: "Choose a session of this directory from a list" },
  fork: { value: "path|id", does: "Copy a session into a new one of this directory" },
  export: { value: "file", does: "Write a session file as an HTML page, named by the argument that follows, and exit" },
  tools: {
    short: "t",
    value: "list",
    does: "Tools to offer, or +name and -name to change the default ones; * matches",
  },
  "exclude-tools": { short: "xt", value: "list", does: "Tools to leave out after all other choices" },
  "no-tools": { short: "nt", does: "Offer no tools" },
  "no-builtin-tools": { short: "nbt", does: "Offer none of the built-in tools" },
  "system-prompt": { value: "text|file", does: "Replace the system prompt" },
  "append-system-prompt": { value: "text|file", repeatable: true, does: "Add to the system prompt" },
  "no-context-files": { short: "nc", does: "Leave out AGENTS.md and CLAUDE.md" },
  extension: {
    short: "e",
    value: "source",
    repeatable: true,
    does: "Load an extension: a file, a directory or a package",
  },
  "no-extensions": { short: "ne", does: "Load no extensions but those of --extension" },
  skill: { value: "path", repeatable: true, does: "Offer a skill: a file or a directory" },
  "no-skills": { short: "ns", does: "Offer no skills but those of --skill" },
  "prompt-template": { value: "path", repeatable: true, does: "Offer a prompt template: a file or a directory" },
  "no-prompt-templates": { short: "np", does: "Offer no prompt templates but those of --prompt-template" },
  approve: { short: "a", does: "Trust this project's settings and resources for this run" },
  "no-approve": { short: "na", does: "Do not use this project's settings and resources" },
  offline: { does: "Install no missing packages at the start; models are still called" },
  help: { short: "h", does: "Show this help, and exit" },
  version: { short: "v", does: "Show the version, and exit" },
  // Options of terminal interfaces that hosts pass along.
  "no-themes": {},
  theme: { value: "path", repeatable: true },
  "use-theme": { value: "name" },
  "tui-mode": { value: "mode" },
  "no-mcp": {},
  verbose: {},
} satisfies Record<string, Flag>;
export type FlagName = keyof typeof flags;

/** The command line taken apart. `values` has what was given, by long name. */
export interface ParsedArgs {
  values: Partial<Record<FlagName, string | true>>;
  lists: Partial<Record<FlagName, string[]>>;
  /** `@file` arguments, without the @. */
  files: string[];
  messages: string[];
  /** What extensions' options were set to, by name. */
  extensionFlags: Map<string, boolean | string>;
  /** Options that are not known, unless an extension brings them. */
  unknown: string[];
  /** Why the command line cannot be used; empty when it can. */
  errors: string[];
}

const table: Record<string, Flag> = flags;

/**
 * Options end at `--`; what comes after it is a message even when it begins with a dash. `brought` are the options of
 * extensions; ours win over those of the same name.
 */
export function parseCommandLine(
  argv: readonly string[],
  brought: ReadonlyMap<string, ExtensionFlag> = new Map(),
): ParsedArgs {
  const parsed: ParsedArgs = {
    values: {},
    lists: {},
    files: [],
    messages: [],
    extensionFlags: new Map(),
    unknown: [],
    errors: [],
  };
  const args = expandShortForms(argv, brought);
  const { tokens } = tokenize({
    args,
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries([
      ...[...brought].map(([name, { type }]) => [name, { type }] as const),
      ...Object.entries(table).map(
        ([name, { value, optionalValue }]) =>
          [name, { type: value && !optionalValue ? ("string" as const) : ("boolean" as const) }] as const,
      ),
    ]),
  });
  let ended = false;
  let takesOptional: FlagName | undefined;
  for (const token of tokens) {
    if (token.kind === "option-terminator") ended = true;
    else if (token.kind === "positional") {
      if (takesOptional && !ended && !token.value.startsWith("@")) parsed.values[takesOptional] = token.value;
      else if (!ended && token.value.startsWith("@") && token.value.length > 1) parsed.files.push(token.value.slice(1));
      else parsed.messages.push(token.value);
      takesOptional = undefined;
    } else {
      const ofExtension = ownFlag(token.name) ? undefined : brought.get(token.name);
      if (ofExtension) takeBrought(parsed, token, ofExtension);
      else takesOptional = takeOption(parsed, token, args[token.index] as string);
    }
  }
  check(parsed);
  return parsed;
}

function takeBrought(
  { extensionFlags, errors }: ParsedArgs,
  { name, rawName, value }: { name: string; rawName: string; value?: string | undefined },
  { type }: ExtensionFlag,
): void {
  if (type === "string" && value === undefined) errors.push(`${rawName} needs a value`);
  else if (type === "boolean" && value !== undefined) errors.push(`${rawName} takes no value`);
  else extensionFlags.set(name, value ?? true);
}

function takeOption(
  { values, lists, errors, unknown }: ParsedArgs,
  { name, rawName, value }: { name: string; rawName: string; value?: string | undefined },
  arg: string,
): FlagName | undefined {
  const flag = ownFlag(name);
  if (!flag) {
    // A bundle of letters is one unknown option.
    const name = arg.startsWith("--") ? rawName : arg;
    if (unknown.at(-1) !== name) unknown.push(name);
  } else if (flag.value && !flag.optionalValue && value === undefined) errors.push(`${rawName} needs a value`);
  else if (!flag.value && value !== undefined) errors.push(`${rawName} takes no value`);
  else if (flag.repeatable) {
    lists[name as FlagName] ??= [];
    lists[name as FlagName]?.push(value ?? "");
  } else {
    values[name as FlagName] = value ?? true;
    if (flag.optionalValue && value === undefined) return name as FlagName;
  }
  return undefined;
}

/**
 * `-nt` → `--no-tools`: short forms of several letters would otherwise be read as bundles of one-letter options. The value
 * of an option stays as it is.
 */
function expandShortForms(argv: readonly string[], brought: ReadonlyMap<string, ExtensionFlag>): string[] {
  const long = new Map(
    Object.entries(table).flatMap(([name, { short }]) => (short ? [[`-${short}`, `--${name}`]] : [])),
  );
  const args: string[] = [];
  let ended = false;
  let isValue = false;
  for (const given of argv) {
    const arg: string = ended || isValue ? given : (long.get(given) ?? given);
    ended ||= !isValue && arg === "--";
    const flag: Flag | undefined = !ended && !isValue && arg.startsWith("--") ? ownFlag(arg.slice(2)) : undefined;
    const isBrought: boolean = !flag && !ended && !isValue && brought.get(arg.replace(/^--/, ""))?.type === "string";
    isValue = (flag?.value !== undefined && !flag.optionalValue) || isBrought;
    args.push(arg);
  }
  return args;
}

function ownFlag(name: string): Flag | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function check({ values, files, errors }: ParsedArgs): void {
  const { mode } = values;
  if (mode !== undefined && !modeNames.includes(String(mode)))
    errors.push(`Unknown mode "${mode}": use ${modeNames.join(", ")}`);
  if (mode === "rpc" && files.length > 0)
    errors.push("RPC mode takes no @file arguments; send images and texts in prompts");
  const chosen = (["fork", "session", "resume", "continue", "no-session"] as const).filter((name) => values[name]);
  const [first, second] = chosen;
  if (first && second) errors.push(`--${first} and --${second} cannot be combined`);
  // The id names the new session of --fork and --no-session; the others open one that has an id.
  else if (first && values["session-id"] && first !== "fork" && first !== "no-session")
    errors.push(`--${first} and --session-id cannot be combined`);
}

/** The text of `--help`. */
export function helpText(): string {
  const lines = Object.entries(table)
    .filter(([, { does }]) => does)
    .map(([name, { short, value, optionalValue, does }]) => {
      const argument = value ? (optionalValue ? ` [${value}]` : ` <${value}>`) : "";
      return { left: `--${name}${short ? `, -${short}` : ""}${argument}`, does: does as string };
    });
  const width = Math.max(...lines.map(({ left }) => left.length)) + 2;
  return [
    "pi - a coding agent to embed: RPC, JSON events, print mode",
    "",
    "Usage: pi [options] [--] [@files...] [messages...]",
    "       pi auth <login|logout|check> ...   Keys of providers; see pi auth --help",
    "       pi <install|remove|update|list> ...   Packages; see pi install --help",
    "",
    "Options:",
    ...lines.map(({ left, does }) => `  ${left.padEnd(width)}${does}`),
    `  ${"--".padEnd(width)}End of options; the rest are messages`,
    "",
    "Examples:",
    '  pi --model demo --mode json "List the files in this directory"   (needs no key)',
    '  pi -p "What does this project do?"',
    '  git diff | pi -p "Review this change"',
    "  pi --mode rpc --no-session",
    "",
    "Exit codes: 0 done; 1 failed to start, wrong arguments, or the last run failed;",
    "  129, 130, 143 after SIGHUP, SIGINT, SIGTERM",
    "",
  ].join("\n");
}
