// When what happens in a session is written to it: when it is accepted, when it is announced, or behind the run.

import type { Model } from "@earendil-works/pi-ai";
import { SessionLockedError } from "../sessions/session-error.js";
import type { SessionManager } from "../sessions/session-manager.js";
import { CommandError } from "./errors.js";
import type { AgentSessionEvent } from "./events.js";
import type { AgentMessage, BashExecutionMessage } from "./messages.js";

export interface RecorderOptions {
  store: SessionManager;
  /** Writes a message and adds it to what the model sees. */
  append: (message: AgentMessage) => void;
  /** Somebody else went on with the session: what the model sees is to be read again. */
  reload: () => void;
  selection: () => { model: Model | null; level: string };
  isRunning: () => boolean;
}

/** Every message is written once, and before its `message_end` reaches anybody. */
export class Recorder {
  /** Messages that are in the store already, so that `message_end` does not write them again. */
  readonly stored = new WeakSet<AgentMessage>();
  readonly #options: RecorderOptions;
  /** Commands that ended during the run under way; they join the conversation after it. */
  #finishedCommands: BashExecutionMessage[] = [];
  /** The selection the session file knows of. */
  #recorded: { model: string | null; level: string | null };

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { model, thinkingLevel } = options.store.buildSessionContext();
    this.#recorded = { model: model && `${model.provider}/${model.modelId}`, level: thinkingLevel };
  }

  /** Takes the session file for writing. Throws CommandError `session_locked`. */
  async acquire(): Promise<void> {
    const { store, reload } = this.#options;
    const leaf = store.getLeafId();
    try {
      await store.acquire();
    } catch (error) {
      if (error instanceof SessionLockedError) throw new CommandError("session_locked", error.message);
      // A full disk, or a folder that nobody may write: the next append tells of it, and goes on in memory.
    }
    // Another process went on from where we are before the file became ours: its messages are on our branch.
    if (store.getLeafId() !== leaf) reload();
  }

  /** Writes a message when it is accepted: it is in the session from now on. */
  accept(message: AgentMessage): void {
    this.#options.append(message);
    this.stored.add(message);
  }

  /** The store's step of the event line: what is announced has been written. */
  announced(event: AgentSessionEvent): void {
    if (event.type === "message_end" && !this.stored.has(event.message)) this.#options.append(event.message);
  }

  /** Model and level, where they differ from what the session says. */
  selection(): void {
    const { store, selection } = this.#options;
    const { model, level } = selection();
    const name = model && `${model.provider}/${model.id}`;
    if (model && name !== this.#recorded.model) store.appendModelChange(model.provider, model.id);
    if (level !== this.#recorded.level) store.appendThinkingLevelChange(level);
    this.#recorded = { model: name, level };
  }

  /** Writes a shell command with its output, behind the run under way. */
  command(message: BashExecutionMessage): void {
    if (this.#options.isRunning()) this.#finishedCommands.push(message);
    else this.#options.append(message);
  }

  /** Writes what came during a run and belongs behind it. */
  runEnded(): void {
    for (const message of this.#finishedCommands.splice(0)) this.#options.append(message);
  }
}
