import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chosenProxy, useProxy } from "../../src/resources/proxy.js";

const proxy = "http://proxy:3128";

describe("chosenProxy", () => {
  test.each<[Record<string, string>, string | undefined, ReturnType<typeof chosenProxy>]>([
    [{}, undefined, undefined],
    [{ NO_PROXY: "*" }, undefined, undefined],
    [{ HTTP_PROXY: "" }, undefined, undefined],
    [{ HTTP_PROXY: proxy }, undefined, { http: proxy }],
    [{ https_proxy: proxy, NO_PROXY: "a,b" }, undefined, { https: proxy, noProxy: "a,b" }],
    [{ http_proxy: proxy, HTTP_PROXY: "http://other" }, undefined, { http: proxy }],
    [{ ALL_PROXY: proxy }, undefined, { http: proxy, https: proxy }],
    [{ ALL_PROXY: "http://all", HTTPS_PROXY: proxy }, undefined, { http: "http://all", https: proxy }],
    [{}, proxy, { http: proxy, https: proxy }],
    [{ HTTPS_PROXY: "http://mine", no_proxy: "x" }, proxy, { http: proxy, https: "http://mine", noProxy: "x" }],
  ])("%j with the setting %j", (env, setting, expected) => {
    expect(chosenProxy(env, setting)).toEqual(expected);
  });
});

describe("useProxy", () => {
  const dispatcher = Symbol.for("undici.globalDispatcher.1");
  let before: unknown;
  let server: Server;
  const seen: string[] = [];

  beforeAll(async () => {
    before = Reflect.get(globalThis, dispatcher);
    // Plain requests come with the whole URL, or ask for a tunnel.
    server = createServer((request, response) => {
      seen.push(request.url ?? "");
      response.end("direct");
    });
    server.on("connect", (request, socket) => {
      seen.push(`CONNECT ${request.url}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    Reflect.set(globalThis, dispatcher, before);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  test("without a proxy nothing is changed", async () => {
    await useProxy(undefined);
    expect(Reflect.get(globalThis, dispatcher)).toBe(before);
  });

  test("requests go through it, but those to hosts that are excepted", async () => {
    await useProxy({ http: url(), noProxy: "127.0.0.1" });
    seen.length = 0;
    await fetch("http://provider.invalid/v1/models").catch(() => undefined);
    expect(seen).toEqual(["CONNECT provider.invalid:80"]);
    seen.length = 0;
    expect(await (await fetch(`${url()}/v1`)).text()).toBe("direct");
    expect(seen).toEqual(["/v1"]);
  });

  test("a proxy may be named without its protocol", async () => {
    await useProxy({ http: url().slice("http://".length) });
    seen.length = 0;
    await fetch("http://provider.invalid/").catch(() => undefined);
    expect(seen).toEqual(["CONNECT provider.invalid:80"]);
  });

  test.each([
    [
      "socks5://user:hidden@proxy:1080",
      'Cannot use proxy "socks5://proxy:1080": only http and https proxies are supported',
    ],
    ["http://user:hidden@pro xy", 'Cannot use proxy "http://pro xy": it is no URL'],
  ])("%s is refused each time, without its password", async (http, message) => {
    for (let round = 0; round < 2; round += 1) await expect(useProxy({ http })).rejects.toThrow(message);
  });
});
