// The registry of wire APIs: the name a model carries → the file that speaks it, loaded on first use.

import type { AssistantMessageEvent, Context, Model, StreamOptions } from "../types.js";

/**
 * One wire API. `stream` answers with events that end in one `done` or `error`; it is called once per model call and is
 * read only as fast as the consumer pulls. `options.signal` is always set; it aborts when the call is over before the
 * API has said its last event (abort, timeout, the consumer left): stop then, nothing more is read. In any case the
 * iterator's `return` is called at the end. Throwing is allowed and becomes an `error` event; a missing `start` is
 * added, a missing end becomes an error of kind `incomplete`. `MessageBuilder` makes the events:
 *
 *     async *stream(model) {
 *       const builder = MessageBuilder.begin({ model });
 *       yield builder.start();
 *       yield builder.startText();
 *       yield builder.appendText("Hello");
 *       yield* builder.done("stop");
 *     }
 */
export interface ApiImplementation {
  stream(model: Model, context: Context, options: ApiStreamOptions): AsyncIterable<AssistantMessageEvent>;
}

/** The caller's options, with the signal that ends the call. */
export type ApiStreamOptions = StreamOptions & { signal: AbortSignal };

/** Loads an implementation; called at most once at a time, and again after it failed. */
export type ApiLoader = () => Promise<ApiImplementation>;

// Loaded lazily: a process uses one or two of them, and what some bring along costs 45 to 150 ms.
const loaders = new Map<string, ApiLoader>([
  ["anthropic-messages", async () => (await import("./anthropic-messages.js")).anthropicMessagesApi],
  ["openai-completions", async () => (await import("./openai-completions.js")).openaiCompletionsApi],
  ["openai-responses", async () => (await import("./openai-responses.js")).openaiResponsesApi],
  ["azure-openai-responses", async () => (await import("./azure-openai-responses.js")).azureOpenaiResponsesApi],
  ["google-generative-ai", async () => (await import("./google-generative-ai.js")).googleGenerativeAiApi],
  ["google-vertex", async () => (await import("./google-vertex.js")).googleVertexApi],
  ["mistral-conversations", async () => (await import("./mistral-conversations.js")).mistralConversationsApi],
  ["bedrock-converse-stream", async () => (await import("./bedrock-converse-stream.js")).bedrockConverseStreamApi],
  ["demo", async () => (await import("./demo.js")).demoApi],
]);
const loaded = new Map<string, Promise<ApiImplementation>>();

/** Adds an API or replaces one; takes effect for the next call. Returns a function that puts back what was there. */
export function registerApi(name: string, loader: ApiLoader): () => void {
  const previous = loaders.get(name);
  loaders.set(name, loader);
  loaded.delete(name);
  return () => {
    if (loaders.get(name) !== loader) return;
    if (previous) loaders.set(name, previous);
    else loaders.delete(name);
    loaded.delete(name);
  };
}

/** The names of all registered APIs. */
export function apiNames(): string[] {
  return [...loaders.keys()];
}

/** The implementation of an API; undefined when no API has that name. Rejects when its file cannot be loaded. */
export async function loadApi(name: string): Promise<ApiImplementation | undefined> {
  const known = loaded.get(name);
  if (known) return known;
  const loader = loaders.get(name);
  if (!loader) return undefined;
  const loading = loader();
  loaded.set(name, loading);
  // A failed load is not remembered, so that a later call can succeed.
  loading.catch(() => {
    if (loaded.get(name) === loading) loaded.delete(name);
  });
  return loading;
}
