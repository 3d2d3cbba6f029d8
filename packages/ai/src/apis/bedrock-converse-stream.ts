// Speaks the Converse API of Amazon Bedrock, with a bearer token or signed with keys.

import { bodyText } from "../error-text.js";
import { makeApi } from "../language-model/call.js";
import type { Dialect, DialectCall, Ending, FinishedRequest, StreamEnd } from "../language-model/dialect.js";
import { failed } from "../language-model/parts.js";
import { type PromptTarget, thinkingAsText } from "../language-model/prompt.js";
import { wireModel } from "../language-model/wire-model.js";
import type { Model, ThinkingContent } from "../types.js";
import { awsKeys, awsRegion } from "./aws-credentials.js";
import { converseBody, isClaude } from "./bedrock-body.js";
import { awsFrames, ConverseTranslator, type Frame } from "./bedrock-events.js";
import type { BedrockMessage } from "./bedrock-messages.js";
import { mistralToolCallId } from "./mistral-tool-call-id.js";
import { variableOf } from "./variables.js";

const dialect: Dialect = {
  promptTarget,
  makeModel: (call, wiring) =>
    wireModel<Frame>({
      url: `${baseUrl(call)}/model/${encodeURIComponent(call.model.id)}/converse-stream`,
      wiring,
      makeBody: (options) => converseBody(call, options),
      framing: awsFrames,
      translator: (push) => new ConverseTranslator(push),
    }),
  headers: ({ options }, custom) => {
    const token = options.apiKey ?? variableOf(options, "AWS_BEARER_TOKEN_BEDROCK");
    return { ...(token && { authorization: `Bearer ${token}` }), ...custom };
  },
  authorize: sign,
  editBody: (body, _call, { failedWithImages }) => {
    for (const { content } of body.messages as BedrockMessage[])
      for (const [at, block] of content.entries()) {
        const result = block.toolResult as { toolUseId: string } | undefined;
        if (result && failedWithImages.includes(result.toolUseId))
          content[at] = { toolResult: { ...result, status: "error" } };
      }
  },
  ending,
  refusalText: (status, body) => `${status}: ${bodyText(body)}`,
  streamErrorText: bodyText,
};

/** The Converse API of Amazon Bedrock. */
export const bedrockConverseStreamApi = makeApi(dialect);

/** The region is in the URL; that of the environment or the profile wins over the catalogue's, not over one of another host. */
function baseUrl({ model, options }: DialectCall): string {
  const base = model.baseUrl.replace(/\/+$/, "");
  const region = regionOfArn(model.id) ?? awsRegion(options);
  return region ? base.replace(/^(https:\/\/bedrock-runtime\.)[a-z0-9-]+(?=\.amazonaws\.com)/, `$1${region}`) : base;
}

function regionOfArn(id: string): string | undefined {
  return /^arn:aws[^:]*:bedrock:([a-z0-9-]+):/.exec(id)?.[1];
}

async function sign({ url, headers, body }: FinishedRequest, call: DialectCall): Promise<Record<string, string>> {
  if (headers.authorization) return {};
  const keys = awsKeys(call);
  const region =
    /\.([a-z0-9-]+)\.amazonaws\.com/.exec(new URL(url).hostname)?.[1] ?? awsRegion(call.options) ?? "us-east-1";
  // Loaded lazily: a bearer token needs no signature.
  const { AwsV4Signer } = await import("aws4fetch");
  const signer = new AwsV4Signer({
    method: "POST",
    url,
    headers,
    body,
    ...keys,
    region,
    service: "bedrock",
  });
  return Object.fromEntries((await signer.sign()).headers);
}

function promptTarget(model: Model): PromptTarget {
  return {
    model,
    key: `bedrock\n${model.provider}\n${model.id}\n${model.input.join()}`,
    longestToolCallId: 64,
    ...(model.id.includes("mistral.") && { toolCallId: mistralToolCallId }),
    imagesInToolResults: isClaude(model) || model.id.includes("amazon.nova"),
    thinkingPart: (block) => ownThinking(block, isClaude(model)),
  };
}

/** Claude's thinking goes back with its signature, or as text when it has none; what others think stays here. */
function ownThinking(block: ThinkingContent, claude: boolean) {
  const signature = block.thinkingSignature;
  if (!signature) return claude ? thinkingAsText(block) : undefined;
  const wire = { signature, ...(block.redacted && { redacted: true }) };
  return { type: "reasoning" as const, text: block.thinking, providerOptions: { wire } };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html */
function ending({ raw = "" }: StreamEnd): Ending {
  switch (raw) {
    case "end_turn":
    case "stop_sequence":
      return "stop";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "toolUse";
    case "content_filtered":
    case "guardrail_intervened":
    case "refusal":
      return failed("refusal", `The provider stopped the answer: ${raw}`);
    case "malformed_model_output":
    case "malformed_tool_use":
      return failed("incomplete", `The model's answer was not usable: ${raw}`);
    default:
      return failed("other", `Unknown stop reason "${raw}"`);
  }
}
