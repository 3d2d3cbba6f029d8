// The one fetch of all providers: sends the payload that hooks agreed on, and turns refusals into ProviderError.

import { shortenBody } from "../error-text.js";
import { failureInfo, ProviderError } from "../provider-error.js";
import type { Model, StreamOptions } from "../types.js";

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
  /** Sees the bytes of the answer as they come, until it returns true. */
  inspect?: (bytes: Uint8Array) => boolean;
}

/** A refusal's body is read only this far, in bytes. */
const longestRefusal = 64 * 1024;

/** A fetch for a provider's package, good for one request. */
export function makeFetch(wire: WireRequest): typeof globalThis.fetch {
  return async (input, init) => {
    const { model, options } = wire;
    let payload = wire.payload;
    // The conversation can be large: only the text that is sent stays in memory while the answer streams.
    wire.payload = undefined;
    if (options.onPayload) payload = (await options.onPayload(payload, model)) ?? payload;
    const send = options.fetch ?? globalThis.fetch;
    const response = await send(input, { ...init, body: JSON.stringify(payload) });
    if (options.onResponse) await options.onResponse({ status: response.status, headers: headersOf(response) }, model);
    if (!response.ok) throw await refusal(response, wire);
    const type = response.headers.get("content-type") ?? "";
    if (/\b(?:json|html)\b/i.test(type)) throw await refusal(response, wire);
    wire.onAccepted();
    return wire.inspect ? inspected(response, wire.inspect) : response;
  };
}

async function refusal(response: Response, wire: WireRequest): Promise<ProviderError> {
  const text = await readSome(response);
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Not JSON: the text itself is all there is.
  }
  const headers = headersOf(response);
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
async function readSome(response: Response): Promise<string> {
  const reader = response.body?.getReader();
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

/** The same answer; its first bytes are shown to `inspect`, all bytes go through untouched. */
function inspected(response: Response, inspect: (bytes: Uint8Array) => boolean): Response {
  const reader = response.body?.getReader();
  if (!reader) return response;
  let done = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const step = await reader.read();
        if (step.done) return controller.close();
        if (!done) done = inspect(step.value);
        controller.enqueue(step.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead of the provider's package.
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

function headersOf(response: Response): Record<string, string> {
  return Object.fromEntries(response.headers.entries());
}
