// A disk that takes nothing: who asked for something to be kept is told, and nothing is lost meanwhile.

import { expect, onTestFinished, test, vi } from "vitest";
import { SessionFile } from "../../src/sessions/session-file.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { workspaceWithModel } from "../helpers/cli-rpc.js";
import { startCli } from "../helpers/running-cli.js";
import { temporaryDirectory } from "../sessions/session-files.js";
import { assistant, user } from "./messages.js";

test("a failed write is known until one succeeds, which writes everything", () => {
  const store = SessionManager.create("/project", temporaryDirectory());
  store.appendMessage(user("hello"));
  const write = vi.spyOn(SessionFile.prototype, "write").mockImplementation(() => {
    throw new Error("ENOSPC");
  });
  onTestFinished(() => write.mockRestore());
  store.appendMessage(assistant("Yes"));
  expect(store.writeFailure?.message).toBe("ENOSPC");
  write.mockRestore();
  store.appendSessionInfo("name");
  expect(store.writeFailure).toBeUndefined();
  expect(SessionManager.open(store.getSessionFile() as string).getEntries()).toHaveLength(3);
});

test("a session whose lock cannot be made goes on in memory, and says so", async () => {
  const { place, model } = await workspaceWithModel();
  for (const answer of ["One", "Two"]) model.answer(answer);
  const args = ["--mode", "rpc", "--model", "scripted/thinker"];
  const first = startCli({ place, args });
  await first.ask({ type: "prompt", message: "hi" });
  await first.records.next({ type: "agent_settled" });
  first.closeStdin();
  expect(await first.ended).toBe(0);
  // No file can be written at all.
  const full: [string, ...string[]] = ["sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh"];
  const cli = startCli({ place, args: [...args, "--continue"], wrapper: full });
  expect(await cli.ask({ type: "prompt", message: "again" })).toMatchObject({ success: true });
  await cli.records.anywhere({ type: "session_write_error" });
  await cli.records.anywhere({ type: "agent_settled", aborted: false });
  expect(await cli.ask({ type: "get_last_assistant_text" })).toMatchObject({ data: { text: "Two" } });
  expect(await cli.ask({ type: "set_session_name", name: "mine" })).toMatchObject({ success: false, code: "io_error" });
});

test("a name, a label and a clone that cannot be written are refused as io_error; leaving says what is missing", async () => {
  const { place, model } = await workspaceWithModel();
  model.answer("x".repeat(3000));
  // The limit is in blocks of 512 or 1,024 bytes: the file ends within the answer.
  const limited: [string, ...string[]] = ["sh", "-c", 'trap "" XFSZ; ulimit -f 2; exec "$@"', "sh"];
  const cli = startCli({ place, args: ["--mode", "rpc", "--model", "scripted/thinker"], wrapper: limited });
  await cli.ask({ type: "prompt", message: "hi" });
  await cli.records.next({ type: "session_write_error" });
  await cli.records.next({ type: "agent_settled", aborted: false });
  const { data } = await cli.ask({ type: "get_entries" });
  const { entries } = data as { entries: { id: string }[] };
  for (const command of [
    { type: "set_session_name", name: "mine" },
    { type: "set_label", entryId: entries[0]?.id, label: "here" },
    { type: "clone" },
  ])
    expect(await cli.ask(command)).toMatchObject({ success: false, code: "io_error" });
  expect(await cli.ask({ type: "get_state" })).toMatchObject({ data: { sessionName: "mine", messageCount: 2 } });
  expect(await cli.ask({ type: "new_session" })).toMatchObject({
    data: { cancelled: false, warnings: [expect.stringContaining("Entries are missing in")] },
  });
});
