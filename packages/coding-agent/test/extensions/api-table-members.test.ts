// Every member of `pi`, in every mode.

import { expect, test } from "vitest";
import { modes, play } from "./play.js";
import { apiMembers, worksWhileLoading } from "./table/api-members.js";
import { prove } from "./table/prove.js";

prove("pi", apiMembers);

test.each(modes)("while an extension loads, what needs a session says so: %s mode", async (mode) => {
  const refused: string[] = [];
  await play(mode, async (pi) => {
    for (const name of Object.keys(pi) as (keyof typeof pi)[]) {
      if (worksWhileLoading.includes(name)) continue;
      const call = pi[name] as (...args: unknown[]) => unknown;
      try {
        await call("a", "b");
      } catch (error) {
        if (/runtime is not initialised yet/.test((error as Error).message)) refused.push(name);
      }
    }
  });
  const others = Object.keys(apiMembers).filter((name) => !worksWhileLoading.includes(name as never));
  expect(refused.sort()).toEqual(others.sort());
});
