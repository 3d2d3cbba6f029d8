// State, subscription and abort around the loop, for programs that want an agent without the product around it.

import { type Message, type Model, type StreamOptions, stream as streamModel } from "@earendil-works/pi-ai";
import { runAgentLoop } from "./agent-loop.js";
import type { AgentEvent, AgentLoopOptions, AgentMessage, AnyAgentTool, MessageQueue, StreamFn } from "./types.js";

/** How an agent is made. `model` is required before the first prompt; `stream` defaults to a real model call. */
export interface AgentOptions {
  model?: Model;
  systemPrompt?: string;
  tools?: AnyAgentTool[];
  messages?: AgentMessage[];
  streamOptions?: StreamOptions;
  stream?: StreamFn;
  /** The messages the model sees. Default: those of its three roles that did not fail. */
  convertToLlm?: (messages: readonly AgentMessage[]) => readonly Message[];
  beforeToolCall?: AgentLoopOptions["beforeToolCall"];
  afterToolCall?: AgentLoopOptions["afterToolCall"];
}

/**
 * A conversation with a model that runs tools.
 *
 * ```ts
 * const agent = new Agent({ model, tools: [clock] });
 * agent.subscribe((event) => { if (event.type === "message_end") show(event.message); });
 * await agent.prompt("What time is it?");
 * ```
 */
export class Agent {
  model: Model | undefined;
  systemPrompt: string | undefined;
  tools: AnyAgentTool[];
  messages: AgentMessage[];
  readonly #options: AgentOptions;
  readonly #listeners = new Set<(event: AgentEvent) => undefined | Promise<void>>();
  readonly #steering = new WaitingMessages();
  readonly #followUps = new WaitingMessages();
  #running: { abort: AbortController; done: Promise<void> } | undefined;

  constructor(options: AgentOptions = {}) {
    this.#options = options;
    this.model = options.model;
    this.systemPrompt = options.systemPrompt;
    this.tools = options.tools ?? [];
    this.messages = options.messages ?? [];
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Every event of every run, in order. A returned promise holds the run. Returns the function that ends it. */
  subscribe(listener: (event: AgentEvent) => undefined | Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends a message and runs until nothing is left to do. Throws while a run is under way or without a model. */
  prompt(message: string | AgentMessage): Promise<void> {
    return this.#run([toMessage(message)]);
  }

  /** Goes on from the conversation as it is. Throws while a run is under way or without a model. */
  continue(): Promise<void> {
    return this.#run([]);
  }

  /** Delivered before the next model call. When idle it goes out behind the next prompt. */
  steer(message: string | AgentMessage): void {
    this.#steering.add(toMessage(message));
  }

  /** Delivered when the agent has nothing left to do. */
  followUp(message: string | AgentMessage): void {
    this.#followUps.add(toMessage(message));
  }

  /** Stops the run; resolves after its last event. */
  async abort(): Promise<void> {
    this.#running?.abort.abort();
    await this.waitForIdle();
  }

  /** Resolves when no run is under way. Never rejects. */
  async waitForIdle(): Promise<void> {
    await this.#running?.done.catch(() => {});
  }

  #run(prompts: AgentMessage[]): Promise<void> {
    if (this.#running) throw new Error("Cannot start a run: one is under way; use steer or followUp");
    if (!this.model) throw new Error("Cannot start a run: no model is set");
    const abort = new AbortController();
    let begin: (run: Promise<unknown>) => void = () => {};
    const done = new Promise<unknown>((resolve) => {
      begin = resolve;
    }).then(
      () => this.#ended(),
      (error) => {
        this.#ended();
        throw error;
      },
    );
    // Before the first event: whoever hears it may abort.
    this.#running = { abort, done };
    begin(runAgentLoop(prompts, this.#loopOptions(abort.signal)));
    return done;
  }

  #ended(): void {
    this.#running = undefined;
  }

  #loopOptions(signal: AbortSignal): AgentLoopOptions {
    const { stream = streamModel, convertToLlm = modelMessages, streamOptions = {} } = this.#options;
    return {
      setup: () => ({
        model: this.model as Model,
        ...(this.systemPrompt !== undefined && { systemPrompt: this.systemPrompt }),
        tools: this.tools,
        options: streamOptions,
      }),
      currentModel: () => this.model,
      modelMessages: () => convertToLlm(this.messages),
      stream,
      emit: (event) => this.#emit(event),
      signal,
      steering: this.#steering,
      followUps: this.#followUps,
      beforeToolCall: this.#options.beforeToolCall,
      afterToolCall: this.#options.afterToolCall,
    };
  }

  #emit(event: AgentEvent): undefined | Promise<void> {
    if (event.type === "message_end") this.messages.push(event.message);
    const behind = [...this.#listeners].map((listener) => listener(event)).filter((result) => result !== undefined);
    return behind.length > 0 ? Promise.all(behind).then(() => {}) : undefined;
  }
}

class WaitingMessages implements MessageQueue {
  #messages: AgentMessage[] = [];

  add(message: AgentMessage): void {
    this.#messages.push(message);
  }

  isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  async take(): Promise<AgentMessage[]> {
    return this.#messages.splice(0, 1);
  }
}

function toMessage(message: string | AgentMessage): AgentMessage {
  if (typeof message !== "string") return message;
  return { role: "user", content: [{ type: "text", text: message }], timestamp: Date.now() };
}

function modelMessages(messages: readonly AgentMessage[]): Message[] {
  return messages.filter(
    (message): message is Message =>
      message.role === "user" ||
      message.role === "toolResult" ||
      (message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted"),
  );
}
