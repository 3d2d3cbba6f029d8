// The bridge's prompt → the messages and tools of a chat completions body.

import type {
  JSONObject,
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
} from "@ai-sdk/provider";
import { onceAMessage } from "../language-model/once-a-message.js";

type Part = Exclude<LanguageModelV3Message["content"], string>[number];
type AssistantPart = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];
type UserPart = Extract<LanguageModelV3Message, { role: "user" }>["content"][number];
type ToolPart = Extract<LanguageModelV3Message, { role: "tool" }>["content"][number];

// A message's wire form is the same for the same fields key.
const messagesOf = onceAMessage(convert);

/** One wire message for each of the prompt's, one for each tool result. What was converted once is kept. */
export function chatMessages(prompt: LanguageModelV3Prompt): JSONObject[] {
  // Edits of a body change messages; what is kept must stay as it is.
  return prompt.flatMap((message) => messagesOf(message).map((kept) => ({ ...kept })));
}

export function chatTools(
  tools: LanguageModelV3CallOptions["tools"],
  supportsStrict: boolean,
): JSONObject[] | undefined {
  if (!tools?.length) return undefined;
  return tools.flatMap((tool) => {
    if (tool.type !== "function") return [];
    const { name, description, inputSchema, strict } = tool;
    const parameters = inputSchema as JSONObject;
    return [
      {
        type: "function",
        function: { name, description, parameters, ...(supportsStrict && strict && { strict: true }) },
      },
    ];
  });
}

function convert(message: LanguageModelV3Message): JSONObject[] {
  const fields = fieldsOf(message);
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content, ...fields }];
    case "user":
      return [{ role: "user", content: userContent(message.content), ...fields }];
    case "assistant":
      return [{ role: "assistant", ...assistantContent(message.content), ...fields }];
    case "tool":
      return message.content.map(toolResult).filter((result) => result !== undefined);
  }
}

/** A single text goes as a string: every server takes that, not every one takes a list. */
function userContent(parts: readonly UserPart[]): string | JSONObject[] {
  const [first] = parts;
  if (parts.length === 1 && first?.type === "text") return first.text;
  return parts.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text, ...fieldsOf(part) }
      : { type: "image_url", image_url: { url: `data:${part.mediaType};base64,${part.data}` }, ...fieldsOf(part) },
  );
}

function assistantContent(parts: readonly AssistantPart[]): JSONObject {
  let text = "";
  let reasoning = "";
  const calls: JSONObject[] = [];
  for (const part of parts) {
    if (part.type === "text") text += part.text;
    else if (part.type === "reasoning") reasoning += part.text;
    else if (part.type === "tool-call") calls.push(toolCall(part));
  }
  return {
    content: calls.length > 0 ? text || null : text,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toolCall(part: Extract<AssistantPart, { type: "tool-call" }>): JSONObject {
  const signature = part.providerOptions?.wire?.signature;
  return {
    id: part.toolCallId,
    type: "function",
    function: { name: part.toolName, arguments: JSON.stringify(part.input) },
    ...(typeof signature === "string" && { extra_content: { google: { thought_signature: signature } } }),
  };
}

function toolResult(part: ToolPart): JSONObject | undefined {
  if (part.type !== "tool-result") return undefined;
  const { output } = part;
  const content = output.type === "text" || output.type === "error-text" ? output.value : JSON.stringify(output);
  return { role: "tool", tool_call_id: part.toolCallId, content, ...fieldsOf(part) };
}

/** Fields of their own that the dialect gave to a message or a part. */
function fieldsOf(item: LanguageModelV3Message | Part): JSONObject | undefined {
  return (item.providerOptions as { openaiCompatible?: JSONObject } | undefined)?.openaiCompatible;
}
