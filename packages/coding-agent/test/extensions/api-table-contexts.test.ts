// Every member of `ctx` and of its session, in every mode.

import { expect, test } from "vitest";
import { modes } from "./play.js";
import {
  commandMembers,
  contextMembers,
  membersOfContexts,
  replacedMembers,
  toolMembers,
} from "./table/context-members.js";
import { prove } from "./table/prove.js";
import { sessionManagerMembers } from "./table/session-manager-members.js";

prove("ctx", contextMembers);
prove("ctx of commands", commandMembers);
prove("ctx of tools", toolMembers);
prove("ctx of withSession", replacedMembers);
prove("ctx.sessionManager", sessionManagerMembers);

test.each(modes)("contexts have these members and no others: %s mode", async (mode) => {
  const base = Object.keys(contextMembers);
  const command = [...base, ...Object.keys(commandMembers)];
  const expected = {
    handler: base,
    command,
    tool: [...base, ...Object.keys(toolMembers)],
    replaced: [...command, ...Object.keys(replacedMembers)],
  };
  const sorted = (lists: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(lists).map(([kind, names]) => [kind, [...names].sort()]));
  expect(sorted(await membersOfContexts(mode))).toEqual(sorted(expected));
});
