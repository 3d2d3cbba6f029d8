// What the model answers, written once: as steps that a scripted model plays in process and a loopback server sends to a child.

import {
  fail,
  Hold,
  type ReplayReply,
  type ReplayServer,
  type ReplayStep,
  type ScriptedModel,
  type ScriptStep,
  stop,
  text,
  thinking,
  toolCall,
  usage,
} from "@earendil-works/pi-ai/testing";

/**
 * A string is text. `hold` waits until the test releases the hold of that name. `stall` is silent until the client
 * leaves, `cut` breaks the connection, `status` refuses the request. Usage counts tokens of input and output.
 */
export type AnswerStep =
  | string
  | { text: string; deltas: number }
  | { thinking: string }
  | { toolCall: string; arguments: Record<string, unknown> | string; id?: string }
  | { usage: { input: number; output: number } }
  | { stop: "stop" | "length" }
  | { hold: string }
  | { status: number; message?: string }
  | { end: "stall" | "cut" };

/** Holds by name; asked for before or after somebody waits at them. */
export class Holds {
  readonly #holds = new Map<string, Hold>();

  get(name: string): Hold {
    const hold = this.#holds.get(name) ?? new Hold();
    this.#holds.set(name, hold);
    return hold;
  }
}

/** A model that is told its answers. */
export interface AnsweringModel {
  answer(...steps: AnswerStep[]): void;
  /** Resolves when it has been asked this many times. */
  asked(times: number): Promise<void>;
  readonly holds: Holds;
}

/** Lets a scripted model play steps. */
export function answeringModel(model: ScriptedModel): AnsweringModel {
  const holds = new Holds();
  return {
    holds,
    answer: (...steps) => void model.reply(...steps.map((step) => toScript(step, holds))),
    async asked(times) {
      while (model.requests.length < times) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Lets a loopback server send steps as streams of the chat completions API. */
export function answeringServer(server: ReplayServer): AnsweringModel {
  const holds = new Holds();
  return {
    holds,
    answer: (...steps) => void server.reply(toReply(steps, holds)),
    asked: async (times) => void (await server.request(times - 1)),
  };
}

function toScript(step: AnswerStep, holds: Holds): ScriptStep {
  if (typeof step === "string") return text(step);
  if ("text" in step) return text(step.text, step.deltas);
  if ("thinking" in step) return thinking(step.thinking);
  if ("toolCall" in step) return toolCall(step.toolCall, step.arguments, step.id);
  if ("usage" in step) return usage(step.usage);
  if ("stop" in step) return stop(step.stop);
  if ("hold" in step) return holds.get(step.hold);
  if ("status" in step) return fail(step.status === 529 ? "overloaded" : "invalid_request", refusal(step), step);
  return step.end === "stall" ? new Hold() : fail("transport", "terminated: the connection was cut");
}

/** The body of a refused request, and the text it becomes. */
function refusal({ status, message = "refused" }: { status: number; message?: string }): string {
  return `${status}: ${JSON.stringify({ message })}`;
}

let serial = 0;

/** One reply of the chat completions API. */
export function toReply(steps: readonly AnswerStep[], holds: Holds): ReplayReply {
  const refused = steps.find(
    (step): step is { status: number; message?: string } => typeof step === "object" && "status" in step,
  );
  if (refused)
    return { status: refused.status, body: JSON.stringify({ error: { message: refused.message ?? "refused" } }) };
  const body: ReplayStep[] = [];
  let finish = "stop";
  let tokens = { input: 0, output: 0 };
  let calls = 0;
  const delta = (fields: object) => body.push(chunk({ choices: [{ index: 0, delta: fields, finish_reason: null }] }));
  for (const step of steps) {
    if (typeof step === "string") delta({ content: step });
    else if ("text" in step) for (const piece of pieces(step.text, step.deltas)) delta({ content: piece });
    else if ("thinking" in step) delta({ reasoning_content: step.thinking });
    else if ("toolCall" in step) {
      const { toolCall: name, arguments: args, id = `call_${++serial}` } = step;
      const text = typeof args === "string" ? args : JSON.stringify(args);
      delta({ tool_calls: [{ index: calls, id, type: "function", function: { name, arguments: text } }] });
      finish = "tool_calls";
      calls += 1;
    } else if ("usage" in step) tokens = step.usage;
    else if ("stop" in step) finish = step.stop;
    else if ("hold" in step) body.push(holds.get(step.hold));
    else if ("end" in step) return { body: [...body, step.end] };
  }
  body.push(chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }));
  const { input, output } = tokens;
  const counts = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  body.push(chunk({ choices: [], usage: counts }), "data: [DONE]\n\n");
  return { body };
}

function chunk(fields: object): string {
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "thinker", ...fields })}\n\n`;
}

function pieces(content: string, count: number): string[] {
  const characters = [...content];
  const length = Math.max(1, Math.ceil(characters.length / count));
  const list: string[] = [];
  for (let at = 0; at < characters.length; at += length) list.push(characters.slice(at, at + length).join(""));
  return list;
}
