// Speaks the Anthropic messages API, to Anthropic itself and to servers that copy it.

import { AnthropicMessagesLanguageModel } from "@ai-sdk/anthropic/internal";
import { createParser } from "eventsource-parser";
import { bodyText } from "../error-text.js";
import { makeApi } from "../language-model/call.js";
import type { Dialect, DialectCall, Ending, JsonBody, StreamEnd } from "../language-model/dialect.js";
import { failed, type PartReader } from "../language-model/parts.js";
import { type ConvertedPrompt, type PromptTarget, thinkingAsText } from "../language-model/prompt.js";
import type { Model, ThinkingContent, Usage } from "../types.js";
import { emptyUsage } from "../usage.js";
import { type AnthropicCompat, planThinking } from "./anthropic-thinking.js";

const dialect: Dialect = {
  promptTarget,
  makeModel: ({ model }, wiring) =>
    new AnthropicMessagesLanguageModel(model.id, {
      provider: "anthropic.messages",
      baseURL: model.baseUrl,
      buildRequestUrl: messagesUrl,
      // All headers come with the call; the package would look for keys in the environment.
      headers: {},
      fetch: wiring.fetch,
      transformRequestBody: wiring.takeBody,
    }),
  headers,
  editBody,
  inspector: usageInspector,
  readOddChunk,
  readFinish: (part, reader) => {
    const usage = part.usage.raw;
    if (usage) reader.setUsage(readUsage(usage));
  },
  ending,
  refusalText: (status, body) => `${status} ${bodyText(body)}`,
  streamErrorText: bodyText,
};

/** The Anthropic messages API. */
export const anthropicMessagesApi = makeApi(dialect);

/** Base URLs are given with and without the version. */
function messagesUrl(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, "");
  return base.endsWith("/v1") ? `${base}/messages` : `${base}/v1/messages`;
}

function promptTarget(model: Model): PromptTarget {
  const allowEmptySignature = compatOf(model).allowEmptySignature === true;
  return {
    model,
    key: `anthropic\n${model.provider}\n${model.id}\n${model.input.join()}\n${allowEmptySignature}`,
    longestToolCallId: 64,
    imagesInToolResults: true,
    thinkingPart: (block) => ownThinking(block, allowEmptySignature),
  };
}

/** Thinking goes back with its signature; without one it is only text, unless the server takes it so. */
function ownThinking(block: ThinkingContent, allowEmptySignature: boolean) {
  const signature = block.thinkingSignature ?? "";
  if (block.redacted)
    return signature
      ? { type: "reasoning" as const, text: "", providerOptions: { anthropic: { redactedData: signature } } }
      : undefined;
  if (!signature && !(allowEmptySignature && block.thinking.trim() !== "")) return thinkingAsText(block);
  return { type: "reasoning" as const, text: block.thinking, providerOptions: { anthropic: { signature } } };
}

function headers({ model, context, options }: DialectCall, custom: Readonly<Record<string, string>>) {
  const compat = compatOf(model);
  const sent: Record<string, string> = { "anthropic-version": "2023-06-01" };
  const betas: string[] = [];
  const key = options.apiKey;
  if (key && !custom.authorization && !custom["x-api-key"]) {
    // Tokens of a subscription login are bearer tokens, keys are not.
    if (key.startsWith("sk-ant-oat")) sent.authorization = `Bearer ${key}`;
    else sent["x-api-key"] = key;
  }
  if ((sent.authorization ?? custom.authorization)?.startsWith("Bearer sk-ant-oat")) betas.push("oauth-2025-04-20");
  if (planThinking(model, options).thinking?.type === "enabled") betas.push("interleaved-thinking-2025-05-14");
  if (compat.supportsEagerToolInputStreaming === false && context.tools?.length)
    betas.push("fine-grained-tool-streaming-2025-05-14");
  const session = options.cacheRetention === "none" ? undefined : options.sessionId;
  if (session && (compat.sendSessionAffinityHeaders ?? /openrouter\.ai/.test(model.baseUrl))) {
    const openRouter = compat.sessionAffinityFormat === "openrouter" || /openrouter\.ai/.test(model.baseUrl);
    sent[openRouter ? "x-session-id" : "x-session-affinity"] = session;
  }
  const allBetas = [...new Set([...betas, ...(custom["anthropic-beta"] ?? "").split(",").map((beta) => beta.trim())])];
  const beta = allBetas.filter((name) => name !== "").join(",");
  return { ...sent, ...custom, ...(beta ? { "anthropic-beta": beta } : {}) };
}

/** The package's own ideas of limits and thinking follow its table of models; ours follow the model's facts. */
function editBody(body: JsonBody, { model, context, options }: DialectCall, prompt: ConvertedPrompt): void {
  const compat = compatOf(model);
  const plan = planThinking(model, options);
  body.max_tokens = plan.maxTokens;
  if (plan.thinking) body.thinking = plan.thinking;
  if (plan.effort) body.output_config = { effort: plan.effort };
  // Anthropic refuses a temperature while thinking.
  const thinks = plan.thinking !== undefined && plan.thinking.type !== "disabled";
  if (options.temperature !== undefined && !thinks && compat.supportsTemperature !== false)
    body.temperature = options.temperature;
  if (compat.supportsEagerToolInputStreaming === false)
    for (const tool of records(body.tools)) delete tool.eager_input_streaming;
  for (const [at, tool] of records(body.tools).entries())
    if (compat.supportsStrictTools && context.tools?.[at]?.constrainedSampling) tool.strict = true;
    else delete tool.strict;
  separateUserMessages(body, prompt);
  if (prompt.failedWithImages.length > 0) markFailedResults(body, prompt.failedWithImages);
  if (options.cacheRetention !== "none") markCache(body, compat, options.cacheRetention === "long");
}

/**
 * The package joins what users said in a row, and tool results before it, into one message. The model then reads two
 * texts as one sentence, so each user message stands alone again; tool results stay together.
 */
function separateUserMessages(body: JsonBody, { prompt }: ConvertedPrompt): void {
  const messages = records(body.messages);
  const separate: JsonBody[] = [];
  let at = 0;
  const lengths = runsOfUserBlocks(prompt);
  for (const message of messages) {
    const run = message.role === "user" ? lengths[at++] : undefined;
    const content = records(message.content);
    if (!run || run.length < 2 || run.reduce((sum, length) => sum + length, 0) !== content.length)
      separate.push(message);
    else
      for (let from = 0, part = 0; part < run.length; from += run[part++]!)
        separate.push({ ...message, content: content.slice(from, from + run[part]!) });
  }
  body.messages = separate;
}

/** For each run of user and tool messages, how many blocks go into each message of its own. */
function runsOfUserBlocks(prompt: ConvertedPrompt["prompt"]): number[][] {
  const runs: number[][] = [];
  let before: string | undefined;
  for (const { role, content } of prompt) {
    if (role === "user" || role === "tool") {
      const isRun = before === "user" || before === "tool";
      if (!isRun) runs.push([]);
      const run = runs.at(-1)!;
      if (role === "tool" && before === "tool") run[run.length - 1]! += content.length;
      else run.push(content.length);
    }
    before = role;
  }
  return runs;
}

/** Cache up to the system prompt, the tools, and the newest message of the user. */
function markCache(body: JsonBody, compat: AnthropicCompat, long: boolean): void {
  const ttl = long && compat.supportsLongCacheRetention !== false ? { ttl: "1h" } : {};
  const mark = (target: JsonBody | undefined) => {
    if (target) target.cache_control = { type: "ephemeral", ...ttl };
  };
  mark(records(body.system).at(-1));
  if (compat.supportsCacheControlOnTools !== false) mark(records(body.tools).at(-1));
  const last = records(body.messages).findLast((message) => message.role === "user");
  mark(records(last?.content).at(-1));
}

function markFailedResults(body: JsonBody, failedIds: readonly string[]): void {
  for (const message of records(body.messages))
    for (const block of records(message.content))
      if (block.type === "tool_result" && failedIds.includes(String(block.tool_use_id))) block.is_error = true;
}

/** Reads the usage in `message_start`, which the package tells only at the end, so that an abort can report it too. */
function usageInspector(reader: PartReader): (bytes: Uint8Array) => boolean {
  const decoder = new TextDecoder();
  let done = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (done || !data.includes('"message_start"')) return;
      done = true;
      try {
        const usage = (JSON.parse(data) as { message?: { usage?: JsonBody } }).message?.usage;
        if (usage) reader.setUsage(readUsage(usage));
      } catch {
        // The package meets the same line and reports it.
      }
    },
  });
  let seen = 0;
  return (bytes) => {
    parser.feed(decoder.decode(bytes, { stream: true }));
    seen += bytes.byteLength;
    // `message_start` comes first, if it comes at all.
    return done || seen > 16_384;
  };
}

function readUsage(raw: JsonBody): Usage {
  const count = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : 0);
  const usage = emptyUsage();
  usage.input = count(raw.input_tokens);
  usage.output = count(raw.output_tokens);
  usage.cacheRead = count(raw.cache_read_input_tokens);
  usage.cacheWrite = count(raw.cache_creation_input_tokens);
  usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const oneHour = (raw.cache_creation as JsonBody | null | undefined)?.ephemeral_1h_input_tokens;
  if (typeof oneHour === "number") usage.cacheWrite1h = oneHour;
  const thinking = (raw.output_tokens_details as JsonBody | null | undefined)?.thinking_tokens;
  if (typeof thinking === "number") usage.reasoning = thinking;
  return usage;
}

function readOddChunk(chunk: unknown, reader: PartReader): void {
  if (typeof chunk !== "object" || chunk === null) return;
  const record = chunk as { type?: unknown; error?: unknown; delta?: { stop_reason?: unknown } };
  if (record.error) reader.failWith(record);
  // A server that leaves the usage out of its last delta still says why it stopped.
  else if (record.type === "message_delta" && typeof record.delta?.stop_reason === "string")
    reader.setRawStopReason(record.delta.stop_reason);
}

/** https://docs.anthropic.com/en/api/handling-stop-reasons */
function ending({ raw }: StreamEnd): Ending {
  switch (raw) {
    case "end_turn":
    case "stop_sequence":
    case "pause_turn":
    case "compaction":
      return "stop";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "toolUse";
    case "refusal":
      return failed("refusal", "The model refused to answer");
    case undefined:
      return failed("incomplete", "Stream ended without a stop reason");
    default:
      return failed("other", `Unknown stop reason "${raw}"`);
  }
}

function compatOf(model: Model): AnthropicCompat {
  return (model.compat ?? {}) as AnthropicCompat;
}

function records(list: unknown): JsonBody[] {
  return Array.isArray(list) ? (list as JsonBody[]) : [];
}
