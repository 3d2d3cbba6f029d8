// What one wire API adds to the shared bridge: its model, its body, and how it says that an answer is over.

import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { ApiStreamOptions } from "../apis/index.js";
import type { ProviderError } from "../provider-error.js";
import type { AssistantMessage, Context, Model } from "../types.js";
import type { PartReader } from "./parts.js";
import type { ConvertedPrompt, PromptTarget } from "./prompt.js";

export type JsonBody = Record<string, unknown>;

/** How an answer ended: well, or as a failure. */
export type Ending = "stop" | "length" | "toolUse" | ProviderError;

/** One call, as the hooks of a dialect see it. */
export interface DialectCall {
  model: Model;
  context: Context;
  options: ApiStreamOptions;
}

/** What the provider's package needs for one request. */
export interface ModelWiring {
  fetch: typeof globalThis.fetch;
  /** Takes the body the package made, edits it, and keeps it for `fetch`; the package gets an empty one to send. */
  takeBody: (body: JsonBody) => JsonBody;
  /** The reader of this answer, for what the package does not pass on. */
  reader: PartReader;
}

/** The parts of one answer, pulled one by one. */
export interface PartStream {
  read(): Promise<{ done: false; value: LanguageModelV3StreamPart } | { done: true; value?: undefined }>;
  cancel(): Promise<void>;
}

/** What the bridge uses of a provider's package; a LanguageModelV3 is one. */
export interface StreamingModel {
  doStream(options: LanguageModelV3CallOptions): PromiseLike<{
    stream: ReadableStream<LanguageModelV3StreamPart> | { getReader(): PartStream };
  }>;
}

/** A request as it will be sent. */
export interface FinishedRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface Dialect {
  promptTarget(model: Model): PromptTarget;
  makeModel(call: DialectCall, wiring: ModelWiring): StreamingModel;
  /** The request's headers, names in lower case; `custom` are those of model and caller, which win. */
  headers(call: DialectCall, custom: Readonly<Record<string, string>>): Record<string, string>;
  /**
   * Headers that depend on the finished request, such as a signature, or that take time to get. Rejects with a
   * ProviderError when there are no credentials.
   */
  authorize?(request: FinishedRequest, call: DialectCall): Promise<Record<string, string>>;
  /** Everything that differs between the package's body and what this model gets. */
  editBody(body: JsonBody, call: DialectCall, prompt: ConvertedPrompt): void;
  /** Something that sees the answer's bytes before the package, until it returns true. */
  inspector?(reader: PartReader): (bytes: Uint8Array) => boolean;
  /** A chunk that the package's schema does not know, and that is otherwise skipped. */
  readOddChunk?(chunk: unknown, reader: PartReader): void;
  readFinish?(part: LanguageModelV3StreamPart & { type: "finish" }, reader: PartReader): void;
  /** How an answer ended whose stream is complete; `raw` is undefined when the provider gave no reason. */
  ending(end: StreamEnd, call: DialectCall): Ending;
  /** The text of an HTTP refusal, in the way the API's users know it. */
  refusalText(status: number, body: unknown, call: DialectCall): string;
  /** The text of an error record inside the stream. */
  streamErrorText(body: unknown): string;
}

/** The end of a stream as the provider's package tells it. */
export interface StreamEnd {
  raw: string | undefined;
  unified: string | undefined;
  message: AssistantMessage;
}
