// Compactions that extensions make themselves: the same summary as a session's own, with what it cost.

import { scriptedModel, usage } from "@earendil-works/pi-ai/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { compact, DEFAULT_COMPACTION_SETTINGS } from "../../../src/extension-modules/host/compaction.js";
import { defaultSettings } from "../../../src/resources/settings.js";
import { assistant, user } from "../../core/messages.js";

function bench() {
  const scripted = scriptedModel();
  onTestFinished(() => scripted.dispose());
  return scripted;
}

const kept = { firstKeptEntryId: "e9", tokensBefore: 70 };

describe("compact", () => {
  it("joins both summaries under the heading of the second, and adds up what they cost", async () => {
    const scripted = bench();
    scripted.reply("Older", usage({ input: 5, output: 1 })).reply("Newer", usage({ input: 7, output: 2 }));
    const preparation = {
      ...kept,
      messagesToSummarize: [user("old"), assistant("done")],
      turnPrefixMessages: [user("new")],
    };
    expect(await compact(preparation, scripted.model, "key")).toEqual({
      ...kept,
      summary: "Older\n\n# The work under way, from its beginning\n\nNewer",
      details: { readFiles: [], modifiedFiles: [] },
      usage: expect.objectContaining({ input: 12, output: 3, totalTokens: 15 }),
    });
  });

  it("asks no model for a history that is empty, and keeps the files of the summary so far", async () => {
    const scripted = bench();
    scripted.reply("Newer");
    const previousSummary =
      "Before\n\n<read-files>\na.ts\n</read-files>\n\n<modified-files>\nb.ts\nc.ts\n</modified-files>";
    const read = { type: "toolCall" as const, id: "1", name: "read", arguments: { path: "d.ts" } };
    const preparation = {
      ...kept,
      messagesToSummarize: [],
      turnPrefixMessages: [user("new"), assistant("", { content: [read] })],
      previousSummary,
    };
    const made = await compact(preparation, scripted.model, "key");
    expect([made.summary.split("\n\n# ")[0], scripted.requests.length]).toEqual(["Before", 1]);
    expect(made.details).toEqual({ readFiles: ["a.ts", "d.ts"], modifiedFiles: ["b.ts", "c.ts"] });
    expect(made.summary.split("<read-files>").length).toBe(2);
  });
});

describe("DEFAULT_COMPACTION_SETTINGS", () => {
  it("says what the settings do", () => {
    expect(defaultSettings().compaction).toMatchObject(DEFAULT_COMPACTION_SETTINGS);
  });
});
