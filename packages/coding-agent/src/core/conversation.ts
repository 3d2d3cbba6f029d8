// The active branch as the model sees it, kept as it grows: no turn walks the session again.

import type { Message } from "@earendil-works/pi-ai";
import type { SessionManager } from "../sessions/session-manager.js";
import type { AgentMessage } from "./messages.js";
import { toLlmMessage } from "./to-llm.js";

/** The messages of the context in order, each written to the store before it counts. */
export class Conversation {
  readonly #store: SessionManager;
  #messages: AgentMessage[] = [];
  #forModel: Message[] = [];

  constructor(store: SessionManager) {
    this.#store = store;
    this.reload();
  }

  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** What the next request is made of. The list is live: it grows with the conversation. */
  get forModel(): readonly Message[] {
    return this.#forModel;
  }

  /** Writes the message to the session and adds it to the context. Returns the entry's id. */
  append(message: AgentMessage): string {
    const id = this.#store.appendMessage(message);
    this.#add(message);
    return id;
  }

  /** Reads the context from the store anew, after the branch changed in another way than by growing. */
  reload(): void {
    this.#messages = [];
    this.#forModel = [];
    for (const message of this.#store.buildSessionContext().messages) this.#add(message);
  }

  #add(message: AgentMessage): void {
    this.#messages.push(message);
    const forModel = toLlmMessage(message);
    if (forModel) this.#forModel.push(forModel);
  }
}
