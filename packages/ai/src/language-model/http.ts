// Sends one request over node:http, where nobody has configured fetch: the first call costs about 50 ms of CPU less.

import type { IncomingMessage, RequestOptions } from "node:http";

/** The part of an answer that the providers' packages use; a `Response` has it too. */
export interface WireResponse {
  ok: boolean;
  status: number;
  headers: Iterable<[string, string]> & { get(name: string): string | null | undefined };
  body: { getReader(): WireReader };
}

export interface WireReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value: undefined }>;
  cancel(reason?: unknown): Promise<void>;
  releaseLock(): void;
}

export interface WireInit {
  headers: Record<string, string>;
  body: string;
  signal?: AbortSignal | null;
}

/** The fetch of this process before anybody could replace it. */
const nativeFetch = globalThis.fetch;
/** Where undici keeps the dispatcher that every fetch goes through. */
const dispatcherKey = Symbol.for("undici.globalDispatcher.1");
/** The dispatcher that undici makes for itself when something loads it; any other was set by somebody, with a purpose. */
let ownDispatcher: unknown;

/**
 * Whether somebody made fetch different from a plain request, with a proxy or timeouts for instance, so that requests
 * have to go through it. Asked before a provider's package runs, which may load undici; the answer holds for that request.
 */
export function watchFetch(): () => boolean {
  const before: unknown = Reflect.get(globalThis, dispatcherKey);
  return () => {
    const dispatcher: unknown = Reflect.get(globalThis, dispatcherKey);
    if (before === undefined) ownDispatcher ??= dispatcher;
    return globalThis.fetch !== nativeFetch || (dispatcher !== undefined && dispatcher !== ownDispatcher);
  };
}

/**
 * Posts a body and answers when the headers are in. Bytes are read as they are asked for. Faults have fetch's form: a
 * TypeError `fetch failed` or `terminated` with the cause; an abort is the signal's reason.
 */
export async function postOverHttp(url: string, init: WireInit): Promise<WireResponse> {
  const target = new URL(url);
  // An import would read all exports, of which one loads undici on newer versions of Node.
  const { request } = process.getBuiltinModule(target.protocol === "http:" ? "node:http" : "node:https");
  const body = Buffer.from(init.body, "utf8");
  const options: RequestOptions = {
    method: "POST",
    headers: { accept: "*/*", "accept-encoding": "identity", ...init.headers, "content-length": body.byteLength },
    signal: init.signal ?? undefined,
  };
  const post = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(target, options, resolve);
      sent.on("error", (cause) => reject(Object.assign(cause, { reusedSocket: sent.reusedSocket })));
      sent.end(body);
    });
  let message: IncomingMessage;
  try {
    message = await post().catch((fault: Fault) => {
      // The server closed a kept connection just as it was used again: it has seen nothing of this request.
      if (fault.reusedSocket && (fault.code === "ECONNRESET" || fault.code === "EPIPE")) return post();
      throw fault;
    });
  } catch (cause) {
    init.signal?.throwIfAborted();
    throw new TypeError("fetch failed", { cause });
  }
  return responseOf(message, init.signal);
}

interface Fault extends Error {
  code?: string;
  reusedSocket?: boolean;
}

function responseOf(message: IncomingMessage, signal: AbortSignal | null | undefined): WireResponse {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  const status = message.statusCode ?? 0;
  return { ok: status >= 200 && status < 300, status, headers, body: { getReader: () => readerOf(message, signal) } };
}

function readerOf(message: IncomingMessage, signal: AbortSignal | null | undefined): WireReader {
  const bytes: AsyncIterator<Uint8Array, undefined> = message[Symbol.asyncIterator]();
  return {
    async read() {
      try {
        const step = await bytes.next();
        return step.done ? { done: true, value: undefined } : { done: false, value: step.value };
      } catch (fault) {
        signal?.throwIfAborted();
        // Node says "aborted" of a connection that the other side closed in the middle.
        const cause = (fault as Fault).message === "aborted" ? closedByServer((fault as Fault).code) : fault;
        throw new TypeError("terminated", { cause });
      }
    },
    cancel() {
      message.destroy();
      return Promise.resolve();
    },
    releaseLock() {},
  };
}

function closedByServer(code: string | undefined): Error {
  return Object.assign(new Error("other side closed"), { code: code ?? "ECONNRESET" });
}
