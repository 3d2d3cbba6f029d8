// What goes wrong with a provider is one clear error, and the session goes on.

import { describe, expect, test } from "vitest";
import { startCliRpc } from "../helpers/cli-rpc.js";
import type { JsonRecord } from "../helpers/records.js";
import { type RunningCli, startCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";

/** The events of one run, and the message it ended with. */
async function run(cli: RunningCli, message = "hello") {
  const from = cli.records.all.length;
  expect(await cli.ask({ type: "prompt", message })).toMatchObject({ success: true });
  await cli.records.next({ type: "agent_settled" });
  const events = cli.records.all.slice(from);
  const last = events.findLast(({ type }) => type === "message_end")?.message as JsonRecord;
  return { last, retries: events.filter(({ type }) => type === "auto_retry_start").length };
}

describe("an answer that is none", () => {
  const page = "<!DOCTYPE html><html><head><title>Sign in to the network</title></head><body>…</body></html>";
  const error = (message: string, type: string) => JSON.stringify({ error: { message, type } });

  test.each([
    [
      "a wrong key",
      401,
      error("Incorrect API key provided", "invalid_request_error"),
      "auth",
      /^401: .*Incorrect API key/,
    ],
    ["a key without rights", 403, error("Not allowed", "permission_error"), "auth", /^403: .*Not allowed/],
    [
      "a model that was removed",
      404,
      error("The model does not exist", "invalid_request_error"),
      "not_found",
      /^404: /,
    ],
    [
      "a page instead of a refusal",
      403,
      page,
      "auth",
      /^403: a web page instead of an answer: "Sign in to the network"$/,
    ],
    [
      "a page instead of an answer",
      200,
      page,
      "incomplete",
      /^Answer is no event stream: a web page .*"Sign in to the/,
    ],
  ])("%s: one error of its kind, no retry, and the next prompt works", async (_, status, body, kind, text) => {
    const { cli, server, model } = await startCliRpc({
      files: { "agent/settings.json": { retry: { enabled: kind !== "incomplete" } } },
    });
    server.reply({ status, body, headers: { "content-type": body === page ? "text/html" : "application/json" } });
    const { last, retries } = await run(cli);
    expect(last).toMatchObject({ stopReason: "error", error: { kind }, content: [] });
    expect(last.errorMessage).toMatch(text);
    expect(last.errorMessage).not.toContain("\n");
    expect([retries, server.requests.length]).toEqual([0, 1]);
    model.answer("all is well");
    expect((await run(cli)).last).toMatchObject({ stopReason: "stop" });
    expect(await cli.ask({ type: "get_last_assistant_text" })).toMatchObject({ data: { text: "all is well" } });
  });
});

describe("a provider without a key", () => {
  test("is told of when it is chosen at start and when it is set; another model can be used", async () => {
    const { cli, model } = await startCliRpc({ args: ["--model", "openai/gpt-6.2-sol"] });
    expect(await cli.ask({ type: "get_state" })).toMatchObject({ data: { model: { provider: "openai" } } });
    const refused = { success: false, code: "no_credentials", error: expect.stringContaining('"openai"') };
    expect(await cli.ask({ type: "prompt", message: "hello" })).toMatchObject(refused);
    expect(await cli.ask({ type: "set_model", provider: "groq", modelId: "openai/gpt-oss-120b" })).toMatchObject({
      success: false,
      code: "no_credentials",
      error: expect.stringContaining('"groq"'),
    });
    expect(await cli.ask({ type: "set_model", provider: "scripted", modelId: "plain" })).toMatchObject({
      success: true,
    });
    model.answer("fine");
    expect((await run(cli)).last).toMatchObject({ stopReason: "stop" });
  });

  test("whose key command fails ends the run with kind auth, without its output, and is asked again", async () => {
    const { cli, server, place } = await startCliRpc();
    const files = JSON.parse(place.read("agent/models.json"));
    files.providers.other = { ...files.providers.scripted, apiKey: "!cat key-file || (echo leaked; exit 3)" };
    place.write("agent/models.json", files);
    const second = startCli({ place, args: ["--mode", "rpc", "--model", "other/plain"] });
    const { last, retries } = await run(second);
    expect(last).toMatchObject({
      stopReason: "error",
      error: { kind: "auth" },
      errorMessage: 'Cannot get credentials for "other": its command failed with exit code 3',
    });
    expect([retries, server.requests.length]).toEqual([0, 0]);
    place.write("project/key-file", "found-key");
    server.reply({ status: 400, body: "{}" });
    await run(second);
    expect(server.requests[0]?.headers.authorization).toBe("Bearer found-key");
    cli.closeStdin();
  });

  test("the last resort at start is a model with a key", async () => {
    const cli = startCli({
      place: workspace(),
      args: ["--mode", "rpc"],
      env: { GROQ_API_KEY: "k", OPENCODE_API_KEY: "k" },
    });
    expect(await cli.ask({ type: "get_state" })).toMatchObject({ data: { model: { provider: "groq" } } });
  });
});
