// The bridge's prompt → the input items and tools of a Responses body.

import type { JSONObject, LanguageModelV3CallOptions, LanguageModelV3Message } from "@ai-sdk/provider";
import { onceAMessage } from "../language-model/once-a-message.js";

type UserPart = Extract<LanguageModelV3Message, { role: "user" }>["content"][number];
type AssistantPart = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];
type ToolPart = Extract<LanguageModelV3Message, { role: "tool" }>["content"][number];

/** What a text, a reasoning block and a call of this API carry to go back as the items they were. */
export interface ItemSignature {
  id?: string;
  phase?: string;
  encrypted_content?: string;
}

const itemsOf = onceAMessage(convert);

/** The items of one message, in order; `systemRole` is the role of the system prompt. */
export function inputItems(message: LanguageModelV3Message, systemRole: "developer" | "system"): JSONObject[] {
  if (message.role === "system") return [{ role: systemRole, content: message.content }];
  return itemsOf(message);
}

export function responsesTools(
  tools: LanguageModelV3CallOptions["tools"],
  supportsStrict: boolean,
): JSONObject[] | undefined {
  if (!tools?.length) return undefined;
  return tools.flatMap((tool) => {
    if (tool.type !== "function") return [];
    const { name, description, inputSchema, strict } = tool;
    return [
      {
        type: "function",
        name,
        description,
        parameters: inputSchema as JSONObject,
        // Left out it would mean true.
        ...(supportsStrict && { strict: strict === true }),
      },
    ];
  });
}

function convert(message: Exclude<LanguageModelV3Message, { role: "system" }>): JSONObject[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.content.map(userPart) }];
    case "assistant":
      return assistantItems(message.content, message.providerOptions?.wire?.withoutIds === true);
    case "tool":
      return message.content.flatMap(toolResult);
  }
}

function userPart(part: UserPart): JSONObject {
  if (part.type === "text") return { type: "input_text", text: part.text };
  return imagePart(part.mediaType, part.data as string);
}

function imagePart(mediaType: string, data: string): JSONObject {
  return { type: "input_image", detail: "auto", image_url: `data:${mediaType};base64,${data}` };
}

function assistantItems(parts: readonly AssistantPart[], withoutIds: boolean): JSONObject[] {
  const items = parts.flatMap((part) => {
    const signature = readSignature(part.providerOptions?.wire?.signature);
    const id = signature?.id && !withoutIds ? { id: signature.id } : undefined;
    if (part.type === "reasoning") return [reasoningItem(part.text, signature)];
    if (part.type === "text") return [messageItem(part.text, signature, id)];
    return part.type === "tool-call" ? [callItem(part, id)] : [];
  });
  // The API refuses reasoning that nothing follows, such as that of an answer cut off while thinking.
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

function reasoningItem(text: string, signature: ItemSignature | undefined): JSONObject {
  return {
    type: "reasoning",
    ...(signature?.id && { id: signature.id }),
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: signature?.encrypted_content,
  };
}

function messageItem(text: string, signature: ItemSignature | undefined, id: { id: string } | undefined): JSONObject {
  const content: JSONObject[] = [{ type: "output_text", text, ...(id && { annotations: [] }) }];
  return {
    ...(id && { type: "message", ...id, status: "completed" }),
    role: "assistant",
    content,
    ...(signature?.phase && { phase: signature.phase }),
  };
}

function callItem(part: Extract<AssistantPart, { type: "tool-call" }>, id: { id: string } | undefined): JSONObject {
  const namespace = part.providerOptions?.wire?.namespace;
  return {
    type: "function_call",
    ...id,
    call_id: part.toolCallId,
    name: part.toolName,
    ...(typeof namespace === "string" && { namespace }),
    arguments: JSON.stringify(part.input),
  };
}

function toolResult(part: ToolPart): JSONObject[] {
  if (part.type !== "tool-result") return [];
  const { output } = part;
  let value: JSONObject["output"] = "";
  if (output.type === "text" || output.type === "error-text") value = output.value;
  else if (output.type === "content")
    value = output.value.flatMap((item): JSONObject[] => {
      if (item.type === "text") return [{ type: "input_text", text: item.text }];
      return item.type === "image-data" ? [imagePart(item.mediaType, item.data)] : [];
    });
  return [{ type: "function_call_output", call_id: part.toolCallId, output: value }];
}

/** Reads what a block carries: our own form, an item as it came, or an id alone. */
export function readSignature(signature: unknown): ItemSignature | undefined {
  if (typeof signature !== "string" || signature === "") return undefined;
  if (!signature.startsWith("{")) return { id: signature };
  try {
    const { id, phase, encrypted_content } = JSON.parse(signature) as Record<string, unknown>;
    return {
      ...(typeof id === "string" && { id }),
      ...(typeof phase === "string" && { phase }),
      ...(typeof encrypted_content === "string" && { encrypted_content }),
    };
  } catch {
    return undefined;
  }
}
