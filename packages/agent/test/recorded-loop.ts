// Runs the loop on a scripted model, keeps the conversation, and writes down what is announced.

import { type Message, stream } from "@earendil-works/pi-ai";
import type { ScriptedModel } from "@earendil-works/pi-ai/testing";
import { type TSchema, Type } from "typebox";
import { runAgentLoop } from "../src/agent-loop.js";
import type {
  AgentEvent,
  AgentLoopOptions,
  AgentMessage,
  AgentTool,
  AnyAgentTool,
  MessageQueue,
} from "../src/types.js";

/** A queue a test fills by hand; `took` counts how often it was asked. */
export class TestQueue implements MessageQueue {
  waiting: AgentMessage[] = [];
  mode: "all" | "one" = "one";

  add(...texts: string[]): this {
    this.waiting.push(...texts.map(user));
    return this;
  }

  isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  async take(): Promise<AgentMessage[]> {
    return this.waiting.splice(0, this.mode === "all" ? this.waiting.length : 1);
  }
}

export class RecordedLoop {
  readonly events: AgentEvent[] = [];
  readonly messages: Message[] = [];
  readonly abort = new AbortController();
  readonly steering = new TestQueue();
  readonly followUps = new TestQueue();
  tools: AnyAgentTool[];
  /** What takes a message's place at its end. */
  replace: (message: AgentMessage) => AgentMessage = (message) => message;
  readonly #options: Partial<AgentLoopOptions>;
  readonly #watchers: ((event: AgentEvent) => void)[] = [];

  constructor(
    readonly scripted: ScriptedModel,
    tools: AnyAgentTool[] = [],
    options: Partial<AgentLoopOptions> = {},
  ) {
    this.tools = tools;
    this.#options = options;
  }

  run(prompts: readonly AgentMessage[] | MessageQueue = [user("hi")]): Promise<AgentMessage[]> {
    return runAgentLoop(prompts, {
      setup: () => ({ model: this.scripted.model, tools: this.tools, options: {} }),
      modelMessages: () => this.messages,
      stream,
      signal: this.abort.signal,
      steering: this.steering,
      followUps: this.followUps,
      emit: (event) => this.#record(event),
      ...this.#options,
    });
  }

  /** Resolves at the first event that fits, also one that has been. */
  at(matches: (event: AgentEvent) => boolean): Promise<void> {
    if (this.events.some(matches)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#watchers.push((event) => {
        if (matches(event)) resolve();
      });
    });
  }

  /** One word or two an event, deltas left out. */
  get outline(): string[] {
    return this.events.filter(({ type }) => type !== "message_update").map(outlineOf);
  }

  /** What the model was sent in each request, as texts. */
  get requests(): string[][] {
    return this.scripted.requests.map(({ context }) => context.messages.map(textOf));
  }

  #record(event: AgentEvent): undefined {
    if (event.type === "message_end") event.message = this.replace(event.message);
    // The message so far is live: what it says later must not change what was announced.
    const { assistantMessageEvent, ...rest } = event as { assistantMessageEvent?: object } & AgentEvent;
    if (event.type === "message_update") {
      const { partial: _, ...delta } = assistantMessageEvent as { partial: unknown };
      this.events.push({ type: event.type, assistantMessageEvent: delta } as unknown as AgentEvent);
    } else this.events.push(structuredClone(rest) as AgentEvent);
    if (event.type === "message_end") this.messages.push(event.message as Message);
    for (const watch of this.#watchers) watch(event);
    return undefined;
  }
}

export function user(text: string): AgentMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 0 };
}

/** The text of a message, or what stands for it: calls by name, an empty failed answer by its reason. */
export function textOf(message: AgentMessage): string {
  const { content } = message as Message;
  if (typeof content === "string") return content;
  return content
    .map((block) => (block.type === "text" ? block.text : block.type === "toolCall" ? `${block.name}()` : block.type))
    .join("");
}

function outlineOf(event: AgentEvent): string {
  switch (event.type) {
    case "message_start":
    case "message_end": {
      const text = textOf(event.message);
      return [event.type, event.message.role, text].filter(Boolean).join(" ");
    }
    case "tool_execution_start":
      return `tool_start ${event.toolCallId}`;
    case "tool_execution_update":
      return `tool_update ${event.toolCallId}`;
    case "tool_execution_end":
      return `tool_end ${event.toolCallId}${event.isError ? " error" : ""}`;
    case "turn_end":
      return `turn_end ${event.toolResults.length}`;
    default:
      return event.type;
  }
}

/** A tool named `name` that answers with what `execute` returns as text. */
export function tool(
  name: string,
  execute: (params: Record<string, unknown>, signal: AbortSignal | undefined) => string | Promise<string>,
  facts: Partial<AgentTool<TSchema>> = {},
): AnyAgentTool {
  return {
    name,
    description: `Does ${name}`,
    parameters: Type.Object({}),
    execute: async (_, params, signal) => ({
      content: [{ type: "text", text: await execute(params as Record<string, unknown>, signal) }],
    }),
    ...facts,
  };
}
