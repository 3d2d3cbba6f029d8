// The exchange that docs/rpc.md shows, played as it stands there.

import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { startInProcessRpc } from "./helpers/in-process-rpc.js";

const document = readFileSync(new URL("../docs/rpc.md", import.meta.url), "utf8");

test("docs/rpc.md: the records of a prompt come as they are shown, and no others", async () => {
  const shown = /## A prompt, record by record\n.*?```text\n(.*?)```/s.exec(document)?.[1]?.trimEnd().split("\n") ?? [];
  expect(shown.length).toBeGreaterThan(10);
  const rpc = await startInProcessRpc();
  onTestFinished(() => rpc.dispose());
  rpc.model.answer({ text: "Hello!", deltas: 2 });
  let received = 0;
  for (const line of shown) {
    const record: unknown = JSON.parse(line.slice(2));
    if (line.startsWith("> ")) rpc.send(record as object);
    else {
      received += 1;
      await rpc.records.following(record);
    }
  }
  expect(rpc.records.all).toHaveLength(received);
});
