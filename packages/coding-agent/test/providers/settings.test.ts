// The settings and variables that steer requests, by what a server sees of them.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Hold } from "@earendil-works/pi-ai/testing";
import sharp from "sharp";
import { describe, expect, onTestFinished, test } from "vitest";
import { workspaceWithModel } from "../helpers/cli-rpc.js";
import type { JsonRecord } from "../helpers/records.js";
import { type RunningCli, startCli } from "../helpers/running-cli.js";

type Files = Record<string, unknown>;
type Body = Record<string, unknown> & { messages: { role: string; content: unknown }[]; model: string };

/** A server and a program that talks to it; `model` changes the description of `scripted/thinker`. */
async function start(
  options: { settings?: object; model?: object; args?: string[]; env?: Record<string, string>; api?: string } = {},
) {
  const { settings = {}, model: facts = {}, args = ["--model", "scripted/thinker"], env, api } = options;
  const { place, server, model } = await workspaceWithModel();
  const file = JSON.parse(place.read("agent/models.json"));
  Object.assign(file.providers.scripted, api && { api, baseUrl: server.url });
  Object.assign(file.providers.scripted.models[0], facts);
  place.write("agent/models.json", file);
  place.write("agent/settings.json", { retry: { enabled: false }, ...settings });
  const cli = startCli({ place, args: ["--mode", "rpc", "--no-session", ...args], ...(env && { env }) });
  return { cli, server, model, place };
}

async function prompt(cli: RunningCli, fields: Files = {}): Promise<JsonRecord> {
  expect(await cli.ask({ type: "prompt", message: "hello", ...fields })).toMatchObject({ success: true });
  await cli.records.next({ type: "agent_settled" });
  return cli.records.all.findLast(({ type }) => type === "message_end")?.message as JsonRecord;
}

/** The body of the first request; the answer does not matter. */
async function requestWith(options: Parameters<typeof start>[0], fields: Files = {}): Promise<Body> {
  const { cli, server } = await start(options);
  server.reply({ status: 400, body: "{}" });
  await prompt(cli, fields);
  return (await server.request(0)).body as Body;
}

describe("which model and level", () => {
  const state = async (settings: object) => {
    const { cli } = await start({ settings, args: [] });
    const { model, thinkingLevel } = (await cli.ask({ type: "get_state" })).data as JsonRecord;
    return [(model as JsonRecord).id, thinkingLevel];
  };

  test("defaultProvider, defaultModel, enabledModels and levels", async () => {
    const modelThinkingLevels = { "scripted/thinker": "high", "scripted/other": "off" };
    const states = [
      state({ defaultProvider: "scripted", defaultModel: "plain" }),
      state({ defaultModel: "thinker", defaultThinkingLevel: "low" }),
      state({ defaultThinkingLevel: "low", modelThinkingLevels }),
      state({ enabledModels: ["*/plain", "scripted/thinker:low"] }),
    ];
    expect(await Promise.all(states)).toEqual([
      ["plain", "off"],
      ["thinker", "low"],
      ["thinker", "high"],
      ["plain", "off"],
    ]);
  });
});

describe("what is asked for", () => {
  test("thinkingBudgets", async () => {
    const settings = { defaultThinkingLevel: "low", thinkingBudgets: { low: 3000, nonsense: 5 } };
    const body = await requestWith({ api: "anthropic-messages", settings });
    expect(body.thinking).toMatchObject({ type: "enabled", budget_tokens: 3000 });
  });

  test("thinkingLevelMap: a level with null cannot be chosen, others are sent as they are mapped", async () => {
    const model = { thinkingLevelMap: { high: null, medium: "mid", low: "1" } };
    const { cli, server } = await start({ model });
    const levels = (await cli.ask({ type: "get_available_thinking_levels" })).data;
    expect(levels).toEqual({ levels: ["off", "minimal", "low", "medium"] });
    expect(await cli.ask({ type: "set_thinking_level", level: "high" })).toMatchObject({ data: { level: "medium" } });
    server.reply({ status: 400, body: "{}" });
    await prompt(cli);
    expect(((await server.request(0)).body as Body).reasoning_effort).toBe("mid");
  });

  test("compat of the provider, and of the model before it", async () => {
    const { place, server } = await workspaceWithModel();
    const file = JSON.parse(place.read("agent/models.json"));
    file.providers.scripted.compat = { maxTokensField: "max_tokens", supportsStore: false };
    file.providers.scripted.models[1].compat = { maxTokensField: "max_completion_tokens" };
    place.write("agent/models.json", file);
    place.write("agent/settings.json", { retry: { enabled: false } });
    const cli = startCli({ place, args: ["--mode", "rpc", "--no-session", "--model", "scripted/thinker"] });
    for (const modelId of ["thinker", "plain"]) {
      server.reply({ status: 400, body: "{}" });
      await cli.ask({ type: "set_model", provider: "scripted", modelId });
      await prompt(cli);
    }
    const fields = server.requests.map(({ body }) =>
      ["max_tokens", "max_completion_tokens", "store"].filter((name) => name in (body as Body)),
    );
    expect(fields).toEqual([["max_tokens"], ["max_completion_tokens"]]);
  });

  test("PI_CACHE_RETENTION", async () => {
    const sent = async (env: Record<string, string>) =>
      JSON.stringify(await requestWith({ api: "anthropic-messages", env })).match(/"cache_control":\{[^}]*\}/)?.[0];
    const values = ["", "long", "none"].map((PI_CACHE_RETENTION) => sent({ PI_CACHE_RETENTION }));
    expect(await Promise.all(values)).toEqual([
      '"cache_control":{"type":"ephemeral"}',
      '"cache_control":{"type":"ephemeral","ttl":"1h"}',
      undefined,
    ]);
  });

  test("env beside a stored key", async () => {
    const { place, server } = await workspaceWithModel();
    const credential = { type: "api_key", key: "azure-key", env: { AZURE_OPENAI_BASE_URL: `${server.url}/azure` } };
    place.write("agent/auth.json", { azure: credential });
    place.write("agent/settings.json", { retry: { enabled: false } });
    const cli = startCli({ place, args: ["--mode", "rpc", "--no-session", "--model", "azure/gpt-6.2-sol"] });
    server.reply({ status: 400, body: "{}" });
    await prompt(cli);
    expect(server.requests[0]).toMatchObject({
      path: expect.stringMatching(/^\/azure\/responses/),
      headers: { "api-key": "azure-key" },
    });
  });
});

describe("images", () => {
  const picture = async (width: number, height: number) => {
    const bytes = await sharp({ create: { width, height, channels: 3, background: "#246" } })
      .png()
      .toBuffer();
    return { type: "image", data: bytes.toString("base64"), mimeType: "image/png" };
  };
  /** Sizes of the images in a request. */
  const sizesIn = async (body: Body) => {
    const urls = [...JSON.stringify(body).matchAll(/data:image\/\w+;base64,([A-Za-z0-9+/=]+)/g)];
    const sizes = urls.map(async ([, data]) => sharp(Buffer.from(data as string, "base64")).metadata());
    return (await Promise.all(sizes)).map(({ width, height }) => [width, height]);
  };

  test("autoResize and the model's profile decide on the size", async () => {
    const images = [await picture(2400, 1200)];
    const small = { inputLimits: { images: { resize: { maxWidth: 300, maxHeight: 90 } } } };
    const settings = { images: { autoResize: false } };
    const sizes = [{}, { model: small }, { model: small, settings }].map(async (options) =>
      sizesIn(await requestWith(options, { images })),
    );
    expect(await Promise.all(sizes)).toEqual([[[2000, 1000]], [[180, 90]], [[2400, 1200]]]);
  });

  test("the profile holds for what the read tool shows, also after the model was changed", async () => {
    const resize = { maxWidth: 50, maxHeight: 50 };
    const { cli, server, model, place } = await start({
      args: ["--model", "scripted/plain"],
      model: { inputLimits: { images: { resize } } },
    });
    place.write("project/a.png", Buffer.from((await picture(200, 100)).data, "base64"));
    await cli.ask({ type: "set_model", provider: "scripted", modelId: "thinker" });
    model.answer({ toolCall: "read", arguments: { path: "a.png" } });
    model.answer("seen");
    await prompt(cli);
    expect(await sizesIn((await server.request(1)).body as Body)).toEqual([[50, 25]]);
  });

  test("blockImages keeps them out of requests", async () => {
    const body = await requestWith({ settings: { images: { blockImages: true } } }, { images: [await picture(8, 8)] });
    expect(await sizesIn(body)).toEqual([]);
    expect(JSON.stringify(body)).toContain("[image left out");
  });

  test("more images than the model takes in a message are refused, and the next prompt works", async () => {
    const { cli, model } = await start({ model: { inputLimits: { images: { maxPerMessage: 1 } } } });
    const images = [await picture(8, 8), await picture(8, 8)];
    expect(await cli.ask({ type: "prompt", message: "look", images })).toMatchObject({
      success: false,
      code: "invalid_params",
      error: "A message can carry 1 images at most",
      field: "images",
    });
    model.answer("fine");
    expect(await prompt(cli)).toMatchObject({ stopReason: "stop" });
  });
});

describe("time and repetition", () => {
  test("httpIdleTimeoutMs ends a silent answer", async () => {
    const { cli, model } = await start({ settings: { httpIdleTimeoutMs: 150 } });
    model.answer("half", { end: "stall" });
    expect(await prompt(cli)).toMatchObject({ stopReason: "error", error: { kind: "timeout" } });
  });

  test.each([0, "disabled"])("httpIdleTimeoutMs %j waits for any answer", async (httpIdleTimeoutMs) => {
    const { cli, model } = await start({ settings: { httpIdleTimeoutMs } });
    model.answer({ hold: "answer" }, "late");
    const answered = prompt(cli);
    await cli.records.next({ type: "message_start", message: { role: "assistant" } });
    expect(await cli.ask({ type: "get_state" })).toMatchObject({ data: { isStreaming: true } });
    model.holds.get("answer").release();
    expect(await answered).toMatchObject({ stopReason: "stop" });
  });

  test("retry.provider.timeoutMs ends a request that is not taken", async () => {
    const { cli, server } = await start({ settings: { retry: { enabled: false, provider: { timeoutMs: 150 } } } });
    server.reply({ beforeHeaders: new Hold() });
    expect(await prompt(cli)).toMatchObject({
      error: { kind: "timeout" },
      errorMessage: '"scripted" did not take the request within 0.15 seconds',
    });
  });

  test("retry.provider.maxRetries sends again before anything is announced", async () => {
    const { cli, server, model } = await start({
      settings: { retry: { enabled: false, provider: { maxRetries: 1 } } },
    });
    server.reply({ status: 503, body: "{}" });
    model.answer("at last");
    expect(await prompt(cli)).toMatchObject({ stopReason: "stop" });
    expect(server.requests).toHaveLength(2);
    expect(cli.records.all.filter(({ type }) => type === "auto_retry_start")).toEqual([]);
  });

  test("retry.enabled, maxRetries and baseDelayMs", async () => {
    const { cli, server } = await start({ settings: { retry: { maxRetries: 2, baseDelayMs: 1, maxAgentDelayMs: 1 } } });
    for (let count = 0; count < 4; count += 1) server.reply({ status: 500, body: "{}" });
    expect(await prompt(cli)).toMatchObject({ error: { kind: "server" } });
    expect(server.requests).toHaveLength(3);
    const delays = cli.records.all.filter(({ type }) => type === "auto_retry_start").map(({ delayMs }) => delayMs);
    expect(delays).toEqual([1, 1]);
  });
});

describe("proxies", () => {
  /** A proxy that lets nobody through and remembers what was asked of it. */
  async function proxy() {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(403).end("no");
    });
    server.on("connect", (request, socket) => {
      asked.push(`CONNECT ${request.url}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
    return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }
  const away = { baseUrl: "http://provider.invalid/v1" };

  test.each(["HTTP_PROXY", "http_proxy", "ALL_PROXY"])("%s", async (name) => {
    const { url, asked } = await proxy();
    const { cli } = await start({ env: { [name]: url }, model: away });
    expect(await prompt(cli)).toMatchObject({
      stopReason: "error",
      error: { kind: "transport" },
      errorMessage: "fetch failed: Proxy response (403) !== 200 when HTTP Tunneling",
    });
    expect(asked).toEqual(["CONNECT provider.invalid:80"]);
  });

  test("httpProxy of the user's settings; NO_PROXY excepts hosts", async () => {
    const { url, asked } = await proxy();
    const settings = { httpProxy: url };
    const { cli } = await start({ settings, model: away });
    await prompt(cli);
    expect(asked).toEqual(["CONNECT provider.invalid:80"]);
    const direct = await start({ settings, env: { NO_PROXY: "127.0.0.1" } });
    direct.model.answer("direct");
    expect(await prompt(direct.cli)).toMatchObject({ stopReason: "stop" });
    expect([asked.length, direct.server.requests.length]).toEqual([1, 1]);
  });

  test("answers stream through a proxy as they do without", async () => {
    const { cli, model, server } = await start({
      env: { HTTPS_PROXY: "http://127.0.0.1:9", HTTP_PROXY: "", NO_PROXY: "127.0.0.1" },
    });
    model.answer({ thinking: "hm" }, { text: "one two three", deltas: 3 });
    expect(await prompt(cli)).toMatchObject({
      stopReason: "stop",
      content: [{ thinking: "hm" }, { text: "one two three" }],
    });
    expect(server.requests[0]?.headers.authorization).toBe("Bearer key-for-tests");
  });

  test("one that cannot be used ends the run with one clear error", async () => {
    const { cli, server } = await start({ env: { HTTP_PROXY: "socks5://me:hidden@127.0.0.1:9" } });
    expect(await prompt(cli)).toMatchObject({
      stopReason: "error",
      errorMessage: 'Cannot use proxy "socks5://127.0.0.1:9": only http and https proxies are supported',
    });
    expect(server.requests).toEqual([]);
  });
});
