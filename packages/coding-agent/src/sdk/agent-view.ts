// The loop of a session in the form in which programs read it: `session.agent` and `session.state`.

import type { Model, ThinkingLevel } from "@earendil-works/pi-ai";
import type { AgentSession as CoreSession } from "../core/agent-session.js";
import type { AgentMessage } from "../core/messages.js";
import type { ToolInfo } from "../extensions/host.js";
import type { AgentSession } from "./agent-session.js";

/** What the loop works with now. The conversation belongs to the session: assigning to a member changes nothing. */
export interface AgentState {
  systemPrompt: string;
  model: Model | undefined;
  thinkingLevel: ThinkingLevel;
  /** Those the model is offered. */
  tools: readonly ToolInfo[];
  messages: AgentMessage[];
  readonly isStreaming: boolean;
  /** Why the last answer failed; undefined when it did not. */
  readonly errorMessage: string | undefined;
}

export class AgentView {
  readonly state: AgentState;
  readonly #owner: AgentSession;
  readonly #session: () => CoreSession;

  constructor(owner: AgentSession, session: () => CoreSession) {
    this.#owner = owner;
    this.#session = session;
    this.state = stateOf(owner);
  }

  get sessionId(): string {
    return this.#owner.sessionId;
  }

  /** Aborts with the run under way; undefined without one. */
  get signal(): AbortSignal | undefined {
    return this.#session().signal;
  }

  get steeringMode() {
    return this.#owner.steeringMode;
  }

  get followUpMode() {
    return this.#owner.followUpMode;
  }

  subscribe(listener: Parameters<AgentSession["subscribe"]>[0]): () => void {
    return this.#owner.subscribe(listener);
  }

  prompt(text: string): Promise<void> {
    return this.#owner.prompt(text);
  }

  async steer(message: string | AgentMessage): Promise<void> {
    await this.#owner.steer(textOf(message));
  }

  async followUp(message: string | AgentMessage): Promise<void> {
    await this.#owner.followUp(textOf(message));
  }

  abort(): void {
    void this.#owner.abort();
  }

  waitForIdle(): Promise<void> {
    return this.#owner.waitForIdle();
  }

  hasQueuedMessages(): boolean {
    return this.#session().state().pendingMessageCount > 0;
  }

  clearAllQueues(): void {
    this.#owner.clearQueue();
  }
}

function stateOf(owner: AgentSession): AgentState {
  const read: { [Key in keyof AgentState]: () => AgentState[Key] } = {
    systemPrompt: () => owner.systemPrompt,
    model: () => owner.model,
    thinkingLevel: () => owner.thinkingLevel,
    tools: () => owner.getAllTools().filter(({ name }) => owner.getActiveToolNames().includes(name)),
    messages: () => owner.messages,
    isStreaming: () => owner.isStreaming,
    errorMessage: () => {
      const last = owner.messages.at(-1);
      return last?.role === "assistant" ? last.errorMessage : undefined;
    },
  };
  const members = Object.entries(read).map(([name, get]) => [name, { get, set: () => {}, enumerable: true }]);
  return Object.defineProperties({}, Object.fromEntries(members)) as AgentState;
}

function textOf(message: string | AgentMessage): string {
  if (typeof message === "string") return message;
  const content = "content" in message ? message.content : "";
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n");
}
