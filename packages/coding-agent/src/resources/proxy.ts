// Sends the requests of this process through the proxy that the environment or the settings name.

import type { Environment } from "./config-value.js";

/** A proxy by the kind of URL it is for; `noProxy` lists hosts that are reached directly, separated by commas. */
export interface ProxyChoice {
  http?: string;
  https?: string;
  noProxy?: string;
}

/** A proxy that cannot be used; the text holds no password. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
}

/**
 * What `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say, in lower case first as curl reads them; the setting
 * `httpProxy` stands in for variables that are not set. Undefined without any proxy.
 */
export function chosenProxy(env: Environment, setting: string | undefined): ProxyChoice | undefined {
  const variable = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const all = setting ?? variable("ALL_PROXY");
  const http = variable("HTTP_PROXY") ?? all;
  const https = variable("HTTPS_PROXY") ?? all;
  if (!http && !https) return undefined;
  const noProxy = variable("NO_PROXY");
  return { ...(http && { http }), ...(https && { https }), ...(noProxy && { noProxy }) };
}

let inUse: { key: string; ready: Promise<void> } | undefined;

/**
 * Makes every later fetch of this process go through the proxy; cheap to call before each request. Rejects with
 * `ProxyError` for a URL that names no proxy.
 */
export function useProxy(choice: ProxyChoice | undefined): Promise<void> {
  if (!choice) return Promise.resolve();
  const key = JSON.stringify(choice);
  if (inUse?.key !== key) {
    const ready = install(choice);
    inUse = { key, ready };
    // Asked for again, a bad choice is refused again.
    ready.catch(() => undefined);
  }
  return inUse.ready;
}

async function install({ http, https, noProxy = "" }: ProxyChoice): Promise<void> {
  const [httpProxy = "", httpsProxy = ""] = [checked(http), checked(https)];
  // Loaded only where there is a proxy: saves 100 ms. In a bundle it has a default export only.
  const { EnvHttpProxyAgent, setGlobalDispatcher } = (await import("undici")).default;
  // Silence is watched where answers are read. An empty text keeps the agent from looking at the environment itself.
  setGlobalDispatcher(new EnvHttpProxyAgent({ httpProxy, httpsProxy, noProxy, headersTimeout: 0, bodyTimeout: 0 }));
}

/** The URL with `http:` in front when it names none, as curl takes it. */
function checked(proxy: string | undefined): string | undefined {
  if (!proxy) return undefined;
  const text = proxy.includes("://") ? proxy : `http://${proxy}`;
  const named = text.replace(/\/\/[^@/]*@/, "//");
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new ProxyError(`Cannot use proxy "${named}": it is no URL`);
  }
  if (url.protocol === "http:" || url.protocol === "https:") return text;
  throw new ProxyError(`Cannot use proxy "${named}": only http and https proxies are supported`);
}
