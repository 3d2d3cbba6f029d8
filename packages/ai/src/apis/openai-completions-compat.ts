// The differences between OpenAI's chat completions and a server that copies it: from the model, else from its URL.

import type { Model } from "../types.js";

/** Ways to ask for reasoning. */
export type ThinkingFormat =
  | "openai"
  | "openrouter"
  | "deepseek"
  | "together"
  | "baseten"
  | "zai"
  | "qwen"
  | "chat-template"
  | "qwen-chat-template"
  | "string-thinking"
  | "ant-ling";

/** What a server supports and wants; every difference a model's `compat` can name that a request depends on. */
export interface ChatCompat {
  supportsStore: boolean;
  supportsDeveloperRole: boolean;
  supportsReasoningEffort: boolean;
  supportsUsageInStreaming: boolean;
  supportsFinishReason: boolean;
  supportsStrictMode: boolean;
  maxTokensField: "max_completion_tokens" | "max_tokens";
  requiresToolResultName: boolean;
  requiresAssistantAfterToolResult: boolean;
  requiresNonNullAssistantContent: boolean;
  requiresToolsWithToolHistory: boolean;
  requiresThinkingAsText: boolean;
  requiresReasoningContentOnAssistantMessages: boolean;
  thinkingFormat: ThinkingFormat;
  chatTemplateKwargs?: Record<string, unknown>;
  chatTemplateArgs?: Record<string, unknown>;
  openRouterRouting?: Record<string, unknown>;
  vercelGatewayRouting?: Record<string, unknown>;
  zaiToolStream: boolean;
  thinkingTokenBudgetField?: string;
  supportsThinkingTokenBudget?: boolean;
  cacheControlFormat?: "anthropic";
  sendSessionAffinityHeaders: boolean;
  sessionAffinityFormat: "openai" | "openai-nosession" | "openrouter";
  promptCacheKeyMode: "auto" | "enabled" | "disabled";
  supportsLongCacheRetention: boolean;
  vllmPriority?: number;
}

const standard: ChatCompat = {
  supportsStore: true,
  supportsDeveloperRole: false,
  supportsReasoningEffort: true,
  supportsUsageInStreaming: true,
  supportsFinishReason: true,
  supportsStrictMode: false,
  maxTokensField: "max_completion_tokens",
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  requiresNonNullAssistantContent: false,
  requiresToolsWithToolHistory: false,
  requiresThinkingAsText: false,
  requiresReasoningContentOnAssistantMessages: false,
  thinkingFormat: "openai",
  zaiToolStream: false,
  sendSessionAffinityHeaders: false,
  sessionAffinityFormat: "openai",
  promptCacheKeyMode: "auto",
  supportsLongCacheRetention: true,
};

/** Known hosts; a row that matches the base URL is laid over the standard. Sources: the hosts' own API documents. */
const hosts: readonly (readonly [RegExp, Partial<ChatCompat>])[] = [
  [/api\.openai\.com/, { supportsDeveloperRole: true }],
  [
    /openrouter\.ai/,
    { thinkingFormat: "openrouter", sendSessionAffinityHeaders: true, sessionAffinityFormat: "openrouter" },
  ],
  [
    /deepseek\.com/,
    {
      supportsStore: false,
      maxTokensField: "max_tokens",
      thinkingFormat: "deepseek",
      requiresReasoningContentOnAssistantMessages: true,
    },
  ],
  [
    /api\.z\.ai|bigmodel\.cn/,
    { supportsStore: false, maxTokensField: "max_tokens", supportsReasoningEffort: false, thinkingFormat: "zai" },
  ],
  [/together\.(?:ai|xyz)/, { supportsStore: false, maxTokensField: "max_tokens", thinkingFormat: "together" }],
  [/baseten\.co/, { supportsStore: false, maxTokensField: "max_tokens", thinkingFormat: "baseten" }],
  [/ant-ling\.com/, { supportsStore: false, maxTokensField: "max_tokens", thinkingFormat: "ant-ling" }],
  [
    /dashscope|qwencloudapi|qianwenaiapi/,
    { supportsStore: false, maxTokensField: "max_tokens", thinkingFormat: "qwen" },
  ],
  [/api\.x\.ai/, { supportsStore: false, supportsReasoningEffort: false }],
  [/moonshot\.(?:ai|cn)/, { supportsStore: false, maxTokensField: "max_tokens", supportsReasoningEffort: false }],
  [/mistral\.ai/, { supportsStore: false, maxTokensField: "max_tokens", requiresToolResultName: true }],
  [/chutes\.ai/, { supportsStore: false, maxTokensField: "max_tokens" }],
  [
    /cloudflare\.com/,
    {
      supportsStore: false,
      maxTokensField: "max_tokens",
      supportsReasoningEffort: false,
      supportsLongCacheRetention: false,
    },
  ],
  [/cerebras\.ai|groq\.com|fireworks\.ai|nvidia\.com|opencode\.ai/, { supportsStore: false }],
];

const resolved = new WeakMap<Model, ChatCompat>();

/** The differences in force for a model: its own `compat`, else its host's, else none. */
export function chatCompat(model: Model): ChatCompat {
  let compat = resolved.get(model);
  if (!compat) {
    const fromHost = hosts.filter(([url]) => url.test(model.baseUrl)).map(([, differences]) => differences);
    compat = Object.assign({}, standard, ...fromHost, model.compat) as ChatCompat;
    resolved.set(model, compat);
  }
  return compat;
}
