// Which tools the model is offered: an allowlist, changes to the default ones, and exclusions.

import { defaultToolNames } from "../tools/index.js";

/** What the command line or the settings say about tools. Lists are as given: names, patterns with `*`, `+name`, `-name`. */
export interface ToolSelection {
  /** Replaces the defaults, or changes them when it has only `+name` and `-name`. */
  tools?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  /** No tools at all. */
  none?: boolean | undefined;
  /** None of the built-in tools. */
  noBuiltin?: boolean | undefined;
  /** Names that no tool has are left out instead of refused. */
  isLenient?: boolean | undefined;
}

/**
 * The names to offer, in the order of `available`. Throws an error that names what is wrong with the selection: plain
 * names mixed with changes, or a name that no tool has. Unknown names among the defaults, which a settings file gives, are
 * left out; `unknownTools` finds them. `others` are tools beside the built-in ones that are on by themselves.
 */
export function selectTools(
  available: readonly string[],
  selection: ToolSelection,
  defaults: readonly string[] = defaultToolNames,
  others: readonly string[] = [],
): string[] {
  if (selection.none) return [];
  const known = defaults.filter((entry) => isKnown(entry, available));
  const builtIn = selection.noBuiltin ? [] : changed(defaultToolNames, known, available);
  const base = [...builtIn, ...others.filter((name) => !known.some((entry) => entry.trim() === `-${name}`))];
  const asked = selection.isLenient ? selection.tools?.filter((entry) => isKnown(entry, available)) : selection.tools;
  const chosen = asked ? changed(base, asked, available) : base;
  const excluded = matcher(selection.exclude ?? []);
  return available.filter((name) => chosen.includes(name) && !excluded(name));
}

/** Whether a tool that comes later may be on by itself: no list leaves it out. */
export function isSelectable(name: string, { none, tools = [], exclude = [] }: ToolSelection): boolean {
  if (none || matcher(exclude)(name)) return false;
  const entries = tools.map((entry) => entry.trim()).filter(Boolean);
  if (entries.length === 0) return true;
  if (entries.every((entry) => /^[+-]/.test(entry))) return !entries.includes(`-${name}`);
  return matcher(entries)(name);
}

/** `list` as a whole selection, or as changes to `base`. */
function changed(base: readonly string[], list: readonly string[], available: readonly string[]): string[] {
  const entries = list.map((entry) => entry.trim()).filter(Boolean);
  const changes = entries.filter((entry) => /^[+-]/.test(entry));
  if (changes.length === 0) {
    for (const entry of entries) refuseUnknown(entry, available);
    return available.filter(matcher(entries));
  }
  if (changes.length < entries.length)
    throw new Error("Cannot select tools: names and +name/-name entries cannot be mixed");
  const names = new Set(base);
  for (const change of changes) {
    const name = change.slice(1);
    refuseUnknown(name, available);
    if (change.startsWith("+")) names.add(name);
    else names.delete(name);
  }
  return [...names];
}

/** Entries of a list that name no tool. */
export function unknownTools(list: readonly string[], available: readonly string[]): string[] {
  return list.filter((entry) => !isKnown(entry, available));
}

function isKnown(entry: string, available: readonly string[]): boolean {
  const name = entry.trim().replace(/^[+-]/, "");
  return name.includes("*") || available.includes(name);
}

function refuseUnknown(entry: string, available: readonly string[]): void {
  if (isKnown(entry, available)) return;
  throw new Error(`Unknown tool "${entry}": there are ${available.join(", ")}`);
}

/** Whether a name is in the list, where `*` in an entry matches anything. */
function matcher(list: readonly string[]): (name: string) => boolean {
  const patterns = list.map((entry) => {
    const escaped = entry.trim().replace(/[.+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`^${escaped.replaceAll("*", ".*")}$`);
  });
  return (name) => patterns.some((pattern) => pattern.test(name));
}
