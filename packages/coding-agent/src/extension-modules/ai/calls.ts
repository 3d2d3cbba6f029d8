// Model calls as extensions make them: with a key at hand, and a thinking level instead of what one API calls it.

import {
  type AssistantMessage,
  type AssistantMessageEventStream,
  clampThinkingLevel,
  type Model,
  providerFacts,
  type StreamOptions,
  stream as streamModel,
  type ThinkingLevel,
} from "@earendil-works/pi-ai";
import { type TranscriptContext, toModelContext } from "./transcript.js";

/** What a call may be told. `reasoning` is a thinking level. Without a key that of the environment is used. */
export interface SimpleStreamOptions extends Omit<StreamOptions, "thinkingLevel"> {
  reasoning?: ThinkingLevel;
}

/** Calls a model with the options of the call itself; nothing throws, a failure is the last event. */
export function stream(
  model: Model,
  context: TranscriptContext,
  options: StreamOptions = {},
): AssistantMessageEventStream {
  const apiKey = options.apiKey ?? getEnvApiKey(model.provider, options.env);
  return streamModel(model, toModelContext(context), { ...options, ...(apiKey && { apiKey }) });
}

/** The final message of such a call. */
export function complete(model: Model, context: TranscriptContext, options?: StreamOptions): Promise<AssistantMessage> {
  return stream(model, context, options).result();
}

/** Calls a model with options that mean the same for all of them. */
export function streamSimple(
  model: Model,
  context: TranscriptContext,
  { reasoning, ...options }: SimpleStreamOptions = {},
): AssistantMessageEventStream {
  const thinkingLevel = reasoning && clampThinkingLevel(model, reasoning);
  return stream(model, context, { ...options, ...(thinkingLevel && { thinkingLevel }) });
}

/** The final message of such a call. */
export function completeSimple(
  model: Model,
  context: TranscriptContext,
  options?: SimpleStreamOptions,
): Promise<AssistantMessage> {
  return streamSimple(model, context, options).result();
}

/** The key of a provider in the environment; undefined when there is none, or the provider is unknown. */
export function getEnvApiKey(provider: string, env?: Readonly<Record<string, string | undefined>>): string | undefined {
  const variables = { ...process.env, ...env };
  const [name] = findEnvKeys(provider, env) ?? [];
  return name && variables[name];
}

/** The variables that hold keys of a provider now; undefined when there is none. */
export function findEnvKeys(
  provider: string,
  env?: Readonly<Record<string, string | undefined>>,
): string[] | undefined {
  const facts = providerFacts(provider);
  const variables = { ...process.env, ...env };
  const found = [...(facts?.env ?? []), ...(facts?.bearerEnv ?? [])].filter((name) => variables[name]);
  return found.length > 0 ? found : undefined;
}
