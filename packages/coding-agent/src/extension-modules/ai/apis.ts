// The wire APIs as objects, and providers made of them.

import {
  type ApiImplementation,
  type AssistantMessageEventStream,
  apiNames,
  type Model,
  registerApi,
  type StreamOptions,
  type ThinkingLevel,
} from "@earendil-works/pi-ai";
import { type SimpleStreamOptions, stream, streamSimple } from "./calls.js";
import { normalizeContext, type TranscriptContext } from "./transcript.js";

type Stream = (model: Model, context: TranscriptContext, options?: StreamOptions) => AssistantMessageEventStream;
type SimpleStream = (
  model: Model,
  context: TranscriptContext,
  options?: SimpleStreamOptions,
) => AssistantMessageEventStream;

/** One API: it speaks to any model, whatever API the model itself names. */
export interface ApiStreams {
  stream: Stream;
  streamSimple: SimpleStream;
}

const speak = (api: string) => (): ApiStreams => ({
  stream: (model, context, options) => stream({ ...model, api }, context, options),
  streamSimple: (model, context, options) => streamSimple({ ...model, api }, context, options),
});

export const anthropicMessagesApi = speak("anthropic-messages");
export const openAICompletionsApi = speak("openai-completions");
export const openAIResponsesApi = speak("openai-responses");
export const azureOpenAIResponsesApi = speak("azure-openai-responses");
export const googleGenerativeAIApi = speak("google-generative-ai");
export const googleVertexApi = speak("google-vertex");
export const mistralConversationsApi = speak("mistral-conversations");
export const bedrockConverseStreamApi = speak("bedrock-converse-stream");

export const { stream: streamAnthropic, streamSimple: streamSimpleAnthropic } = anthropicMessagesApi();
export const { stream: streamOpenAICompletions, streamSimple: streamSimpleOpenAICompletions } = openAICompletionsApi();
export const { stream: streamOpenAIResponses, streamSimple: streamSimpleOpenAIResponses } = openAIResponsesApi();
export const { stream: streamAzureOpenAIResponses, streamSimple: streamSimpleAzureOpenAIResponses } =
  azureOpenAIResponsesApi();
export const { stream: streamGoogle, streamSimple: streamSimpleGoogle } = googleGenerativeAIApi();
export const { stream: streamGoogleVertex, streamSimple: streamSimpleGoogleVertex } = googleVertexApi();
export const { stream: streamMistral, streamSimple: streamSimpleMistral } = mistralConversationsApi();

/** The APIs there are now. */
export function getApiProviders(): ({ api: string } & ApiStreams)[] {
  return apiNames().map((api) => ({ api, ...speak(api)() }));
}

/** One API by its name; undefined for an unknown one. */
export function getApiProvider(api: string): ({ api: string } & ApiStreams) | undefined {
  return getApiProviders().find((candidate) => candidate.api === api);
}

const registered = new Map<string, () => void>();

/** Adds an API, or replaces one; every call of a model that names it goes there. */
export function registerApiProvider(provider: { api: string } & Partial<ApiStreams>): void {
  const { api } = provider;
  const implementation = apiImplementation(provider);
  registered.get(api)?.();
  registered.set(
    api,
    registerApi(api, async () => implementation),
  );
}

/** Takes back all APIs that were added. */
export function resetApiProviders(): void {
  for (const putBack of registered.values()) putBack();
  registered.clear();
}

/**
 * An API of this program from functions of an extension. They get the transcript with its system message, and `reasoning`
 * in place of our thinking level.
 */
export function apiImplementation(streams: Partial<ApiStreams>): ApiImplementation {
  const answer = streams.streamSimple ?? streams.stream;
  if (!answer) throw new Error("Cannot register an API: it has neither streamSimple nor stream");
  return {
    stream(model, { systemPrompt, messages, tools }, { thinkingLevel, ...options }) {
      const context = { systemPrompt, tools, ...normalizeContext({ systemPrompt, messages, tools }) };
      return answer(model, context, { ...options, ...reasoningOf(thinkingLevel) });
    },
  };
}

function reasoningOf(level: ThinkingLevel | undefined): { reasoning?: ThinkingLevel } {
  return level === undefined || level === "off" ? {} : { reasoning: level };
}

export interface ProviderDefinition {
  id: string;
  name?: string;
  baseUrl?: string;
  headers?: Record<string, string>;
  auth?: unknown;
  models?: readonly Model[];
  api?: ApiStreams;
  refreshModels?: (context: unknown) => unknown;
  filterModels?: (models: readonly Model[]) => readonly Model[];
}

/** A provider to register: its models, how a key is found, and how it is called. */
export function createProvider(definition: ProviderDefinition) {
  const models = [...(definition.models ?? [])];
  return {
    ...definition,
    name: definition.name ?? definition.id,
    getModels: () => models,
    getAllModels: () => models,
    stream: definition.api?.stream ?? stream,
    streamSimple: definition.api?.streamSimple ?? streamSimple,
  };
}
