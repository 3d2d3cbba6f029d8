// A key never leaves the program but in the request it is for.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ReplayReply } from "@earendil-works/pi-ai/testing";
import { describe, expect, test } from "vitest";
import { workspaceWithModel } from "../helpers/cli-rpc.js";
import { startCli } from "../helpers/running-cli.js";
import type { Workspace } from "../helpers/workspace.js";

const key = "sk-canary-4f7d1c";
const headerKey = "hdr-canary-9b2e";
const stored = "stored-canary-77";
const canaries = [key, headerKey, stored];

/** A server that says what it was sent, in every way a call can fail. */
const echo = `you sent ${canaries.join(" and ")}`;
const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", ...fields })}\n\n`;
const failures: [string, ReplayReply][] = [
  ...[400, 401, 403, 404, 413, 429, 500, 503].map((status): [string, ReplayReply] => [
    `status ${status}`,
    { status, body: JSON.stringify({ error: { message: echo, type: "t", code: key } }) },
  ]),
  ["text", { status: 500, body: echo }],
  ["a page", { status: 502, headers: { "content-type": "text/html" }, body: `<html><title>${echo}</title></html>` }],
  ["no stream", { headers: { "content-type": "application/json" }, body: JSON.stringify({ detail: echo }) }],
  ["an error in the stream", { body: [chunk({ choices: [] }), `data: {"error":{"message":"${echo}"}}\n\n`] }],
  ["no JSON in the stream", { body: [`data: {${echo}\n\n`] }],
  ["an odd end", { body: [chunk({ choices: [{ index: 0, delta: {}, finish_reason: key }] })] }],
  ["a cut", { body: [chunk({ choices: [{ index: 0, delta: {} }] }), "cut"] }],
];

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
}

/** Everything the program wrote into the workspace beside what the test put there. */
function written(place: Workspace): string {
  const own = new Set(["models.json", "auth.json", "settings.json"].map((name) => join(place.agentDir, name)));
  return filesBelow(place.root)
    .filter((path) => !own.has(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

describe("keys", () => {
  test("are in no event, no text, no session and no export, however a call fails", { timeout: 60_000 }, async () => {
    const { place, server, model } = await workspaceWithModel();
    const { providers } = JSON.parse(place.read("agent/models.json"));
    Object.assign(providers.scripted, { apiKey: "$CANARY", headers: { "x-team-auth": "$HEADER_CANARY" } });
    providers.gone = { ...providers.scripted, baseUrl: `http://${key}:${stored}@127.0.0.1:9/v1` };
    place.write("agent/models.json", { providers });
    place.write("agent/settings.json", { retry: { enabled: false } });
    place.write("agent/auth.json", { scripted: { type: "api_key", key, env: { AWS_SESSION_TOKEN: stored } } });
    const env = { CANARY: key, HEADER_CANARY: headerKey };
    const cli = startCli({ place, args: ["--mode", "rpc", "--model", "scripted/thinker"], env });
    for (const [, reply] of failures) {
      server.reply(reply);
      expect(await cli.ask({ type: "prompt", message: "hello" })).toMatchObject({ success: true });
      await cli.records.next({ type: "agent_settled" });
    }
    expect(server.requests).toHaveLength(failures.length);
    for (const { headers } of server.requests)
      expect([headers.authorization, headers["x-team-auth"]]).toEqual([`Bearer ${key}`, headerKey]);
    model.answer("fine");
    await cli.ask({ type: "prompt", message: "hello" });
    await cli.records.next({ type: "agent_settled" });
    await cli.ask({ type: "get_available_models" });
    await cli.ask({ type: "get_messages" });
    await cli.ask({ type: "get_diagnostics" });
    expect(await cli.ask({ type: "export_html" })).toMatchObject({ success: true });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    const ends = cli.records.all.filter(
      ({ type, message }) => type === "message_end" && (message as { errorMessage?: string })?.errorMessage,
    );
    expect(ends.length).toBe(failures.length);
    // What a model is described by may hold a key of the user's own choosing; the answers below may not.
    const records = JSON.stringify(cli.records.all.filter(({ command }) => command !== "get_available_models"));
    const seen = { records, stderr: cli.stderr, files: written(place) };
    for (const [where, text] of Object.entries(seen))
      expect([where, canaries.filter((canary) => text.includes(canary))]).toEqual([where, []]);
  });
});

describe("shell.hideCredentials", () => {
  const secret = "secret-value-1";
  const env = { OPENAI_API_KEY: secret, AWS_SESSION_TOKEN: secret, MY_OWN: secret, OTHER: secret, KEPT: "kept-value" };
  const command = "env | sort";

  /** What a command of the model's, and one of the user's, see. */
  async function environments(hideCredentials: unknown) {
    const { place, server, model } = await workspaceWithModel();
    place.write("agent/settings.json", { shell: { hideCredentials } });
    place.write("agent/auth.json", { groq: { type: "api_key", key: "$MY_OWN" } });
    const cli = startCli({ place, args: ["--mode", "rpc", "--model", "scripted/plain"], env });
    model.answer({ toolCall: "bash", arguments: { command } });
    model.answer("done");
    await cli.ask({ type: "prompt", message: "look" });
    await cli.records.next({ type: "agent_settled" });
    const { messages } = (await server.request(1)).body as { messages: { role: string; content: string }[] };
    const ofTool = messages.find(({ role }) => role === "tool")?.content ?? "";
    const { data } = await cli.ask({ type: "bash", command });
    const names = (text: string) => [...text.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    return [names(ofTool), names((data as { output: string }).output)];
  }

  test.each<[unknown, string[]]>([
    [false, []],
    [true, ["OPENAI_API_KEY", "AWS_SESSION_TOKEN", "MY_OWN"]],
    [
      ["OTHER", "MY_OWN"],
      ["MY_OWN", "OTHER"],
    ],
  ])("%j", async (setting, hidden) => {
    for (const names of await environments(setting)) {
      expect(names).toContain("KEPT");
      expect(Object.keys(env).filter((name) => !names.includes(name))).toEqual(hidden);
    }
  });
});
