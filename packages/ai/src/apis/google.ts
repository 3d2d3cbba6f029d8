// What the two ways to Gemini share: the body, thinking, and how an answer ended.

import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { bodyText } from "../error-text.js";
import type { Dialect, DialectCall, Ending, JsonBody, StreamEnd } from "../language-model/dialect.js";
import { failed } from "../language-model/parts.js";
import { type PromptTarget, thinkingAsText } from "../language-model/prompt.js";
import { eventStream, wireModel } from "../language-model/wire-model.js";
import type { Model, ThinkingContent } from "../types.js";
import { thinkingBudgets } from "./anthropic-thinking.js";
import { googleContents, googleTools } from "./google-contents.js";
import { GeminiTranslator } from "./google-events.js";

/** The dialect but for where a model is found and who may call it. */
export function googleDialect(
  url: (call: DialectCall) => string,
  access: Pick<Dialect, "headers" | "authorize">,
): Dialect {
  return {
    promptTarget,
    makeModel: (call, wiring) =>
      wireModel<string>({
        url: url(call),
        wiring,
        makeBody: (options) => body(call, options),
        framing: eventStream,
        translator: (push) => new GeminiTranslator(push),
      }),
    ...access,
    editBody: (edited, _call, { failedWithImages }) => {
      if (failedWithImages.length > 0) markFailedResults(edited, failedWithImages);
    },
    ending,
    refusalText: (_status, refusal) => bodyText(refusal),
    streamErrorText: bodyText,
  };
}

/** Models of before the third generation have budgets of thinking instead of levels, and images outside of results. */
function isOlder({ id }: Model): boolean {
  return /(?:^|\/)gemini-(?:1|2)[.-]/.test(id);
}

function isGemini({ id }: Model): boolean {
  return /(?:^|\/)gemini-/.test(id);
}

function promptTarget(model: Model): PromptTarget {
  return {
    model,
    key: `google\n${model.api}\n${model.provider}\n${model.id}\n${model.input.join()}`,
    longestToolCallId: 64,
    imagesInToolResults: isGemini(model) && !isOlder(model),
    thinkingPart: ownThought,
  };
}

/** A thought goes back with its signature; without one it is only text. */
function ownThought(block: ThinkingContent) {
  const signature = block.thinkingSignature;
  if (!signature) return thinkingAsText(block);
  return { type: "reasoning" as const, text: block.thinking, providerOptions: { wire: { signature } } };
}

function body(call: DialectCall, { prompt, tools }: LanguageModelV3CallOptions): JsonBody {
  const { model, options } = call;
  return {
    ...googleContents(prompt, isGemini(model) && !isOlder(model)),
    tools: googleTools(tools),
    generationConfig: {
      maxOutputTokens: options.maxTokens ?? model.maxTokens,
      ...(options.temperature !== undefined && { temperature: options.temperature }),
      ...thinkingField(call),
    },
  };
}

/** https://ai.google.dev/gemini-api/docs/thinking */
function thinkingField({ model, options }: DialectCall): JsonBody {
  const level = options.thinkingLevel;
  if (!model.reasoning || level === undefined) return {};
  const mapped = model.thinkingLevelMap?.[level];
  if (level === "off") {
    // A model that cannot stop thinking thinks as little as it likes, and keeps it to itself.
    if (mapped === null) return {};
    return { thinkingConfig: mapped === undefined ? { thinkingBudget: 0 } : { thinkingLevel: mapped } };
  }
  if (mapped === null) return { thinkingConfig: { includeThoughts: true } };
  if (!isOlder(model) || mapped !== undefined)
    return { thinkingConfig: { includeThoughts: true, thinkingLevel: mapped ?? level } };
  const room = Math.max(0, (options.maxTokens ?? model.maxTokens) - 1024);
  const budget = Math.min(options.thinkingBudgets?.[level] ?? thinkingBudgets[level], room);
  return { thinkingConfig: { includeThoughts: true, thinkingBudget: budget } };
}

/** The common form of a result cannot say both that a call failed and that it has images. */
function markFailedResults(edited: JsonBody, failedIds: readonly string[]): void {
  // What was converted is kept for the next call, so it is copied and not changed.
  edited.contents = (edited.contents as { parts: JsonBody[] }[]).map((content) => ({
    ...content,
    parts: content.parts.map((part) => {
      const result = part.functionResponse as (JsonBody & { response: { output?: unknown } }) | undefined;
      if (!result || !failedIds.includes(String(result.id))) return part;
      return { functionResponse: { ...result, response: { error: result.response.output } } };
    }),
  }));
}

/** https://ai.google.dev/api/generate-content#FinishReason, and the block reasons of a prompt. */
function ending({ raw = "", message }: StreamEnd): Ending {
  switch (raw) {
    case "STOP":
      return message.content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
    case "MAX_TOKENS":
      return "length";
    case "SAFETY":
    case "RECITATION":
    case "LANGUAGE":
    case "BLOCKLIST":
    case "PROHIBITED_CONTENT":
    case "SPII":
    case "IMAGE_SAFETY":
    case "MODEL_ARMOR":
      return failed("refusal", `The provider stopped the answer: ${raw}`);
    case "MALFORMED_FUNCTION_CALL":
    case "UNEXPECTED_TOOL_CALL":
    case "TOO_MANY_TOOL_CALLS":
    case "MALFORMED_RESPONSE":
      // What the model wrote is no answer; asked again it may write one.
      return failed("incomplete", `The model's answer was not usable: ${raw}`);
    default:
      return failed("other", `Unknown finish reason "${raw}"`);
  }
}
