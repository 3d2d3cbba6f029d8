// The UI, the models and the tools of extensions, in every mode; and that the tables name what the types have.

import { readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { modes } from "./play.js";
import { apiMembers } from "./table/api-members.js";
import { commandMembers, contextMembers, replacedMembers, toolMembers } from "./table/context-members.js";
import { modelRegistryMembers } from "./table/model-registry-members.js";
import { prove } from "./table/prove.js";
import { runEvents } from "./table/run-events.js";
import { sessionEvents } from "./table/session-events.js";
import { abortedTool, toolItems } from "./table/tool-items.js";
import { membersOfUi, uiMembers } from "./table/ui-members.js";

prove("ctx.ui", uiMembers);
prove("ctx.modelRegistry", modelRegistryMembers);
prove("tools", toolItems);

test.each(modes)("a tool is told of an abort: %s mode", async (mode) => {
  expect(await abortedTool(mode)).toBe(true);
});

test.each(modes)("the UI has these members and no others: %s mode", async (mode) => {
  expect((await membersOfUi(mode)).sort()).toEqual(Object.keys(uiMembers).sort());
});

describe("the tables name every member of the types, and nothing else", () => {
  test.each<[string, string, readonly object[]]>([
    ["events.ts", "ExtensionEventMap", [sessionEvents, runEvents]],
    ["api.ts", "ExtensionAPI", [apiMembers]],
    ["api.ts", "ExtensionContext", [contextMembers]],
    ["api.ts", "ExtensionCommandContext", [commandMembers]],
    ["api.ts", "ExtensionToolContext", [toolMembers]],
    ["api.ts", "ReplacedSessionContext", [replacedMembers]],
    ["ui.ts", "ExtensionUI", [uiMembers]],
    ["host.ts", "ExtensionModelRegistry", [modelRegistryMembers]],
  ])("%s: %s", (file, name, tables) => {
    const inherited = name === "ExtensionCommandContext" ? membersOf("host.ts", "SessionControl") : [];
    const named = tables.flatMap((table) => Object.keys(table));
    expect(named.sort()).toEqual([...new Set([...membersOf(file, name), ...inherited])].sort());
  });
});

/** The names an interface declares itself. */
function membersOf(file: string, name: string): string[] {
  const text = readFileSync(new URL(`../../src/extensions/${file}`, import.meta.url), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  );
  if (!found) throw new Error(`There is no interface ${name} in ${file}`);
  return found.members.flatMap((member) => (member.name ? [member.name.getText(source)] : []));
}
