// Requests over node:http, and when fetch is used instead.

import { createServer, globalAgent, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { complete } from "../../src/index.js";
import { postOverHttp } from "../../src/language-model/http.js";
import { startReplayServer } from "../../src/testing/index.js";
import { fixture, question, testModel } from "../fixtures.js";

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  undo.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Resolves when the agent has a connection to this server back, to use again. */
const connectionKept = (url: string) =>
  vi.waitFor(() => {
    const hosts = Object.keys(globalAgent.freeSockets).filter((host) => host.includes(new URL(url).port));
    expect(hosts.length).toBe(1);
  });

describe("postOverHttp", () => {
  test("sends the body as it is and gives status, headers and bytes", async () => {
    const server = await startReplayServer();
    undo.push(() => server.close());
    server.reply({ status: 201, headers: { "x-one": "1", "set-cookie": "a" }, body: ["ab", "c"] });
    const response = await postOverHttp(`${server.url}/p?q=1`, { headers: { "x-two": "2" }, body: '{"text":"한글"}' });
    expect([response.ok, response.status, response.headers.get("x-one")]).toEqual([true, 201, "1"]);
    const reader = response.body.getReader();
    let text = "";
    for (let step = await reader.read(); !step.done; step = await reader.read()) text += Buffer.from(step.value);
    expect(text).toBe("abc");
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      path: "/p?q=1",
      headers: { "x-two": "2", "content-length": "17" },
      body: { text: "한글" },
    });
  });

  test("an abort is the signal's reason, before and after the headers", async () => {
    const server = await startReplayServer();
    undo.push(() => server.close());
    const aborted = AbortSignal.abort();
    await expect(postOverHttp(server.url, { headers: {}, body: "{}", signal: aborted })).rejects.toBe(aborted.reason);
    server.reply({ body: ["x", "stall"] });
    const controller = new AbortController();
    const response = await postOverHttp(server.url, { headers: {}, body: "{}", signal: controller.signal });
    const reader = response.body.getReader();
    await reader.read();
    controller.abort();
    await expect(reader.read()).rejects.toBe(controller.signal.reason);
    expect(await server.requests[0]?.closed).toBe(true);
  });

  test("a cut connection is fetch's fault: terminated, with the cause", async () => {
    const server = await startReplayServer();
    undo.push(() => server.close());
    server.reply({ body: ["x", "cut"] });
    const reader = (await postOverHttp(server.url, { headers: {}, body: "{}" })).body.getReader();
    await reader.read();
    await expect(reader.read()).rejects.toMatchObject({
      name: "TypeError",
      message: "terminated",
      cause: { message: "other side closed", code: "ECONNRESET" },
    });
  });

  test("a kept connection that the server closes as it is used again is replaced, once", async () => {
    let requests = 0;
    const sockets = new Set<Socket>();
    const url = await listening(
      createServer((request, response) => {
        requests++;
        sockets.add(request.socket);
        // The second request comes on the kept connection, which dies under it.
        if (requests === 2) request.socket.destroy();
        else request.resume().on("end", () => response.end("ok"));
      }),
    );
    const post = async () => {
      const reader = (await postOverHttp(url, { headers: {}, body: "{}" })).body.getReader();
      while (!(await reader.read()).done);
    };
    await post();
    await connectionKept(url);
    await post();
    expect([requests, sockets.size]).toEqual([3, 2]);
  });

  test("a new connection that dies is not tried again", async () => {
    let requests = 0;
    const url = await listening(
      createServer((request) => {
        requests++;
        request.socket.destroy();
      }),
    );
    await expect(postOverHttp(url, { headers: {}, body: "{}" })).rejects.toMatchObject({ message: "fetch failed" });
    expect(requests).toBe(1);
  });
});

describe("watchFetch", () => {
  const key = Symbol.for("undici.globalDispatcher.1");

  test("a replaced fetch and a dispatcher of somebody's own count, undici's own dispatcher does not", async () => {
    // A module of its own: it remembers what it saw.
    vi.resetModules();
    undo.push(() => vi.resetModules());
    const { watchFetch } = await import("../../src/language-model/http.js");
    const known: unknown = Reflect.get(globalThis, key);
    undo.push(() => Reflect.set(globalThis, key, known));
    Reflect.set(globalThis, key, undefined);
    const first = watchFetch();
    const own = {};
    Reflect.set(globalThis, key, own);
    expect(first()).toBe(false);
    expect(watchFetch()()).toBe(false);
    Reflect.set(globalThis, key, {});
    expect(watchFetch()()).toBe(true);
    Reflect.set(globalThis, key, own);
    const spy = vi.spyOn(globalThis, "fetch");
    undo.push(() => spy.mockRestore());
    expect(watchFetch()()).toBe(true);
  });
});

test.each(["anthropic-messages", "openai-completions"])("%s keeps its connection for the next call", async (api) => {
  const sockets = new Set<Socket>();
  const url = await listening(
    createServer((request, response) => {
      sockets.add(request.socket);
      response.writeHead(200, { "content-type": "text/event-stream" });
      request.resume().on("end", () => response.end(fixture(api, "text")));
    }),
  );
  for (let call = 0; call < 3; call++) {
    const options = { apiKey: "k", fetch: postOverHttp as typeof fetch };
    expect((await complete(testModel(api, url), question, options)).stopReason).toBe("stop");
    await connectionKept(url);
  }
  expect(sockets.size).toBe(1);
});
