// The steering and follow-up queues: messages that wait for the running agent, and how many are delivered at once.

import type { MessageQueue } from "@earendil-works/pi-agent-core";
import type { UserMessage } from "@earendil-works/pi-ai";
import type { QueueMode } from "../modes/rpc/rpc-types.js";
import type { Emit } from "./event-line.js";
import type { AgentMessage, CustomMessage } from "./messages.js";
import { userText } from "./user-text.js";

export type QueueName = "steering" | "followUp";

/** A message that waits, and the text the queues show for it. */
interface Waiting {
  text: string;
  message: AgentMessage;
}

/**
 * Two queues that live in memory. Every change is announced with both of them whole, before the change is answered.
 *
 * | what happens | steering | follow-ups |
 * | --- | --- | --- |
 * | a turn ends | delivered before the next model call | kept while tool results or steering are left |
 * | nothing is left to do | – | delivered in the same low-level run |
 * | arrives after the last look | delivered before the run settles | delivered before the run settles |
 * | the run fails | delivered after it | delivered after it |
 * | abort | kept; goes out behind the next prompt's message | kept; goes out after the next prompt's answer |
 * | session replaced | dropped, and named in the answer | dropped, and named in the answer |
 */
export class Queues {
  readonly #emit: Emit;
  readonly #waiting: Record<QueueName, Waiting[]> = { steering: [], followUp: [] };
  readonly modes: Record<QueueName, QueueMode>;

  constructor(emit: Emit, modes: Record<QueueName, QueueMode>) {
    this.#emit = emit;
    this.modes = modes;
  }

  get length(): number {
    return this.#waiting.steering.length + this.#waiting.followUp.length;
  }

  /** The texts of both queues, in the order they will be delivered. */
  texts(): { steering: string[]; followUp: string[] } {
    const { steering, followUp } = this.#waiting;
    return { steering: steering.map(({ text }) => text), followUp: followUp.map(({ text }) => text) };
  }

  async add(name: QueueName, message: UserMessage | CustomMessage): Promise<void> {
    this.#waiting[name].push({ text: userText(message), message });
    await this.announce();
  }

  /** Empties both queues and gives back their texts. */
  async clear(): Promise<{ steering: string[]; followUp: string[] }> {
    const texts = this.texts();
    const hadAny = this.length > 0;
    this.drop();
    if (hadAny) await this.announce();
    return texts;
  }

  /** Empties both queues without a word: the session they belong to is gone. */
  drop(): void {
    this.#waiting.steering = [];
    this.#waiting.followUp = [];
  }

  /** Hands everything over to the queues of a session that goes on with the same conversation. */
  moveTo(other: Queues): void {
    for (const name of ["steering", "followUp"] as const) other.#waiting[name].push(...this.#waiting[name].splice(0));
  }

  async announce(): Promise<void> {
    await this.#emit({ type: "queue_update", ...this.texts() });
  }

  /** The queue that is delivered first when nothing else is left to do; nothing when both are empty. */
  next(): MessageQueue | undefined {
    const names: QueueName[] = ["steering", "followUp"];
    const name = names.find((candidate) => this.#waiting[candidate].length > 0);
    return name && this.source(name);
  }

  /** One queue as the loop sees it; taking respects the mode and announces what is left. */
  source(name: QueueName): MessageQueue {
    return {
      isEmpty: () => this.#waiting[name].length === 0,
      take: async () => {
        const list = this.#waiting[name];
        const taken = list.splice(0, this.modes[name] === "all" ? list.length : 1);
        if (taken.length > 0) await this.announce();
        return taken.map(({ message }) => message);
      },
    };
  }
}
