// A scripted model for property tests: it has a window like a real one, says what it was asked, and fails now and then.

import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { Context, Message } from "@earendil-works/pi-ai";
import {
  fail,
  hold,
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptStep,
  text,
  toolCall,
  usage,
} from "@earendil-works/pi-ai/testing";
import fc from "fast-check";
import { Type } from "typebox";
import { summarySystemPrompt } from "../../src/core/summarize/prompts.js";
import { estimateTokens } from "../../src/core/token-estimate.js";

/** What the model does with one request, if nothing else has to be done. */
export const answerKind = fc.constantFrom(
  ...(["text", "text", "slow text", "tool", "tool", "tools", "huge tool", "overloaded", "cut", "refused"] as const),
);
export type AnswerKind = typeof answerKind extends fc.Arbitrary<infer Kind> ? Kind : never;
/** What comes of one summary. */
export const summaryKind = fc.constantFrom(...(["fine", "fine", "fine", "slow", "empty", "overloaded"] as const));
export type SummaryKind = typeof summaryKind extends fc.Arbitrary<infer Kind> ? Kind : never;

export interface RandomModelOptions {
  answers: readonly AnswerKind[];
  summaries: readonly SummaryKind[];
  /** Tokens of an answer's text. */
  size?: number;
}

/** What a request breaks, in words. */
export type Told = (fault: string) => void;

/**
 * Makes `scripted` answer by `options`, over and over. Every message has a mark such as `<m7>`, and a summary is the list
 * of the marks that its request shows. A request larger than the window fails as one does; pairs of calls and results are
 * checked in all of them.
 */
export function randomModel(
  scripted: ScriptedModel,
  { answers, summaries, size = 40 }: RandomModelOptions,
  told: Told,
) {
  let asked = 0;
  let summarised = 0;
  let turns = 0;
  const answer = (request: ScriptedRequest): readonly ScriptStep[] => {
    const { context, options } = request;
    for (const fault of brokenPairs(context.messages)) told(fault);
    const isSummary = context.systemPrompt === summarySystemPrompt;
    const input = tokensOf(context);
    if (input + (isSummary ? (options.maxTokens ?? 0) : 0) > scripted.model.contextWindow) {
      if (isSummary) told(`a summary request of ${input} tokens does not fit`);
      return [fail("overflow", "prompt is too long", { status: 400 })];
    }
    if (isSummary) return summary(summaries[summarised++ % summaries.length] ?? "fine", context);
    const kind = answers[asked++ % answers.length] ?? "text";
    // A run has an end: no more than six rounds of tools, whatever fails between them.
    if (kind.includes("tool")) turns += 1;
    const last = turns > 6 ? "text" : kind;
    if (last.includes("text")) turns = 0;
    return [usage({ input, output: size }), ...answerSteps(last, size)];
  };
  for (let request = 0; request < 200; request += 1) scripted.replyWith(answer);
}

let serial = 0;

/** A text of about so many tokens with a mark of its own. */
export function marked(size: number, name = "x"): string {
  return `<m${++serial}>${name}`.padEnd(4 * size, ".");
}

/** The marks in a text, in order. */
export function marksIn(content: string): string[] {
  return content.match(/<m\d+>/g) ?? [];
}

function answerSteps(kind: AnswerKind, size: number): ScriptStep[] {
  const call = (count: number) => toolCall("work", { size: count });
  switch (kind) {
    case "text":
      return [text(marked(size), 4)];
    case "slow text":
      return [text(marked(size), 2), brief(), "..."];
    case "tool":
      return [marked(size), call(size)];
    case "tools":
      return [marked(size), call(size), call(1), call(size)];
    case "huge tool":
      return [marked(size), call(20 * size)];
    case "overloaded":
      return [fail("overloaded", "529")];
    case "cut":
      return [marked(size), fail("transport", "terminated")];
    case "refused":
      return [fail("invalid_request", "400")];
  }
}

function summary(kind: SummaryKind, context: Context): ScriptStep[] {
  // The summary so far stands behind the conversation that follows it.
  const [said = "", soFar = ""] = context.messages.map(textOf).join("\n").split("<summary-so-far>");
  const marks = [...marksIn(soFar), ...marksIn(said)].join("");
  if (kind === "empty") return [" "];
  if (kind === "overloaded") return [fail("overloaded", "529")];
  return kind === "slow" ? ["(", brief(), `${marks})`] : [`(${marks})`];
}

/** A point at which an answer waits for a few turns of the event loop. */
function brief() {
  const pause = hold();
  void pause.reached.then(() => immediates(3)).then(() => pause.release());
  return pause;
}

/** Waits for turns of the event loop. */
export async function immediates(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

const Parameters = Type.Object({ size: Type.Number() });

/** A tool that takes a moment, and gives back as much as it is asked for. */
export const work: AgentTool<typeof Parameters> = {
  name: "work",
  description: "",
  parameters: Parameters,
  execute: async (_, { size }, signal) => {
    for (let turn = 0; turn < 4 && !signal?.aborted; turn += 1) await immediates(1);
    if (signal?.aborted) throw new Error("Command aborted");
    return { content: [{ type: "text", text: marked(size) }] };
  },
};

function tokensOf({ messages, systemPrompt = "" }: Context): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message), Math.ceil(systemPrompt.length / 4));
}

export function textOf(message: { content: unknown }): string {
  const { content } = message as { content: string | { text?: string }[] };
  return typeof content === "string" ? content : content.map((block) => block.text ?? "").join("");
}

/** Where calls have no result, or results no call, in words. */
export function brokenPairs(messages: readonly Message[]): string[] {
  const faults: string[] = [];
  let open: string[] = [];
  const close = () => {
    if (open.length > 0) faults.push(`calls without a result: ${open}`);
    open = [];
  };
  for (const message of messages) {
    if (message.role === "toolResult") {
      if (!open.includes(message.toolCallId)) faults.push(`a result without its call: ${message.toolCallId}`);
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    close();
    if (message.role === "assistant")
      open = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  }
  close();
  return faults;
}
