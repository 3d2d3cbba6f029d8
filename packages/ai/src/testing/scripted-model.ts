// A model that answers by script, in order, and records what it was asked.

import { type ApiImplementation, type ApiStreamOptions, registerApi } from "../apis/index.js";
import { MessageBuilder } from "../message-builder.js";
import { ProviderError } from "../provider-error.js";
import type { AssistantMessageEvent, Context, ErrorInfo, Model, ProviderErrorKind, Usage } from "../types.js";
import { emptyUsage, withCost } from "../usage.js";
import { Hold } from "./hold.js";

/** One step of a scripted answer. A plain string is text; a `Hold` waits until the test releases it. */
export type ScriptStep =
  | string
  | Hold
  | { type: "text"; text: string; deltas: number }
  | { type: "thinking"; thinking: string; signature?: string }
  | { type: "toolCall"; name: string; arguments: Record<string, unknown> | string; id?: string }
  | { type: "usage"; usage: Partial<Usage> }
  | { type: "stop"; reason: "stop" | "length" | "toolUse" }
  | { type: "error"; message: string; info: ErrorInfo };

/** The steps of one answer, or a function that makes them from the request. */
export type Script = readonly ScriptStep[] | ((request: ScriptedRequest) => readonly ScriptStep[]);

/** One call as the model saw it; `context` is a copy made at the time of the call. */
export interface ScriptedRequest {
  model: Model;
  context: Context;
  options: ApiStreamOptions;
}

/** Text in `deltas` pieces of about the same length. */
export function text(content: string, deltas = 1): ScriptStep {
  return { type: "text", text: content, deltas };
}

export function thinking(content: string, signature?: string): ScriptStep {
  return { type: "thinking", thinking: content, ...(signature ? { signature } : {}) };
}

/** A tool call; arguments given as a string are sent as they are, complete JSON or not. */
export function toolCall(name: string, args: Record<string, unknown> | string, id?: string): ScriptStep {
  return { type: "toolCall", name, arguments: args, ...(id ? { id } : {}) };
}

/** Tokens reported with this answer; `totalTokens` is their sum unless given. */
export function usage(counts: Partial<Usage>): ScriptStep {
  return { type: "usage", usage: counts };
}

/** The stop reason, where it should not follow from the content. */
export function stop(reason: "stop" | "length" | "toolUse"): ScriptStep {
  return { type: "stop", reason };
}

/** Ends the answer in an error. */
export function fail(kind: ProviderErrorKind, message: string = kind, info: Omit<ErrorInfo, "kind"> = {}): ScriptStep {
  return { type: "error", message, info: { kind, ...info } };
}

let serial = 0;

/**
 * A model backed by an API of its own, registered until `dispose`.
 *
 *     const scripted = scriptedModel();
 *     const pause = hold();
 *     scripted.reply("Looking…", toolCall("read", { path: "a.txt" })).reply("Do", pause, "ne");
 *     const message = await complete(scripted.model, { messages: [] });
 */
export class ScriptedModel {
  readonly model: Model;
  /** Every call so far, in order. */
  readonly requests: ScriptedRequest[] = [];
  readonly #scripts: Script[] = [];
  readonly #unregister: () => void;
  #calls = 0;

  constructor(facts: Partial<Model> = {}) {
    const api = facts.api ?? `scripted-${++serial}`;
    this.model = {
      id: "scripted",
      name: "Scripted",
      provider: "scripted",
      baseUrl: "",
      reasoning: true,
      input: ["text", "image"],
      contextWindow: 128_000,
      maxTokens: 16_384,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      ...facts,
      api,
    };
    const implementation: ApiImplementation = {
      stream: (model, context, options) => this.#answer({ model, context: copyContext(context), options }),
    };
    this.#unregister = registerApi(api, () => Promise.resolve(implementation));
  }

  /** Adds one answer to the script. */
  reply(...steps: ScriptStep[]): this {
    this.#scripts.push(steps);
    return this;
  }

  /** Adds one answer that is made when it is asked for. */
  replyWith(script: (request: ScriptedRequest) => readonly ScriptStep[]): this {
    this.#scripts.push(script);
    return this;
  }

  /** Answers not asked for yet. */
  get remaining(): number {
    return this.#scripts.length;
  }

  /** Removes the model's API. */
  dispose(): void {
    this.#unregister();
  }

  async *#answer(request: ScriptedRequest): AsyncGenerator<AssistantMessageEvent> {
    this.requests.push(request);
    const script = this.#scripts.shift();
    const builder = MessageBuilder.begin({ model: request.model, thinkingLevel: request.options.thinkingLevel });
    yield builder.start();
    if (!script) throw new ProviderError("The script has no answer left", { kind: "other" });
    let reason: "stop" | "length" | "toolUse" | undefined;
    for (const step of typeof script === "function" ? script(request) : script) {
      if (request.options.signal.aborted) return;
      if (step instanceof Hold) {
        if (!(await step.wait(request.options.signal))) return;
        continue;
      }
      const known = typeof step === "string" ? { type: "text" as const, text: step, deltas: 1 } : step;
      if (known.type === "usage") builder.message.usage = completeUsage(request.model, known.usage);
      else if (known.type === "stop") reason = known.reason;
      else if (known.type === "error") {
        yield* builder.fail("error", known.info, known.message);
        return;
      } else yield* this.#block(builder, known);
    }
    const calls = builder.message.content.some((block) => block.type === "toolCall");
    yield* ended(builder);
    yield* builder.done(reason ?? (calls ? "toolUse" : "stop"));
  }

  *#block(
    builder: MessageBuilder,
    step: Extract<ScriptStep, { type: "text" | "thinking" | "toolCall" }>,
  ): Generator<AssistantMessageEvent> {
    if (step.type === "text") {
      // Text on both sides of a hold is one block.
      if (builder.openBlock !== "text") {
        yield* ended(builder);
        yield builder.startText();
      }
      for (const piece of pieces(step.text, step.deltas)) yield builder.appendText(piece);
      return;
    }
    yield* ended(builder);
    if (step.type === "thinking") {
      yield builder.startThinking();
      yield builder.appendThinking(step.thinking);
      yield builder.endThinking(step.signature);
      return;
    }
    const start = builder.startToolCall(step.id ?? `call_${++this.#calls}`, step.name);
    yield start;
    const args = typeof step.arguments === "string" ? step.arguments : JSON.stringify(step.arguments);
    if (args !== "") yield builder.appendToolCall(start.contentIndex, args);
    yield builder.endToolCall(start.contentIndex);
  }
}

/** A model that answers by script. */
export function scriptedModel(facts: Partial<Model> = {}): ScriptedModel {
  return new ScriptedModel(facts);
}

function* ended(builder: MessageBuilder): Generator<AssistantMessageEvent> {
  const event = builder.endOpenBlock();
  if (event) yield event;
}

function* pieces(content: string, count: number): Generator<string> {
  const characters = [...content];
  const length = Math.max(1, Math.ceil(characters.length / count));
  for (let at = 0; at < characters.length; at += length) yield characters.slice(at, at + length).join("");
}

function completeUsage(model: Model, counts: Partial<Usage>): Usage {
  const sum = (counts.input ?? 0) + (counts.output ?? 0) + (counts.cacheRead ?? 0) + (counts.cacheWrite ?? 0);
  return withCost(model, { ...emptyUsage(), totalTokens: sum, ...counts });
}

function copyContext(context: Context): Context {
  return {
    ...context,
    messages: structuredClone(context.messages) as Context["messages"],
    ...(context.tools ? { tools: [...context.tools] } : {}),
  };
}
