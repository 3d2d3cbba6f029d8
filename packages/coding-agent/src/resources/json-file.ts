// Reads a JSON file that people edit, and finds the line and column of whatever is wrong in it.

import { readRegularFile } from "../lib/read-regular-file.js";
import type { Diagnostic } from "./diagnostic.js";

export type JsonObject = Record<string, unknown>;
export type JsonPath = readonly (string | number)[];

/** A file as it was read. `value` is absent when the file is missing or broken. */
export interface JsonFile {
  path: string;
  text: string;
  value?: JsonObject;
  diagnostics: Diagnostic[];
}

/** Never throws: a file that cannot be read, or is no JSON object, is a diagnostic; a missing one is just absent. */
export function readJsonFile(path: string, source: string): JsonFile {
  const file: JsonFile = { path, text: "", diagnostics: [] };
  const fail = (reason: string, position?: { line: number; column: number }) => {
    file.diagnostics.push({ severity: "error", source, message: `${reason}; the file is ignored`, path, ...position });
    return file;
  };
  try {
    file.text = readRegularFile(path)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? file : fail(`Cannot read the file: ${message}`);
  }
  if (file.text.trim() === "") return file;
  let value: unknown;
  try {
    value = JSON.parse(file.text);
  } catch {
    const at = findSyntaxError(file.text);
    const found =
      at < file.text.length
        ? `unexpected ${JSON.stringify(String.fromCodePoint(file.text.codePointAt(at)!))}`
        : "unexpected end";
    return fail(`The file is no JSON: ${found}`, positionOf(file.text, at));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail("The file holds no JSON object");
  file.value = value as JsonObject;
  return file;
}

/** A diagnostic about the value at `path` of a file that is JSON. */
export function faultAt(
  file: JsonFile,
  source: string,
  path: JsonPath,
  reason: string,
  severity: Diagnostic["severity"] = "error",
): Diagnostic {
  const position = positionOf(file.text, locate(file.text, path));
  return { severity, source, message: `${JSON.stringify(path.join("."))} ${reason}`, path: file.path, ...position };
}

/** Line and column of a character offset, counted from 1. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n") };
}

/**
 * Where a text stops being JSON. Engines differ in whether they tell, so it is found by asking for the shortest
 * beginning that nothing could complete any more; a beginning that can be completed fails at its very end.
 */
export function findSyntaxError(text: string): number {
  let [low, high] = [0, text.length];
  if (canGoOn(text)) return text.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (canGoOn(text.slice(0, middle))) low = middle;
    else high = middle;
  }
  return high - 1;
}

function canGoOn(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const { message } = error as Error;
    // Messages may quote the text, so only their beginning and their end are trusted.
    const position = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
    return message.startsWith("Unexpected end of JSON input") || Number(position) === beginning.length;
  }
}

/** The offset of the value at `path` (of its key, for a member) in a text that is JSON; 0 when it is not there. */
export function locate(text: string, path: JsonPath): number {
  /** One open object or list: what is being read in it. */
  const open: { key: string | number; offset: number; isList: boolean }[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  let expectsKey = false;
  const isHere = () => open.length === path.length && open.every(({ key }, index) => key === path[index]);
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const top = open.at(-1);
    if (expectsKey && top && token.startsWith('"')) {
      top.key = JSON.parse(token) as string;
      top.offset = index;
      expectsKey = false;
      continue;
    }
    if (token === ":") continue;
    if (token === ",") {
      if (top?.isList) top.key = (top.key as number) + 1;
      expectsKey = top !== undefined && !top.isList;
      continue;
    }
    if (token === "}" || token === "]") {
      open.pop();
      expectsKey = false;
      continue;
    }
    if (open.length > 0 && isHere()) return top!.isList ? index : top!.offset;
    if (token === "{" || token === "[") {
      open.push({ key: token === "[" ? 0 : "", offset: index, isList: token === "[" });
      expectsKey = token === "{";
    }
  }
  return 0;
}
