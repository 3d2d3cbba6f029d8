// The records of one model call: models, messages, usage, and the deltas a stream is made of.

import type { Static } from "typebox";
import * as Type from "typebox";

/** Content a person or a model wrote. `textSignature` is opaque provider metadata to send back unchanged. */
export const TextContent = Type.Object(
  { type: Type.Literal("text"), text: Type.String(), textSignature: Type.Optional(Type.String()) },
  { title: "TextContent" },
);
export type TextContent = Static<typeof TextContent>;

/** `data` is base64 without a data-URL prefix; `mimeType` is such as `image/png`. */
export const ImageContent = Type.Object(
  { type: Type.Literal("image"), data: Type.String(), mimeType: Type.String() },
  { title: "ImageContent" },
);
export type ImageContent = Static<typeof ImageContent>;

/** Reasoning text. `thinkingSignature` is opaque; a redacted block has only the signature. */
export const ThinkingContent = Type.Object(
  {
    type: Type.Literal("thinking"),
    thinking: Type.String(),
    thinkingSignature: Type.Optional(Type.String()),
    redacted: Type.Optional(Type.Boolean()),
  },
  { title: "ThinkingContent" },
);
export type ThinkingContent = Static<typeof ThinkingContent>;

/**
 * A call the model asks for. `incompleteArguments` holds the raw argument text when it was not complete JSON;
 * `arguments` is then `{}` and the call must never be executed.
 */
export const ToolCall = Type.Object(
  {
    type: Type.Literal("toolCall"),
    id: Type.String(),
    name: Type.String(),
    arguments: Type.Record(Type.String(), Type.Unknown()),
    thoughtSignature: Type.Optional(Type.String()),
    namespace: Type.Optional(Type.String()),
    incompleteArguments: Type.Optional(Type.String()),
  },
  { title: "ToolCall" },
);
export type ToolCall = Static<typeof ToolCall>;

/** US dollars. */
export const UsageCost = Type.Object(
  {
    input: Type.Number(),
    output: Type.Number(),
    cacheRead: Type.Number(),
    cacheWrite: Type.Number(),
    total: Type.Number(),
  },
  { title: "UsageCost" },
);
export type UsageCost = Static<typeof UsageCost>;

/**
 * Tokens of one or more model calls. `input` excludes cached tokens; `reasoning` is part of `output` and
 * `cacheWrite1h` part of `cacheWrite`. `estimated` marks a count the provider never reported.
 */
export const Usage = Type.Object(
  {
    input: Type.Number(),
    output: Type.Number(),
    cacheRead: Type.Number(),
    cacheWrite: Type.Number(),
    cacheWrite1h: Type.Optional(Type.Number()),
    reasoning: Type.Optional(Type.Number()),
    totalTokens: Type.Number(),
    cost: UsageCost,
    estimated: Type.Optional(Type.Boolean()),
  },
  { title: "Usage" },
);
export type Usage = Static<typeof Usage>;

/** Why a message ended; `pending` only while it streams, `error` and `aborted` are never sent back to a model. */
export const StopReason = Type.Union(
  [
    Type.Literal("pending"),
    Type.Literal("stop"),
    Type.Literal("length"),
    Type.Literal("toolUse"),
    Type.Literal("error"),
    Type.Literal("aborted"),
  ],
  { title: "StopReason" },
);
export type StopReason = Static<typeof StopReason>;

/** What kind of failure a provider call ended in; retry, recovery and texts are decided by it. */
export const ProviderErrorKind = Type.Union(
  [
    Type.Literal("overloaded"),
    Type.Literal("rate_limit"),
    Type.Literal("quota"),
    Type.Literal("server"),
    Type.Literal("transport"),
    Type.Literal("incomplete"),
    Type.Literal("timeout"),
    Type.Literal("overflow"),
    Type.Literal("auth"),
    Type.Literal("not_found"),
    Type.Literal("invalid_request"),
    Type.Literal("refusal"),
    Type.Literal("aborted"),
    Type.Literal("other"),
  ],
  { title: "ProviderErrorKind" },
);
export type ProviderErrorKind = Static<typeof ProviderErrorKind>;

/** `status` is the HTTP status, `retryAfterMs` the server's wish in milliseconds, `code` the provider's own error type. */
export const ErrorInfo = Type.Object(
  {
    kind: ProviderErrorKind,
    status: Type.Optional(Type.Number()),
    retryAfterMs: Type.Optional(Type.Number()),
    code: Type.Optional(Type.String()),
  },
  { title: "ErrorInfo" },
);
export type ErrorInfo = Static<typeof ErrorInfo>;

export const ThinkingLevel = Type.Union(
  [
    Type.Literal("off"),
    Type.Literal("minimal"),
    Type.Literal("low"),
    Type.Literal("medium"),
    Type.Literal("high"),
    Type.Literal("xhigh"),
    Type.Literal("max"),
  ],
  { title: "ThinkingLevel" },
);
export type ThinkingLevel = Static<typeof ThinkingLevel>;
export const thinkingLevels: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** `timestamp` is in milliseconds since the epoch. A plain string as content is accepted on load, never emitted. */
export const UserMessage = Type.Object(
  {
    role: Type.Literal("user"),
    content: Type.Union([Type.String(), Type.Array(Type.Union([TextContent, ImageContent]))]),
    attachments: Type.Optional(Type.Array(Type.Unknown())),
    timestamp: Type.Number(),
  },
  { title: "UserMessage" },
);
export type UserMessage = Static<typeof UserMessage>;

export const AssistantMessage = Type.Object(
  {
    role: Type.Literal("assistant"),
    content: Type.Array(Type.Union([TextContent, ThinkingContent, ToolCall])),
    api: Type.String(),
    provider: Type.String(),
    model: Type.String(),
    responseModel: Type.Optional(Type.String()),
    responseId: Type.Optional(Type.String()),
    thinkingLevel: Type.Optional(ThinkingLevel),
    usage: Usage,
    stopReason: StopReason,
    rawStopReason: Type.Optional(Type.String()),
    errorMessage: Type.Optional(Type.String()),
    error: Type.Optional(ErrorInfo),
    durationMs: Type.Optional(Type.Number()),
    timestamp: Type.Number(),
  },
  { title: "AssistantMessage" },
);
export type AssistantMessage = Static<typeof AssistantMessage>;

/** `usage` reports model work done inside the tool; it counts in session totals. `details` belongs to the tool. */
export const ToolResultMessage = Type.Object(
  {
    role: Type.Literal("toolResult"),
    toolCallId: Type.String(),
    toolName: Type.String(),
    content: Type.Array(Type.Union([TextContent, ImageContent])),
    details: Type.Optional(Type.Unknown()),
    structuredContent: Type.Optional(Type.Unknown()),
    usage: Type.Optional(Usage),
    isError: Type.Boolean(),
    timestamp: Type.Number(),
  },
  { title: "ToolResultMessage" },
);
export type ToolResultMessage = Static<typeof ToolResultMessage>;

export const Message = Type.Union([UserMessage, AssistantMessage, ToolResultMessage], { title: "Message" });
export type Message = Static<typeof Message>;

/** US dollars per million tokens. The tier with the highest `inputTokensAbove` below the request's input applies to all of it. */
export const ModelCost = Type.Object(
  {
    input: Type.Number(),
    output: Type.Number(),
    cacheRead: Type.Number(),
    cacheWrite: Type.Number(),
    tiers: Type.Optional(
      Type.Array(
        Type.Object({
          inputTokensAbove: Type.Number(),
          input: Type.Number(),
          output: Type.Number(),
          cacheRead: Type.Number(),
          cacheWrite: Type.Number(),
        }),
      ),
    ),
  },
  { title: "ModelCost" },
);
export type ModelCost = Static<typeof ModelCost>;

/**
 * Facts of one model. `contextWindow` and `maxTokens` are in tokens; `thinkingLevelMap` gives the provider's value
 * for a level and `null` for one it cannot do; `compat` names verified differences from the API's standard.
 */
export const Model = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    api: Type.String(),
    provider: Type.String(),
    baseUrl: Type.String(),
    reasoning: Type.Boolean(),
    input: Type.Array(Type.Union([Type.Literal("text"), Type.Literal("image")])),
    contextWindow: Type.Number(),
    maxTokens: Type.Number(),
    cost: ModelCost,
    thinkingLevelMap: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))),
    compat: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    inputLimits: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    promptCache: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    samplingParams: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    samplingParamsByThinkingLevel: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
    ),
    type: Type.Optional(Type.String()),
  },
  { title: "Model" },
);
export type Model = Static<typeof Model>;

/** A tool as the model sees it; `parameters` is a JSON Schema of type object. */
export interface Tool {
  name: string;
  description: string;
  parameters: object;
  /** Asks that arguments be made to fit the schema while they are written, where the model can; otherwise it is ignored. */
  constrainedSampling?: { type: "json_schema" };
}

/** What one model call is made of. The system prompt is never a message. */
export interface Context {
  systemPrompt?: string;
  messages: readonly Message[];
  tools?: readonly Tool[];
}

/**
 * One step of a streaming answer. Blocks are numbered by `contentIndex`, their place in `content`; a text or thinking
 * block ends before the next block starts, only tool calls may overlap. A stream is `start`, block events, then exactly
 * one `done` or `error`. `partial` is the message so far: one live object, the same in every event, never a copy.
 */
export type AssistantMessageEvent =
  | { type: "start"; partial: AssistantMessage }
  | { type: "text_start"; contentIndex: number; partial: AssistantMessage }
  | { type: "text_delta"; contentIndex: number; delta: string; partial: AssistantMessage }
  | { type: "text_end"; contentIndex: number; content: string; partial: AssistantMessage }
  | { type: "thinking_start"; contentIndex: number; partial: AssistantMessage }
  | { type: "thinking_delta"; contentIndex: number; delta: string; partial: AssistantMessage }
  | { type: "thinking_end"; contentIndex: number; content: string; partial: AssistantMessage }
  | { type: "toolcall_start"; contentIndex: number; id: string; toolName: string; partial: AssistantMessage }
  | { type: "toolcall_delta"; contentIndex: number; delta: string; partial: AssistantMessage }
  | { type: "toolcall_end"; contentIndex: number; toolCall: ToolCall; partial: AssistantMessage }
  | { type: "done"; reason: "stop" | "length" | "toolUse"; message: AssistantMessage }
  | { type: "error"; reason: "error" | "aborted"; error: AssistantMessage };

/** `longestWaitMs` is the longest wait a server may ask for; for a longer one the refusal stands. 0 = any. */
export interface RequestRetries {
  count: number;
  longestWaitMs: number;
}

/** How a call is made. Every field is optional; absence means the model's or the API's default. */
export interface StreamOptions {
  apiKey?: string;
  /** Added to the model's own headers; wins over them. */
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Already clamped to what the model supports; `off` asks a reasoning model not to think. */
  thinkingLevel?: ThinkingLevel;
  /** Thinking budget in tokens by level, for APIs that take a budget. */
  thinkingBudgets?: Partial<Record<ThinkingLevel, number>>;
  maxTokens?: number;
  temperature?: number;
  /** Names the conversation to the provider, for prompt-cache routing. */
  sessionId?: string;
  cacheRetention?: "none" | "short" | "long";
  /** Milliseconds without a meaningful event (pings and comments do not count) before the call fails as `timeout`; 0 = never. */
  idleTimeoutMs?: number;
  /** Milliseconds until the provider must have taken the request, before the call fails as `timeout`; 0 = any time. */
  requestTimeoutMs?: number;
  /** Sends a request again by itself when it was refused for a reason that may pass, before anything was answered. */
  requestRetries?: RequestRetries;
  fetch?: typeof globalThis.fetch;
  /** Variables that stand before those of the process: regions, projects and credentials of cloud providers. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Sees, and may replace, the request body. */
  onPayload?: (payload: unknown, model: Model) => unknown | Promise<unknown>;
  onResponse?: (response: { status: number; headers: Record<string, string> }, model: Model) => void | Promise<void>;
  /** Sees the assembled headers of a request, before its body, and gives those to send; retries send the same. */
  onHeaders?: (
    headers: Record<string, string>,
    model: Model,
  ) => Record<string, string> | Promise<Record<string, string>>;
  /** Sees each part of an answer before it is made sense of; what it returns is waited for. */
  onStreamEvent?: (part: unknown) => void | Promise<void>;
}
