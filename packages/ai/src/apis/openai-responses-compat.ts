// The differences between OpenAI's Responses API and a server that copies it: from the model, else from its URL.

import type { Model } from "../types.js";

/** Every difference a model's `compat` can name that a request depends on. */
export interface ResponsesCompat {
  supportsDeveloperRole: boolean;
  supportsReasoningEffort: boolean;
  sessionAffinityFormat: "openai" | "openai-nosession" | "openrouter";
  promptCacheKeyMode: "auto" | "enabled" | "disabled";
  supportsLongCacheRetention: boolean;
  /** Long retention is asked for with `prompt_cache_options`. */
  supportsExplicitPromptCacheMode: boolean;
  supportsStrictMode: boolean;
  /** Changes of the thinking level are items of the conversation, so that what is before them stays cached. */
  supportsMidConvoEffort: boolean;
  supportsMaxOutputTokens: boolean;
}

const standard: ResponsesCompat = {
  supportsDeveloperRole: true,
  supportsReasoningEffort: true,
  sessionAffinityFormat: "openai",
  promptCacheKeyMode: "auto",
  supportsLongCacheRetention: true,
  supportsExplicitPromptCacheMode: false,
  supportsStrictMode: false,
  supportsMidConvoEffort: false,
  supportsMaxOutputTokens: true,
};

/** The differences in force for a model: its own `compat`, else its host's, else none. */
export function responsesCompat(model: Model): ResponsesCompat {
  const openRouter = /openrouter\.ai/.test(model.baseUrl) ? ({ sessionAffinityFormat: "openrouter" } as const) : {};
  // OpenAI's own servers take schemas as strict ones unless they are told not to.
  const own = /api\.openai\.com/.test(model.baseUrl) || model.api === "azure-openai-responses";
  return { ...standard, supportsStrictMode: own, ...openRouter, ...(model.compat as Partial<ResponsesCompat>) };
}
