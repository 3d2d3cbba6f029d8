// What extensions import as the model layer.

import { type TSchema, Type } from "typebox";
import { sessionId } from "../lib/ids.js";

export {
  clampThinkingLevel,
  createAssistantMessageEventStream,
  PushedEventStream as AssistantMessageEventStream,
  PushedEventStream as EventStream,
  supportedThinkingLevels as getSupportedThinkingLevels,
} from "@earendil-works/pi-ai";
export * from "./ai/apis.js";
export { complete, completeSimple, findEnvKeys, getEnvApiKey, stream, streamSimple } from "./ai/calls.js";
export { parseJsonWithRepair, parseStreamingJson, repairJson } from "./ai/json.js";
export {
  calculateCost,
  envApiKeyAuth,
  getModel,
  getModels,
  getModelType,
  getProviders,
  hasApi,
  isContextOverflow,
  isRetryableAssistantError,
  modelsAreEqual,
} from "./ai/models.js";
export {
  collapseSystemMessages,
  contentText,
  createInitialSystemMessage,
  getCurrentSystemMessage,
  getCurrentSystemPrompt,
  getCurrentTools,
  normalizeContext,
  toToolDeclaration,
} from "./ai/transcript.js";
export { Type };

/** A choice of texts as a plain `enum`, which every provider takes. */
export function StringEnum(
  values: readonly string[],
  options: { description?: string; default?: string } = {},
): TSchema {
  return Type.Unsafe<string>({ type: "string", enum: [...values], ...options });
}

/** An id that sorts by time. */
export function uuidv7(): string {
  return sessionId();
}
