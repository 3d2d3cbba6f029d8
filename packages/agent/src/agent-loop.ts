// The loop: turns until no tool call and no queued message is left.

import {
  type AssistantMessage,
  type ErrorInfo,
  emptyUsage,
  ProviderError,
  type ToolCall,
  type ToolResultMessage,
} from "@earendil-works/pi-ai";
import { failToolCalls, runTools } from "./run-tools.js";
import type { AgentEvent, AgentLoopOptions, AgentMessage, MessageQueue } from "./types.js";
import { untilAborted } from "./until-aborted.js";

/**
 * Runs until the model has nothing left to do, and returns the messages it made, prompts included.
 *
 * `prompts` start the run, or a queue whose messages do; with an empty list it goes on from the conversation as it is
 * (a retry). Every start event has its end, whatever happens: a failed or aborted call ends as a message with stop reason `error` or `aborted`, which is
 * the last of the run.
 */
export async function runAgentLoop(
  prompts: readonly AgentMessage[] | MessageQueue,
  options: AgentLoopOptions,
): Promise<AgentMessage[]> {
  const { emit, signal } = options;
  const made: AgentMessage[] = [];
  const announce = async (message: AgentMessage) => {
    await emit({ type: "message_start", message });
    const end = { type: "message_end" as const, message };
    await emit(end);
    made.push(end.message);
    return end.message;
  };
  /** Begins a turn for what waits in a queue, found not empty: taken before anything is awaited that could empty it. */
  const deliver = async (queue: MessageQueue, ...before: AgentEvent[]) => {
    const announced = before.map((event) => emit(event));
    const taken = queue.take();
    await Promise.all(announced);
    for (const message of await taken) await announce(message);
  };

  if ("take" in prompts) await deliver(prompts, { type: "agent_start" }, { type: "turn_start" });
  else {
    await emit({ type: "agent_start" });
    await emit({ type: "turn_start" });
    for (const prompt of prompts) await announce(prompt);
    // Steering that was kept from an aborted run goes out behind the new prompt.
    if (prompts.length > 0 && !signal.aborted && !options.steering.isEmpty()) await deliver(options.steering);
  }

  for (;;) {
    const { message, tools } = await runTurn(options);
    made.push(message);
    const calls = message.content.filter((block) => block.type === "toolCall");
    const failed = message.stopReason === "error" || message.stopReason === "aborted";
    const batch = failed ? undefined : await answerCalls(message, calls, tools, options);
    const toolResults: ToolResultMessage[] = [];
    for (const result of batch?.results ?? []) toolResults.push((await announce(result)) as ToolResultMessage);
    await emit({ type: "turn_end", message, toolResults });
    if (failed || signal.aborted) break;

    const goesOn = options.wantsTurn?.() === true || (calls.length > 0 && !batch?.terminate);
    if (nextQueue(options, goesOn) === undefined) break;
    if (options.beforeNextTurn && !(await options.beforeNextTurn())) break;
    const next = nextQueue(options, goesOn); // a queue may have been cleared meanwhile
    if (signal.aborted || next === undefined) break;
    if (next === "context") await emit({ type: "turn_start" });
    else await deliver(next, { type: "turn_start" });
  }
  await emit({ type: "agent_end", messages: made });
  return made;
}

/** What the next turn is for: the context as it is, a queue to deliver, or nothing. Steering goes before follow-ups. */
function nextQueue(options: AgentLoopOptions, goesOn: boolean): MessageQueue | "context" | undefined {
  if (!options.steering.isEmpty()) return options.steering;
  if (goesOn) return "context";
  return options.followUps.isEmpty() ? undefined : options.followUps;
}

/** A call that the output limit cut off may be incomplete in any place, so none of that message is run. */
async function answerCalls(
  message: AssistantMessage,
  calls: readonly ToolCall[],
  tools: Parameters<typeof runTools>[1],
  options: AgentLoopOptions,
) {
  if (calls.length === 0) return undefined;
  if (message.stopReason === "length")
    return failToolCalls(calls, "The answer was cut off by the output limit, so this call was not run", options);
  return runTools(calls, tools, options);
}

/** One model call, from `message_start` to `message_end`. */
async function runTurn(options: AgentLoopOptions) {
  const { emit, signal } = options;
  const expected = options.currentModel?.();
  let setup: Awaited<ReturnType<AgentLoopOptions["setup"]>> | undefined;
  let last: AssistantMessage | undefined;
  let soFar: AssistantMessage | undefined;
  let started = false;
  const start = async (message: AssistantMessage) => {
    if (started) return;
    started = true;
    // A snapshot: the live message goes on growing while this record waits to be written.
    const { role, api, provider, model, thinkingLevel, usage, timestamp } = message;
    const origin = { role, api, provider, model, ...(thinkingLevel && { thinkingLevel }) };
    const pending = { ...origin, content: [], usage: { ...usage }, stopReason: "pending" as const, timestamp };
    await emit({ type: "message_start", message: pending });
  };
  try {
    // Hooks may ask somebody, or run a command for a key: an abort does not wait for them.
    const unlessAborted = async <T>(value: T | Promise<T>) =>
      untilAborted(Promise.resolve(value), signal, () => new Error("Request was aborted"));
    setup = await unlessAborted(options.setup());
    const { model, systemPrompt, tools } = setup;
    const messages = await unlessAborted(options.modelMessages());
    const plain = { systemPrompt, messages, tools: tools.map(declaration) };
    const context = options.transformContext ? await unlessAborted(options.transformContext(plain)) : plain;
    for await (const event of options.stream(model, context, { ...setup.options, signal })) {
      if ("partial" in event) soFar = event.partial;
      if (event.type === "done") last = event.message;
      else if (event.type === "error") last = event.error;
      else if (event.type === "start") await start(event.partial);
      else {
        if (!started) await start(event.partial);
        // Nothing is awaited per delta unless the reader is behind.
        const behind = emit({ type: "message_update", message: event.partial, assistantMessageEvent: event });
        if (behind) await behind;
      }
    }
    last ??= failedMessage(soFar, setup.model, "The model's stream ended without a result", signal);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    last = failedMessage(
      soFar,
      setup?.model ?? expected,
      text,
      signal,
      error instanceof ProviderError ? error.info : undefined,
    );
  }
  await start(last);
  const end: { type: "message_end"; message: AgentMessage } = { type: "message_end", message: last };
  await emit(end);
  return { message: end.message as AssistantMessage, tools: setup?.tools ?? [] };
}

function declaration({ name, description, parameters }: { name: string; description: string; parameters: object }) {
  return { name, description, parameters };
}

/**
 * A stream function that breaks its promise (throws, or ends without a result) still ends the turn in order, with what it
 * has sent so far.
 */
function failedMessage(
  soFar: AssistantMessage | undefined,
  model: { api: string; provider: string; id: string } | undefined,
  errorMessage: string,
  { aborted }: AbortSignal,
  info: ErrorInfo = { kind: "other" },
): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: model?.api ?? "unknown",
    provider: model?.provider ?? "unknown",
    model: model?.id ?? "unknown",
    usage: emptyUsage(),
    timestamp: Date.now(),
    ...soFar,
    stopReason: aborted ? "aborted" : "error",
    errorMessage,
    error: aborted ? { kind: "aborted" } : info,
  };
}
