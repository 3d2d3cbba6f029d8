// The demo model's report of what the tools gave: counts, excerpts, and failures as they are.

import { wholeCharacters } from "../excerpt.js";
import type { ToolResultMessage } from "../types.js";
import type { Request } from "./demo-requests.js";

/** Lines and characters of a result that are quoted. */
const maxLines = 10;
const maxCharacters = 600;
/** Names of a list that are told. */
const maxNames = 20;

/** One paragraph for each result; the results are in the order of the requests. */
export function describeResults(requests: readonly Request[], results: readonly ToolResultMessage[]): string {
  return results.map((result, index) => describeResult(requests[index], result)).join("\n\n");
}

function describeResult(request: Request | undefined, result: ToolResultMessage): string {
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  // What grep itself says when it finds nothing.
  if (request?.kind === "search" && result.isError && /^Command exited with code 1\s*$/.test(text))
    return `"${request.text}" was not found.`;
  if (result.isError) return `${nameOf(request, result)} failed:\n\n${fenced(text)}`;
  switch (request?.kind) {
    case "list":
      return describeList(request.path, text);
    case "read": {
      if (result.content.some((block) => block.type === "image"))
        return `${request.path} is an image. I cannot see it.`;
      const count = counted(lines(text), "line");
      return text === "" ? `${request.path} is empty.` : `${request.path} has ${count}. It starts:\n\n${fenced(text)}`;
    }
    case "search": {
      const found = lines(text).filter((line) => /:\d+:/.test(line));
      if (found.length === 0) return `"${request.text}" was not found.`;
      return `"${request.text}" is in ${counted(found, "line")}:\n\n${fenced(found.join("\n"))}`;
    }
    case "run":
      if (text === "(no output)") return `\`${request.command}\` ran and printed nothing.`;
      return `\`${request.command}\` printed ${counted(lines(text), "line")}:\n\n${fenced(text)}`;
    case "create":
    case "replace":
      return `Done: ${text.trimEnd()}.`;
    case undefined:
      return `${result.toolName} answered:\n\n${fenced(text)}`;
  }
}

function describeList(path: string, text: string): string {
  const place = path === "." ? "this directory" : path;
  const rows = lines(text).filter((line) => line !== "" && !line.startsWith("["));
  // `ls -la` starts with a total; its ninth column is the name, and folders begin with d.
  const isLong = /^total \d/.test(text);
  const names = isLong
    ? rows.slice(1).map((row) => row.split(/\s+/).slice(8).join(" ") + (row.startsWith("d") ? "/" : ""))
    : rows;
  const listed = names.filter((name) => name !== "./" && name !== "../" && name !== "" && name !== "(empty folder)");
  if (listed.length === 0) return `There is nothing in ${place}.`;
  const shown = listed.slice(0, maxNames).map((name) => `- ${name}`);
  const rest = listed.length > maxNames ? [`- … and ${listed.length - maxNames} more`] : [];
  const verb = listed.length === 1 ? "is" : "are";
  return `There ${verb} ${counted(listed, "entry")} in ${place}:\n\n${[...shown, ...rest].join("\n")}`;
}

function nameOf(request: Request | undefined, result: ToolResultMessage): string {
  switch (request?.kind) {
    case "list":
      return `Listing ${request.path === "." ? "this directory" : request.path}`;
    case "read":
      return `Reading ${request.path}`;
    case "search":
      return `Searching for "${request.text}"`;
    case "run":
      return `\`${request.command}\``;
    case "create":
      return `Creating ${request.path}`;
    case "replace":
      return `Changing ${request.path}`;
    case undefined:
      return result.toolName;
  }
}

/** The first lines, fenced so that nothing in them ends the fence. */
function fenced(text: string): string {
  const all = lines(text);
  let shown = all.slice(0, maxLines).join("\n");
  if (shown.length > maxCharacters) shown = wholeCharacters(shown.slice(0, maxCharacters));
  const isCut = shown.length < all.join("\n").length;
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${shown}${isCut ? "\n…" : ""}\n${fence}`;
}

function lines(text: string): string[] {
  return text.replace(/\n+$/, "").split("\n");
}

function counted(list: readonly string[], noun: string): string {
  const plural = noun === "entry" ? "entries" : `${noun}s`;
  return `${list.length} ${list.length === 1 ? noun : plural}`;
}
