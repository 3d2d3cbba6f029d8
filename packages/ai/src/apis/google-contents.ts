// The bridge's prompt → the contents, tools and system instruction of a Gemini body.

import type {
  JSONObject,
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
} from "@ai-sdk/provider";
import type { JsonBody } from "../language-model/dialect.js";
import { onceAMessage } from "../language-model/once-a-message.js";

type SpokenMessage = Exclude<LanguageModelV3Message, { role: "system" }>;
type Part = Exclude<LanguageModelV3Message["content"], string>[number];
type CallPart = Extract<Part, { type: "tool-call" }>;
type ResultPart = Extract<Part, { type: "tool-result" }>;

interface Content {
  role: "user" | "model";
  parts: JSONObject[];
}

/**
 * Stands for the signature of a call that another model made; Gemini 3 refuses calls without any.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const unsignedCall = "skip_thought_signature_validator";

/** The fields of a body that hold the conversation; `signsCalls` when the model refuses calls without a signature. */
export function googleContents(prompt: LanguageModelV3Prompt, signsCalls: boolean): JsonBody {
  const contents: Content[] = [];
  const system: JSONObject[] = [];
  let before: string | undefined;
  for (const message of prompt) {
    if (message.role === "system") system.push({ text: message.content });
    else {
      const content = contentOf(message, signsCalls);
      // The results of one answer's calls are one content; what users say in a row stays apart.
      const last = contents.at(-1);
      if (message.role === "tool" && before === "tool" && last)
        contents[contents.length - 1] = { ...last, parts: [...last.parts, ...content.parts] };
      else if (content.parts.length > 0) contents.push(content);
    }
    before = message.role;
  }
  return { contents, ...(system.length > 0 && { systemInstruction: { parts: system } }) };
}

export function googleTools(tools: LanguageModelV3CallOptions["tools"]): JSONObject[] | undefined {
  if (!tools?.length) return undefined;
  const functionDeclarations = tools.flatMap((tool) => {
    if (tool.type !== "function") return [];
    const { name, description, inputSchema } = tool;
    return [{ name, ...(description && { description }), parametersJsonSchema: inputSchema as JSONObject }];
  });
  return [{ functionDeclarations }];
}

const unsignedContent = onceAMessage(
  ({ role, content }: SpokenMessage): Content => ({
    role: role === "assistant" ? "model" : "user",
    parts: content.map(partOf),
  }),
);

function contentOf(message: SpokenMessage, signsCalls: boolean): Content {
  const content = unsignedContent(message);
  return signsCalls && message.role === "assistant" ? withSignedCall(content) : content;
}

function partOf(part: Part): JSONObject {
  switch (part.type) {
    case "text":
      return { text: part.text, ...signatureOf(part) };
    case "reasoning":
      return { text: part.text, thought: true, ...signatureOf(part) };
    case "file":
      return inlineData(part.mediaType, part.data as string);
    case "tool-call":
      return { functionCall: functionCall(part), ...signatureOf(part) };
    case "tool-result":
      return { functionResponse: functionResponse(part) };
    default:
      return {};
  }
}

/** The first call of an answer carries the signature for all of them. */
function withSignedCall(content: Content): Content {
  const at = content.parts.findIndex((part) => part.functionCall !== undefined);
  const call = content.parts[at];
  if (!call || call.thoughtSignature !== undefined) return content;
  return { ...content, parts: content.parts.with(at, { ...call, thoughtSignature: unsignedCall }) };
}

function signatureOf(part: Part): JSONObject | undefined {
  const signature = part.providerOptions?.wire?.signature;
  return typeof signature === "string" ? { thoughtSignature: signature } : undefined;
}

function inlineData(mimeType: string, data: string): JSONObject {
  return { inlineData: { mimeType, data } };
}

function functionCall(part: CallPart): JSONObject {
  return { id: part.toolCallId, name: part.toolName, args: part.input as JSONObject };
}

/** https://ai.google.dev/api/caching#FunctionResponse: `output` holds what came out, `error` what went wrong. */
function functionResponse({ toolCallId, toolName, output }: ResultPart): JSONObject {
  const response: JSONObject = { id: toolCallId, name: toolName };
  if (output.type === "error-text") return { ...response, response: { error: output.value } };
  if (output.type === "text") return { ...response, response: { output: output.value } };
  if (output.type !== "content") return { ...response, response: {} };
  const texts = output.value.flatMap((item) => (item.type === "text" ? [item.text] : []));
  const images = output.value.flatMap((item) =>
    item.type === "image-data" ? [inlineData(item.mediaType, item.data)] : [],
  );
  return { ...response, response: { output: texts.join("\n") || "(see the image)" }, parts: images };
}
