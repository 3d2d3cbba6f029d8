// Speaks the OpenAI chat completions API, to OpenAI itself and to the many servers that copy it.

import type { JSONObject } from "@ai-sdk/provider";
import { errorRecordText } from "../error-text.js";
import { makeApi } from "../language-model/call.js";
import type { Dialect, DialectCall, Ending, StreamEnd } from "../language-model/dialect.js";
import { failed } from "../language-model/parts.js";
import { type PromptTarget, thinkingAsText, wellFormed } from "../language-model/prompt.js";
import type { AssistantMessage, Model, ThinkingContent } from "../types.js";
import { azureBaseUrl, azureDeployment } from "./azure.js";
import { editBody } from "./openai-completions-body.js";
import { chunkReader, isReasoningField, readOddChunk } from "./openai-completions-chunks.js";
import { type ChatCompat, chatCompat } from "./openai-completions-compat.js";
import { chatMessages, chatTools } from "./openai-completions-messages.js";
import { chatModel } from "./openai-completions-model.js";

const dialect: Dialect = {
  promptTarget,
  makeModel: (call, wiring) => {
    const { model } = call;
    const isAzure = model.provider === "azure";
    return chatModel({
      url: `${isAzure ? azureBaseUrl(call) : model.baseUrl.replace(/\/+$/, "")}/chat/completions`,
      wiring,
      makeBody: ({ prompt, tools }) => ({
        model: isAzure ? azureDeployment(call) : model.id,
        messages: chatMessages(prompt),
        tools: chatTools(tools, chatCompat(model).supportsStrictMode),
        stream: true,
        ...(chatCompat(model).supportsUsageInStreaming && { stream_options: { include_usage: true } }),
      }),
      onChunk: chunkReader(wiring.reader),
    });
  },
  headers,
  editBody,
  readOddChunk,
  ending,
  refusalText: (status, body) => `${status}: ${errorRecordText(body)}`,
  streamErrorText: errorRecordText,
};

/** The OpenAI chat completions API. */
export const openaiCompletionsApi = makeApi(dialect);

function promptTarget(model: Model): PromptTarget {
  const compat = chatCompat(model);
  const { requiresThinkingAsText, requiresToolResultName, requiresAssistantAfterToolResult } = compat;
  const flags = [requiresThinkingAsText, requiresToolResultName, model.input.join()].join();
  return {
    model,
    key: `chat\n${model.provider}\n${model.id}\n${flags}`,
    // OpenAI's own limit; its copies have none or the same.
    longestToolCallId: 40,
    imagesInToolResults: false,
    thinkingPart: (block) => (requiresThinkingAsText ? taggedThinking(block) : undefined),
    assistantFields: (message) => (requiresThinkingAsText ? undefined : reasoningFields(message)),
    toolResultFields: (message) => (requiresToolResultName ? { name: message.toolName } : undefined),
    fieldsKey: "openaiCompatible",
    assistantAfterToolResult: requiresAssistantAfterToolResult ? "The tool results are in." : undefined,
  };
}

function taggedThinking(block: ThinkingContent) {
  const part = thinkingAsText(block);
  return part ? { ...part, text: `<thinking>\n${part.text}\n</thinking>` } : undefined;
}

/** Reasoning goes back in the field it came in, which its signature names; reasoning from elsewhere stays out. */
function reasoningFields(message: AssistantMessage): JSONObject | undefined {
  let fields: JSONObject | undefined;
  for (const block of message.content) {
    if (block.type !== "thinking" || !block.thinkingSignature) continue;
    const signature = block.thinkingSignature;
    fields ??= {};
    if (isReasoningField(signature)) fields[signature] = `${fields[signature] ?? ""}${wellFormed(block.thinking)}`;
    else if (signature.startsWith("[")) {
      const details = readDetails(signature);
      if (details) fields.reasoning_details = [...((fields.reasoning_details as JSONObject[]) ?? []), ...details];
    }
  }
  return fields;
}

function readDetails(signature: string): JSONObject[] | undefined {
  try {
    const details: unknown = JSON.parse(signature);
    return Array.isArray(details) ? (details as JSONObject[]) : undefined;
  } catch {
    return undefined;
  }
}

function headers({ model, options }: DialectCall, custom: Readonly<Record<string, string>>): Record<string, string> {
  const sent: Record<string, string> = {};
  if (options.apiKey && model.provider === "azure") sent["api-key"] = options.apiKey;
  else if (options.apiKey) sent.authorization = `Bearer ${options.apiKey}`;
  const compat = chatCompat(model);
  if (options.sessionId && options.cacheRetention !== "none" && compat.sendSessionAffinityHeaders)
    Object.assign(sent, affinityHeaders(compat, options.sessionId));
  return { ...sent, ...custom };
}

function affinityHeaders(compat: ChatCompat, sessionId: string): Record<string, string> {
  if (compat.sessionAffinityFormat === "openrouter") return { "x-session-id": sessionId };
  const common = { "x-client-request-id": sessionId, "x-session-affinity": sessionId };
  return compat.sessionAffinityFormat === "openai-nosession" ? common : { session_id: sessionId, ...common };
}

/** Finish reasons of OpenAI and of its copies; an unknown one is no success. */
function ending({ raw, unified, message }: StreamEnd, { model }: DialectCall): Ending {
  if (unified === "content-filter") return failed("refusal", "The model refused to answer");
  switch (raw) {
    case "stop":
    case "end":
    case "eos":
      return "stop";
    case "length":
    case "max_tokens":
      return "length";
    case "tool_calls":
    case "function_call":
      return "toolUse";
    case "content_filter":
      return failed("refusal", "The provider's content filter stopped the answer");
    case "error":
    case "network_error":
      return failed("server", `Provider ended the answer with "${raw}"`);
    case undefined:
      if (!chatCompat(model).supportsFinishReason)
        return message.content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
      return failed("incomplete", "Stream ended without a finish reason");
    default:
      return failed("other", `Unknown finish reason "${raw}"`);
  }
}
