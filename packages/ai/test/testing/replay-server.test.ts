// The server that plays a provider.

import { afterEach, expect, test } from "vitest";
import { hold, type ReplayServer, startReplayServer } from "../../src/testing/index.js";

let server: ReplayServer;
afterEach(() => server.close());

const post = (path = "/", init: RequestInit = {}) =>
  fetch(`${server.url}${path}`, { method: "POST", body: '{"a":1}', ...init });

test("plays replies in order and records requests", async () => {
  server = await startReplayServer();
  server.reply({ body: "data: x\n\n" }, { status: 429, headers: { "retry-after": "1" }, body: "{}" });
  const first = await post("/v1/x");
  expect([first.status, first.headers.get("content-type"), await first.text()]).toEqual([
    200,
    "text/event-stream",
    "data: x\n\n",
  ]);
  const second = await post("/y", { body: "no json" });
  expect([second.status, second.headers.get("content-type"), second.headers.get("retry-after")]).toEqual([
    429,
    "application/json",
    "1",
  ]);
  expect((await post()).status).toBe(500);
  expect(server.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["POST", "/v1/x", { a: 1 }],
    ["POST", "/y", "no json"],
    ["POST", "/", { a: 1 }],
  ]);
  expect(await server.requests[0]?.closed).toBe(false);
  expect(server.bytesSent).toBeGreaterThanOrEqual(9);
});

test("holds bytes and headers until they are released", async () => {
  server = await startReplayServer();
  const [headers, middle] = [hold(), hold()];
  server.reply({ beforeHeaders: headers, body: ["a", middle, "b"] });
  let answered = false;
  const pending = post().then((response) => {
    answered = true;
    return response;
  });
  await headers.reached;
  expect(answered).toBe(false);
  headers.release();
  const response = await pending;
  await middle.reached;
  middle.release();
  expect(await response.text()).toBe("ab");
});

test("cut breaks the connection, stall waits for the client to leave", async () => {
  server = await startReplayServer();
  server.reply({ body: ["a", "cut"] }, { body: ["a", "stall"] });
  await expect(post().then((response) => response.text())).rejects.toThrow("terminated");
  expect(await server.requests[0]?.closed).toBe(true);
  const controller = new AbortController();
  const response = await post("/", { signal: controller.signal });
  controller.abort();
  await expect(response.text()).rejects.toThrow();
  expect(await (await server.request(1)).closed).toBe(true);
});
