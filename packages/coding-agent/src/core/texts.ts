// What is sent to the session: typed texts and messages of extensions, each started, queued, kept or handled.

import type { ImageContent, Model, UserMessage } from "@earendil-works/pi-ai";
import { CommandError } from "./errors.js";
import type { InputStage, TypedInput } from "./input.js";
import type { AgentMessage, CustomMessage } from "./messages.js";
import type { QueueName, Queues } from "./queue.js";

/** What became of a text. */
export type PromptDisposition = "started" | "queued" | "handled";

/** Where a message of an extension goes. */
export interface Delivery {
  /** During a run: before the next model call, when nothing is left to do, or behind the user's next message. */
  as: "steer" | "followUp" | "nextTurn";
  /** Idle: starts a run. False during a run: recorded after the turn, and queued nowhere. */
  triggerTurn: boolean | undefined;
}

export interface TextsOptions {
  input: InputStage;
  queues: Queues;
  isRunning: () => boolean;
  isCompacting: () => boolean;
  isNavigating: () => boolean;
  /** Refuses to start a run that cannot ask a model. */
  requireModel: () => Model;
  /** Takes the session for writing. */
  acquire: () => Promise<void>;
  /** Starts a run with messages of which the first is new. */
  begin: (messages: readonly AgentMessage[], model: Model) => void;
  /** Starts a run with what waits in the queues. */
  beginQueued: () => void;
  /** Puts a message into the conversation and announces it. */
  record: (message: AgentMessage) => Promise<void>;
  /** The command of an extension that a text calls, as the function that runs it; absent without extensions. */
  commandIn?: ((text: string) => (() => Promise<void>) | undefined) | undefined;
}

/** Every way into a conversation. */
export class Texts {
  readonly #options: TextsOptions;
  /** A text was queued during a compaction, so a run follows it. */
  #startAfterCompaction = false;
  /** Messages of extensions that wait for the user's next message. */
  #nextTurn: CustomMessage[] = [];
  /** Messages of extensions that are recorded when the turn, or the compaction, under way has ended. */
  #afterTurn: CustomMessage[] = [];

  constructor(options: TextsOptions) {
    this.#options = options;
  }

  get accepting(): number {
    return this.#options.input.accepting;
  }

  /** Resolves when the fate of every text that is on its way now is known. */
  settled(): Promise<void> {
    return this.#options.input.settled();
  }

  /** Refuses what is still in the input stage, and starts nothing after a compaction; returns how many texts there were. */
  cancel(): number {
    this.#startAfterCompaction = false;
    return this.#options.input.cancel();
  }

  /** A command of an extension runs at once; anything else is sent. */
  prompt(input: TypedInput): Promise<PromptDisposition> {
    const command = input.expand === false ? undefined : this.#options.commandIn?.(input.text);
    if (command) return command().then(() => "handled");
    return this.#accept(input, () => {
      if (input.streamingBehavior) return input.streamingBehavior === "steer" ? "steering" : "followUp";
      const what = this.#options.isRunning() ? "The agent is running" : "A compaction is running";
      throw new CommandError("busy", `${what}. Set streamingBehavior to "steer" or "followUp" to queue the message`);
    });
  }

  /** Like `prompt`, but never busy: queued during a run. Commands of extensions are refused. */
  queue(
    name: QueueName,
    input: Omit<TypedInput, "streamingBehavior"> & { images?: readonly ImageContent[] },
  ): Promise<PromptDisposition> {
    if (input.expand !== false && this.#options.commandIn?.(input.text)) {
      const [called] = input.text.split(" ");
      const reason = `Extension command "${called}" cannot be queued: send it as a prompt, which runs it at once`;
      return Promise.reject(new CommandError("invalid_params", reason, "message"));
    }
    const streamingBehavior = name === "steering" ? "steer" : "followUp";
    return this.#accept({ ...input, streamingBehavior }, () => name);
  }

  /** A message of an extension. Throws like `prompt` when it would start a run that cannot be. */
  async send(message: CustomMessage, { as, triggerTurn }: Delivery): Promise<void> {
    const { isRunning, isCompacting, queues, requireModel, acquire, begin, record } = this.#options;
    if (as === "nextTurn") {
      this.#nextTurn.push(message);
      return;
    }
    const isBusy = isRunning() || isCompacting();
    if (isBusy && triggerTurn === false) this.#afterTurn.push(message);
    else if (isBusy) {
      if (!isRunning() && triggerTurn) this.#startAfterCompaction = true;
      await queues.add(as === "followUp" ? "followUp" : "steering", message);
    } else if (!triggerTurn) await record(message);
    else {
      const model = requireModel();
      await acquire();
      if (isRunning()) await queues.add("steering", message);
      else begin([message], model);
    }
  }

  /** Records what was kept until the turn, the run or the compaction under way ended. Announced at once, in order. */
  async recordKept(): Promise<void> {
    await Promise.all(this.#afterTurn.splice(0).map((message) => this.#options.record(message)));
  }

  /** Hands over what waits for the user's next message to a session that goes on with the same conversation. */
  moveTo(other: Texts): void {
    other.#nextTurn.push(...this.#nextTurn.splice(0));
    other.#afterTurn.push(...this.#afterTurn.splice(0));
  }

  /** A compaction has ended: what was queued meanwhile starts a run. */
  compactionEnded(): void {
    if (!this.#options.isRunning()) void this.recordKept();
    // Not when the next compaction has been asked for already: it is followed by the run.
    if (!this.#startAfterCompaction || this.#options.isCompacting()) return;
    this.#startAfterCompaction = false;
    this.#options.beginQueued();
  }

  #accept(input: TypedInput, queueDuringRun: () => QueueName): Promise<PromptDisposition> {
    const { requireModel, acquire } = this.#options;
    return this.#options.input.pass(input, async (message, refuseIfCancelled) => {
      if (message === "handled") return "handled";
      const early = this.#queueWhileBusy(queueDuringRun);
      if (early) return this.#enqueue(early, message);
      const model = requireModel();
      await acquire();
      refuseIfCancelled();
      // What began by itself while the file was waited for.
      const late = this.#queueWhileBusy(queueDuringRun);
      if (late) return this.#enqueue(late, message);
      this.#options.begin([message, ...this.#nextTurn.splice(0)], model);
      return "started";
    });
  }

  /** Where a text goes while a run or a compaction is under way; nothing when it starts a run. */
  #queueWhileBusy(queueDuringRun: () => QueueName): QueueName | undefined {
    const { isRunning, isCompacting, isNavigating, requireModel } = this.#options;
    if (isNavigating()) throw new CommandError("busy", "The session is moving to another entry");
    if (isRunning()) return queueDuringRun();
    if (!isCompacting()) return undefined;
    const queue = queueDuringRun();
    requireModel();
    this.#startAfterCompaction = true;
    return queue;
  }

  async #enqueue(queue: QueueName, message: UserMessage): Promise<"queued"> {
    await this.#options.queues.add(queue, message);
    return "queued";
  }
}
