// Plays every transcript against RPC mode in process and against the built program.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rpcCommands } from "../src/modes/rpc/rpc-types.js";
import type { AnsweringModel } from "./helpers/answers.js";
import { startCliRpc } from "./helpers/cli-rpc.js";
import { brokenOrder } from "./helpers/event-grammar.js";
import { startInProcessRpc } from "./helpers/in-process-rpc.js";
import type { RpcPeer } from "./helpers/peer.js";
import { difference } from "./helpers/records.js";
import { playTranscript, readTranscript, transcriptFiles } from "./helpers/transcript.js";

const folder = new URL("transcripts/", import.meta.url);
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => name.slice(0, -".jsonl".length));

const stepsOf = (name: string) => readTranscript(readFileSync(new URL(`${name}.jsonl`, folder), "utf8"));

async function play(steps: ReturnType<typeof stepsOf>, peer: RpcPeer, model: AnsweringModel): Promise<void> {
  const sent = await playTranscript(steps, peer, model);
  peer.closeStdin();
  await peer.ended;
  const { all } = peer.records;
  expect(brokenOrder(all)).toEqual([]);
  for (const { id, type } of sent) {
    if (id === undefined || type === "extension_ui_response") continue;
    const answers = all.filter(
      (record) => record.type === "response" && difference({ id, command: type }, record) === undefined,
    );
    // Some transcripts use an id twice, for the same command or another.
    const times = sent.filter((other) => difference({ id, type }, other) === undefined).length;
    expect(answers, `answers to ${type} ${JSON.stringify(id)}`).toHaveLength(times);
  }
}

describe("transcripts", () => {
  test("there is one a command", () => {
    expect(Object.keys(rpcCommands).filter((name) => !names.includes(name))).toEqual([]);
  });

  test.each(names)("%s, in process", async (name) => {
    const steps = stepsOf(name);
    const peer = await startInProcessRpc({ files: transcriptFiles(steps) });
    try {
      await play(steps, peer, peer.model);
    } finally {
      await peer.dispose();
    }
  });

  test.each(names)("%s, built", async (name) => {
    const steps = stepsOf(name);
    const { cli, model } = await startCliRpc({ files: transcriptFiles(steps) });
    await play(steps, cli, model);
    expect(cli.faults).toEqual([]);
    expect(cli.stderr).toBe("");
  });
});
