// How the wire APIs differ in what they can say, for the tests that walk all of them.

import { existsSync } from "node:fs";
import { apiNames } from "../src/index.js";
import { postOverHttp } from "../src/language-model/http.js";
import { fixtureUrl } from "./fixtures.js";

/** The APIs that have recorded streams. */
export const wireApis = apiNames().filter((name) => existsSync(fixtureUrl(name, "text")));

// Named, because which of them a call takes by itself depends on what else the process has loaded.
const transports = { "node:http": { fetch: postOverHttp as typeof fetch }, fetch: { fetch: globalThis.fetch } };
/** Every API over every transport. */
export const cases = wireApis.flatMap((api) =>
  Object.entries(transports).map(([transport, send]) => ({ api, transport, send })),
);

/** What an API cannot say, or says in its own way. */
export interface Traits {
  /** Names the answer and the model that gave it. */
  names: boolean;
  /** Signs thinking. */
  signs: boolean;
  /** Sends the arguments of a call bit by bit. */
  streamsArguments: boolean;
  /** Counts tokens written to a cache. */
  countsCacheWrites: boolean;
  /** Counts thinking apart. */
  countsReasoning: boolean;
  /** Its requests say that they want a stream. */
  asksForStream: boolean;
  /** What keeps an idle connection open. */
  noise: string;
  /** The ids of calls and results in a request. */
  callId: RegExp;
  /** The text of a refusal. */
  refusal: (status: number, body: string) => string;
}
const usual: Traits = {
  names: true,
  signs: true,
  streamsArguments: true,
  countsCacheWrites: true,
  countsReasoning: true,
  asksForStream: true,
  noise: ": keep-alive\n\n",
  callId: /"(?:call_id|tool_call_id)":"[^"]*"|"id":"[^"]*","type":"function"/g,
  refusal: (status, body) => `${status}: ${body}`,
};
const errorOf = (body: string) => (body.startsWith("{") ? JSON.stringify(JSON.parse(body).error) : body);
const responses = { refusal: (status: number, body: string) => `test API error (${status}): ${errorOf(body)}` };
const gemini = {
  streamsArguments: false,
  countsCacheWrites: false,
  asksForStream: false,
  callId: /"id":"[^"]*"/g,
  refusal: (_status: number, body: string) => body,
};
/** The APIs that have to be there, and how they differ from the usual. */
export const differences: Record<string, Partial<Traits>> = {
  "anthropic-messages": {
    noise: ': keep-alive\n\nevent: ping\ndata: {"type":"ping"}\n\n',
    callId: /"(?:id|tool_use_id)":"[^"]*"/g,
    refusal: (status, body) => `${status} ${body}`,
  },
  "openai-completions": { refusal: (status, body) => `${status}: ${errorOf(body)}` },
  "openai-responses": responses,
  "azure-openai-responses": responses,
  "google-generative-ai": gemini,
  "google-vertex": gemini,
  "mistral-conversations": { signs: false, countsCacheWrites: false },
  "bedrock-converse-stream": {
    names: false,
    countsReasoning: false,
    asksForStream: false,
    noise: "",
    callId: /"toolUseId":"[^"]*"/g,
  },
};

export function traitsOf(api: string): Traits {
  return { ...usual, ...differences[api] };
}

/** The body of a refusal that says that the prompt is too long, in the API's words. */
export function overflowBody(api: string): string {
  return JSON.stringify(overflows[api] ?? openaiOverflow);
}

const geminiOverflow = {
  error: {
    code: 400,
    message: "The input token count (210000) exceeds the maximum number of tokens allowed (200000).",
    status: "INVALID_ARGUMENT",
  },
};
const overflows: Record<string, object> = {
  "anthropic-messages": {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
  },
  "google-generative-ai": geminiOverflow,
  "google-vertex": geminiOverflow,
  "mistral-conversations": {
    object: "error",
    message: "Prompt contains 210000 tokens, too large for model with 200000 maximum context length",
    type: "invalid_request_prompt",
  },
  "bedrock-converse-stream": { message: "Input is too long for requested model." },
};
const openaiOverflow = {
  error: {
    message: "This model's maximum context length is 200000 tokens.",
    type: "invalid_request_error",
    code: "context_length_exceeded",
  },
};
