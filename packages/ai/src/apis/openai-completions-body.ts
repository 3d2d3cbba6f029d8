// Edits a chat completions body into what the model's server wants; one row a difference.

import type { DialectCall, JsonBody } from "../language-model/dialect.js";
import type { ThinkingLevel } from "../types.js";
import { thinkingBudgets } from "./anthropic-thinking.js";
import { type ChatCompat, chatCompat, type ThinkingFormat } from "./openai-completions-compat.js";

/** What the edits know of a call. */
interface Edit extends DialectCall {
  compat: ChatCompat;
  reasoning: Reasoning | undefined;
}

/** How much to think; undefined when the model does not reason or nobody said. */
interface Reasoning {
  on: boolean;
  level: ThinkingLevel;
  /** The server's word for the level; undefined when the map says that there is none. */
  effort: string | undefined;
  /** In tokens; undefined when off. */
  budget: number | undefined;
}

/** In this order; the caller's own fields come last and win. */
const edits: readonly ((body: JsonBody, edit: Edit) => void)[] = [
  function limits(body, { model, options, compat }) {
    delete body.max_tokens;
    body[compat.maxTokensField] = options.maxTokens ?? model.maxTokens;
    if (options.temperature !== undefined) body.temperature = options.temperature;
  },
  function store(body, { compat }) {
    // Conversations are not to be kept on the server.
    if (compat.supportsStore) body.store = false;
  },
  function developerRole(body, { model, compat }) {
    if (!compat.supportsDeveloperRole || !model.reasoning) return;
    for (const message of messagesOf(body)) if (message.role === "system") message.role = "developer";
  },
  function assistantContent(body, { compat, reasoning }) {
    for (const message of messagesOf(body)) {
      if (message.role !== "assistant") continue;
      if (compat.requiresNonNullAssistantContent) message.content ??= "";
      if (compat.requiresReasoningContentOnAssistantMessages && reasoning?.on) message.reasoning_content ??= "";
    }
  },
  function toolHistory(body, { compat }) {
    if (!compat.requiresToolsWithToolHistory || body.tools) return;
    if (messagesOf(body).some((message) => message.role === "tool" || message.tool_calls)) body.tools = [];
  },
  function toolStream(body, { compat }) {
    if (compat.zaiToolStream && body.tools) body.tool_stream = true;
  },
  function thinking(body, edit) {
    if (!edit.reasoning) return;
    Object.assign(body, thinkingFields[edit.compat.thinkingFormat](edit.reasoning, edit.compat));
    const field =
      edit.compat.thinkingTokenBudgetField ??
      (edit.compat.supportsThinkingTokenBudget ? "thinking_token_budget" : undefined);
    if (field && edit.reasoning.budget !== undefined) body[field] = edit.reasoning.budget;
  },
  function promptCache(body, { model, options, compat }) {
    if (options.cacheRetention === "none") return;
    const long = options.cacheRetention === "long" && compat.supportsLongCacheRetention;
    const automatic = /api\.openai\.com/.test(model.baseUrl) || long;
    const mode = compat.promptCacheKeyMode;
    if (options.sessionId && (mode === "enabled" || (mode === "auto" && automatic)))
      body.prompt_cache_key = options.sessionId.slice(0, 64);
    if (compat.cacheControlFormat === "anthropic") markCache(body, long);
    else if (long) body.prompt_cache_retention = "24h";
  },
  function routing(body, { compat }) {
    if (compat.openRouterRouting) body.provider = compat.openRouterRouting;
    if (compat.vercelGatewayRouting) body.providerOptions = { gateway: compat.vercelGatewayRouting };
    if (compat.vllmPriority !== undefined) body.priority = compat.vllmPriority;
  },
  function sampling(body, { model, options }) {
    Object.assign(body, model.samplingParams);
    if (options.thinkingLevel) Object.assign(body, model.samplingParamsByThinkingLevel?.[options.thinkingLevel]);
  },
];

/** Makes a body the one the model's server wants. */
export function editBody(body: JsonBody, call: DialectCall): void {
  const edit: Edit = { ...call, compat: chatCompat(call.model), reasoning: reasoningOf(call) };
  for (const apply of edits) apply(body, edit);
}

function reasoningOf({ model, options }: DialectCall): Reasoning | undefined {
  const level = options.thinkingLevel;
  if (!model.reasoning || level === undefined) return undefined;
  const mapped = model.thinkingLevelMap?.[level];
  if (level === "off") return { on: false, level, effort: mapped ?? undefined, budget: undefined };
  const room = (options.maxTokens ?? model.maxTokens) - 1024;
  const budget = Math.max(0, Math.min(options.thinkingBudgets?.[level] ?? thinkingBudgets[level], room));
  return { on: true, level, effort: mapped === null ? undefined : (mapped ?? level), budget };
}

/** The fields each format sends. */
const thinkingFields: Readonly<Record<ThinkingFormat, (reasoning: Reasoning, compat: ChatCompat) => JsonBody>> = {
  // Off is said only where the model's map has a word for it.
  openai: ({ effort }, compat) => effortField(effort, compat),
  openrouter: ({ on, effort }) => ({ reasoning: { effort: effort ?? (on ? "medium" : "none") } }),
  deepseek: (reasoning, compat) => ({
    thinking: { type: reasoning.on ? "enabled" : "disabled" },
    ...effortWhenOn(reasoning, compat),
  }),
  together: (reasoning, compat) => ({ reasoning: { enabled: reasoning.on }, ...effortWhenOn(reasoning, compat) }),
  baseten: (reasoning, compat) => ({
    ...templateField("chat_template_args", compat.chatTemplateArgs, reasoning),
    ...effortWhenOn(reasoning, compat),
  }),
  zai: (reasoning, compat) => ({
    thinking: reasoning.on ? { type: "enabled", clear_thinking: false } : { type: "disabled" },
    ...effortWhenOn(reasoning, compat),
  }),
  qwen: (reasoning, compat) => ({ enable_thinking: reasoning.on, ...effortWhenOn(reasoning, compat) }),
  "chat-template": (reasoning, compat) => templateField("chat_template_kwargs", compat.chatTemplateKwargs, reasoning),
  "qwen-chat-template": ({ on }) => ({ chat_template_kwargs: { enable_thinking: on, preserve_thinking: true } }),
  "string-thinking": ({ on, effort }) => ({ thinking: effort ?? (on ? "medium" : "none") }),
  "ant-ling": ({ on, effort }) => (on && effort !== undefined ? { reasoning: { effort } } : {}),
};

function effortField(effort: string | undefined, compat: ChatCompat): JsonBody {
  return compat.supportsReasoningEffort && effort !== undefined ? { reasoning_effort: effort } : {};
}

function effortWhenOn({ on, effort }: Reasoning, compat: ChatCompat): JsonBody {
  return on ? effortField(effort, compat) : {};
}

/** Arguments of a chat template; `{"$var": "thinking.…"}` stands for what is in force, and is left out when it has no value. */
function templateField(field: string, template: Record<string, unknown> | undefined, reasoning: Reasoning): JsonBody {
  const values: Record<string, unknown> = {
    "thinking.enabled": reasoning.on,
    "thinking.effort": reasoning.on ? reasoning.effort : undefined,
    "thinking.budget": reasoning.budget,
  };
  const filled: JsonBody = {};
  for (const [name, value] of Object.entries(template ?? {})) {
    const variable = (value as { $var?: unknown } | null)?.$var;
    const known = typeof variable === "string" ? values[variable] : value;
    if (known !== undefined) filled[name] = known;
  }
  return Object.keys(filled).length > 0 ? { [field]: filled } : {};
}

/** Anthropic's cache marks, for gateways that pass them on: system prompt, last tool, newest text of the conversation. */
function markCache(body: JsonBody, long: boolean): void {
  const cacheControl = { type: "ephemeral", ...(long ? { ttl: "1h" } : {}) };
  const messages = messagesOf(body);
  const marked = [
    messages.find((message) => message.role === "system" || message.role === "developer"),
    messages.findLast((message) => message.role !== "system" && message.role !== "developer" && hasText(message)),
  ];
  for (const message of marked) {
    if (!message) continue;
    if (typeof message.content === "string") message.content = [{ type: "text", text: message.content }];
    const text = (message.content as JsonBody[]).findLast((part) => part.type === "text");
    if (text) text.cache_control = cacheControl;
  }
  const tools = Array.isArray(body.tools) ? (body.tools as JsonBody[]) : [];
  const lastTool = tools.at(-1);
  if (lastTool) lastTool.cache_control = cacheControl;
}

function hasText(message: JsonBody): boolean {
  if (typeof message.content === "string") return message.content !== "";
  return Array.isArray(message.content) && message.content.some((part) => (part as JsonBody).type === "text");
}

function messagesOf(body: JsonBody): JsonBody[] {
  return body.messages as JsonBody[];
}
