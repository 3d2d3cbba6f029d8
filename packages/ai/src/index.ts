// What this package offers: one model call, its records, and the models it knows.

export { type ApiImplementation, type ApiLoader, type ApiStreamOptions, apiNames, registerApi } from "./apis/index.js";
export { readPartialObject } from "./argument-text.js";
export { type ProviderFacts, providerFacts, providerIds, readProvider } from "./catalogue.js";
export {
  type AssistantMessageEventStream,
  createAssistantMessageEventStream,
  PushedEventStream,
} from "./event-stream.js";
export { excerpt, wholeCharacters } from "./excerpt.js";
export { type AssistantMessageDelta, MessageBuilder, type MessageOrigin } from "./message-builder.js";
export { classifyProviderError, errorInfo, isRetryable, ProviderError } from "./provider-error.js";
export { addressFault, isHeaderName, isHeaderValue, splitLogin } from "./sendable.js";
export { complete, stream } from "./stream.js";
export { clampThinkingLevel, supportedThinkingLevels } from "./thinking.js";
export * from "./types.js";
export { addUsage, emptyUsage, withCost } from "./usage.js";
