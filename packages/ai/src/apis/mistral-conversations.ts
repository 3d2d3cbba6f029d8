// Speaks Mistral's chat API: chat completions whose thinking is a part of the content.

import type { JSONObject } from "@ai-sdk/provider";
import { bodyText } from "../error-text.js";
import { makeApi } from "../language-model/call.js";
import type { Dialect, DialectCall, Ending, JsonBody, StreamEnd } from "../language-model/dialect.js";
import { failed } from "../language-model/parts.js";
import { type PromptTarget, wellFormed } from "../language-model/prompt.js";
import type { AssistantMessage, Model } from "../types.js";
import { mistralToolCallId } from "./mistral-tool-call-id.js";
import { chunkReader, readOddChunk } from "./openai-completions-chunks.js";
import { chatMessages, chatTools } from "./openai-completions-messages.js";
import { chatModel } from "./openai-completions-model.js";

const dialect: Dialect = {
  promptTarget,
  makeModel: (call, wiring) =>
    chatModel({
      url: `${withVersion(call.model.baseUrl)}/chat/completions`,
      wiring,
      makeBody: ({ prompt, tools }) => ({
        model: call.model.id,
        messages: chatMessages(prompt),
        tools: chatTools(tools, call.model.compat?.supportsStrictMode === true),
        stream: true,
        ...settings(call),
      }),
      onChunk: chunkReader(wiring.reader),
    }),
  headers: ({ options }, custom) => ({
    ...(options.apiKey && { authorization: `Bearer ${options.apiKey}` }),
    ...custom,
  }),
  editBody: () => undefined,
  readOddChunk,
  ending,
  refusalText: (status, body) => `${status}: ${bodyText(body)}`,
  streamErrorText: bodyText,
};

/** Mistral's chat API. */
export const mistralConversationsApi = makeApi(dialect);

/** Base URLs are given with and without the version. */
function withVersion(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, "");
  return base.endsWith("/v1") ? base : `${base}/v1`;
}

function settings({ model, options }: DialectCall): JsonBody {
  const level = model.reasoning ? options.thinkingLevel : undefined;
  const mapped = level && model.thinkingLevelMap?.[level];
  const effort = mapped === undefined && level !== "off" ? level : mapped;
  return {
    max_tokens: options.maxTokens ?? model.maxTokens,
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(effort && { reasoning_effort: effort }),
  };
}

function promptTarget(model: Model): PromptTarget {
  return {
    model,
    key: `mistral\n${model.provider}\n${model.id}\n${model.input.join()}`,
    longestToolCallId: 9,
    toolCallId: mistralToolCallId,
    imagesInToolResults: false,
    assistantFields: thinkingInContent,
    toolResultFields: ({ toolName }) => ({ name: toolName }),
    fieldsKey: "openaiCompatible",
  };
}

/** The content of an own answer with thinking, which stands in it as a part of its own. */
function thinkingInContent({ content }: AssistantMessage): JSONObject | undefined {
  if (!content.some((block) => block.type === "thinking" && block.thinking.trim() !== "")) return undefined;
  const parts = content.flatMap((block): JSONObject[] => {
    if (block.type === "text" && block.text.trim() !== "") return [textPart(block.text)];
    if (block.type !== "thinking" || block.thinking.trim() === "") return [];
    return [{ type: "thinking", thinking: [textPart(block.thinking)], closed: true }];
  });
  return { content: parts };
}

function textPart(text: string): JSONObject {
  return { type: "text", text: wellFormed(text) };
}

/** https://docs.mistral.ai/api/#tag/chat: `FinishReason` */
function ending({ raw }: StreamEnd): Ending {
  switch (raw) {
    case "stop":
      return "stop";
    case "length":
    case "model_length":
      return "length";
    case "tool_calls":
      return "toolUse";
    case "content_filter":
      return failed("refusal", "The provider's content filter stopped the answer");
    case "error":
      return failed("server", 'Provider ended the answer with "error"');
    case undefined:
      return failed("incomplete", "Stream ended without a finish reason");
    default:
      return failed("other", `Unknown finish reason "${raw}"`);
  }
}
