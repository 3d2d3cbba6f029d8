// The one fetch of all providers: sends the payload that hooks agreed on, and turns refusals into ProviderError.

import { redactSecrets, secretsOf, shortenBody } from "../error-text.js";
import { failureInfo, ProviderError } from "../provider-error.js";
import type { Model, StreamOptions } from "../types.js";
import { checkAddress, checkHeaders } from "./check-request.js";
import type { FinishedRequest } from "./dialect.js";
import { postOverHttp, type WireInit, type WireReader, type WireResponse, watchFetch } from "./http.js";
import { sendRepeatedly } from "./repeat.js";

/** One request to a provider. */
export interface WireRequest {
  model: Model;
  options: StreamOptions;
  /** The body to send; the provider's package puts it here before it calls fetch, and need not make text of it. */
  payload: unknown;
  /** Called once when the provider accepted the request. */
  onAccepted: () => void;
  /** The text of a refusal, in the way the API's users know it. */
  refusalText: (status: number, body: unknown) => string;
  /** Headers that depend on the finished request. */
  authorize?: (request: FinishedRequest) => Promise<Record<string, string>>;
  /** Sees the bytes of the answer as they come, until it returns true. */
  inspect?: (bytes: Uint8Array) => boolean;
}

/** A refusal's body is read only this far, in bytes. */
const longestRefusal = 64 * 1024;

/** A fetch for a provider's package, good for one request. */
export function makeFetch(wire: WireRequest): typeof globalThis.fetch {
  const isFetchConfigured = watchFetch();
  return async (input, init) => {
    const { model, options } = wire;
    checkAddress(model, String(input));
    let payload = wire.payload;
    // The conversation can be large: only the text that is sent stays in memory while the answer streams.
    wire.payload = undefined;
    let headersSent = init?.headers as Record<string, string>;
    if (options.onHeaders) {
      headersSent = await options.onHeaders({ ...headersSent }, model);
      checkHeaders(model, headersSent);
    }
    if (options.onPayload) payload = (await options.onPayload(payload, model)) ?? payload;
    const send = options.fetch ?? (isFetchConfigured() ? globalThis.fetch : postOverHttp);
    const body = JSON.stringify(payload);
    if (wire.authorize) {
      headersSent = { ...headersSent, ...(await wire.authorize({ url: String(input), headers: headersSent, body })) };
      checkHeaders(model, headersSent);
    }
    const request = { ...init, headers: headersSent, body } as RequestInit & WireInit;
    const attempt = (): Promise<WireResponse | Response> => send(String(input), request);
    const { requestRetries, signal } = options;
    let response =
      requestRetries && requestRetries.count > 0 && signal
        ? await sendRepeatedly(attempt, requestRetries, signal)
        : await attempt();
    const headers = Object.fromEntries(response.headers);
    if (options.onResponse) await options.onResponse({ status: response.status, headers }, model);
    if (!response.ok) throw await refusal(response, headers, wire, headersSent);
    // Some servers call their event stream JSON, others answer with a page or a record: the first bytes tell.
    if (/\b(?:json|html)\b/i.test(headers["content-type"] ?? "")) {
      const { first, whole } = await withFirstBytes(response);
      if (/^\s*[[{<]/.test(first)) throw await refusal(whole, headers, wire, headersSent);
      response = whole;
    }
    wire.onAccepted();
    // The packages use no more of a response than this.
    return (wire.inspect ? inspected(response, wire.inspect) : response) as Response;
  };
}

async function refusal(
  response: WireResponse | Response,
  headers: Record<string, string>,
  wire: WireRequest,
  sent: Readonly<Record<string, string>>,
): Promise<ProviderError> {
  // Servers send back what they were sent; what was made for this request alone is known here only.
  const text = redactSecrets(await readSome(response), secretsOf({ headers: sent }));
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Not JSON: the text itself is all there is.
  }
  if (response.ok) {
    const info = failureInfo({ headers, body });
    const told = typeof body === "string" ? shortenBody(body) : shortenBody(JSON.stringify(body));
    const kind = info.kind === "other" ? "incomplete" : info.kind;
    return new ProviderError(`Answer is no event stream: ${told}`, { ...info, kind });
  }
  const info = failureInfo({ status: response.status, headers, body });
  return new ProviderError(wire.refusalText(response.status, body), info);
}

/** The text of a body, as far as it is worth reading; what broke off is not an error of its own. */
async function readSome(response: WireResponse | Response): Promise<string> {
  const reader = response.body?.getReader() as WireReader | undefined;
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    while (bytes < longestRefusal) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
  } catch {
    // The refusal is known by its status already.
  }
  return text;
}

/** The first bytes of an answer, and the same answer with them still to read. */
async function withFirstBytes(response: WireResponse | Response): Promise<{ first: string; whole: WireResponse }> {
  const { ok, status, headers } = response;
  const reader = response.body?.getReader() as WireReader;
  const step = await reader.read();
  let unread: typeof step | undefined = step;
  const again: WireReader = {
    read: () => {
      const next = unread;
      unread = undefined;
      return next ? Promise.resolve(next) : reader.read();
    },
    cancel: (reason) => reader.cancel(reason),
    releaseLock: () => reader.releaseLock(),
  };
  const first = step.done ? "" : new TextDecoder().decode(step.value);
  return { first, whole: { ok, status, headers: new Map(headers), body: { getReader: () => again } } };
}

/** The same answer; its first bytes are shown to `inspect`, all bytes go through untouched and when they are asked for. */
function inspected(response: WireResponse | Response, inspect: (bytes: Uint8Array) => boolean): WireResponse {
  const { ok, status, headers } = response;
  const getReader = (): WireReader => {
    const reader = response.body?.getReader() as WireReader;
    let done = false;
    return {
      async read() {
        const step = await reader.read();
        if (!step.done && !done) done = inspect(step.value);
        return step;
      },
      cancel: (reason) => reader.cancel(reason),
      releaseLock: () => reader.releaseLock(),
    };
  };
  return { ok, status, headers: new Map(headers), body: { getReader } };
}
