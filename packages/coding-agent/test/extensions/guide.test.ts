// docs/extensions.md names what there is.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiMembers } from "./table/api-members.js";
import { commandMembers, contextMembers, toolMembers } from "./table/context-members.js";
import { runEvents } from "./table/run-events.js";
import { sessionEvents } from "./table/session-events.js";
import { toolItems } from "./table/tool-items.js";
import { uiMembers } from "./table/ui-members.js";

const guide = readFileSync(new URL("../../docs/extensions.md", import.meta.url), "utf8");

/** The names in the first column of a section's table. */
function named(section: string): string[] {
  const [, text = ""] = new RegExp(`^## ${section}\\n(.*?)(?=^## |(?![\\s\\S]))`, "ms").exec(guide) ?? [];
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  return rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name as string));
}

test.each<[string, readonly object[]]>([
  ["Events", [sessionEvents, runEvents]],
  ["`pi`", [apiMembers]],
  ["`ctx`", [contextMembers]],
  ["User interface", [uiMembers]],
])("the table of %s names each once, and nothing else", (section, tables) => {
  expect(named(section).sort()).toEqual(tables.flatMap((table) => Object.keys(table)).sort());
});

test("members of commands and tools, and fields of tools, are named", () => {
  const names = [commandMembers, toolMembers].flatMap((table) => Object.keys(table));
  const fields = Object.keys(toolItems).filter((name) => /^[a-z]+[A-Z]\w*$/.test(name) && name !== "onUpdate");
  for (const name of [...names, ...fields, "exposure", "label"])
    expect(guide, name).toMatch(new RegExp(`\`${name}\\b`));
});
