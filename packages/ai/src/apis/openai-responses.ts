// Speaks the OpenAI Responses API, to OpenAI itself and to servers that copy it.

import type { JSONObject } from "@ai-sdk/provider";
import { errorRecordText } from "../error-text.js";
import { makeApi } from "../language-model/call.js";
import type { Dialect, DialectCall, Ending, StreamEnd } from "../language-model/dialect.js";
import { failed } from "../language-model/parts.js";
import type { PromptTarget } from "../language-model/prompt.js";
import { eventStream, wireModel } from "../language-model/wire-model.js";
import type { AssistantMessage, Model, ThinkingContent } from "../types.js";
import { responsesBody } from "./openai-responses-body.js";
import { responsesCompat } from "./openai-responses-compat.js";
import { ResponseTranslator } from "./openai-responses-events.js";
import { readSignature } from "./openai-responses-input.js";

/** The dialect but for where a model is found; Azure has another place and another name for it. */
export function responsesDialect(
  place: (call: DialectCall) => { url: string; modelId: string },
  headers: Dialect["headers"],
): Dialect {
  return {
    promptTarget,
    makeModel: (call, wiring) => {
      const { url, modelId } = place(call);
      return wireModel<string>({
        url,
        wiring,
        makeBody: (options) => responsesBody(call, modelId, options),
        framing: eventStream,
        translator: (push) => new ResponseTranslator(push),
      });
    },
    headers,
    editBody: () => undefined,
    ending,
    refusalText: (status, body, { model }) => `${model.provider} API error (${status}): ${errorRecordText(body)}`,
    streamErrorText: errorRecordText,
  };
}

/** The OpenAI Responses API. */
export const openaiResponsesApi = makeApi(
  responsesDialect(
    ({ model }) => ({ url: `${model.baseUrl.replace(/\/+$/, "")}/responses`, modelId: model.id }),
    (call, custom) => ({
      ...(call.options.apiKey && { authorization: `Bearer ${call.options.apiKey}` }),
      ...affinityHeaders(call),
      ...custom,
    }),
  ),
);

/** Headers that bring the requests of one conversation to one machine, for its cache. */
export function affinityHeaders({ model, options }: DialectCall): Record<string, string> {
  const session = options.cacheRetention === "none" ? undefined : options.sessionId;
  if (!session) return {};
  const format = responsesCompat(model).sessionAffinityFormat;
  if (format === "openrouter") return { "x-session-id": session };
  return { ...(format === "openai" && { "session-id": session }), "x-client-request-id": session };
}

function promptTarget(model: Model): PromptTarget {
  return {
    model,
    key: `responses\n${model.api}\n${model.provider}\n${model.id}\n${model.input.join()}`,
    longestToolCallId: 64,
    imagesInToolResults: true,
    thinkingPart: ownReasoning,
    assistantFields,
    fieldsKey: "wire",
  };
}

/** Reasoning goes back encrypted or not at all. */
function ownReasoning(block: ThinkingContent) {
  if (!canGoBack(block)) return undefined;
  const signature = block.thinkingSignature as string;
  return { type: "reasoning" as const, text: block.thinking, providerOptions: { wire: { signature } } };
}

function canGoBack(block: ThinkingContent): boolean {
  return readSignature(block.thinkingSignature)?.encrypted_content !== undefined;
}

function assistantFields({ content, thinkingLevel }: AssistantMessage): JSONObject {
  // An item that names itself is refused without the reasoning it came with.
  const withoutIds = content.some((block) => block.type === "thinking" && !canGoBack(block));
  return { ...(thinkingLevel && { thinkingLevel }), ...(withoutIds && { withoutIds }) };
}

function ending({ raw, unified, message }: StreamEnd): Ending {
  if (unified === "content-filter") return failed("refusal", "The model refused to answer");
  switch (raw) {
    case "completed":
      return message.content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
    case "max_output_tokens":
      return "length";
    case "content_filter":
      return failed("refusal", "The provider's content filter stopped the answer");
    case "failed":
    case "cancelled":
      return failed("server", `Provider ended the answer with "${raw}"`);
    default:
      return failed("other", `Unknown reason for an incomplete answer: "${raw}"`);
  }
}
