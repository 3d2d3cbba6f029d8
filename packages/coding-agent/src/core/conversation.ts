// The active branch as the model sees it, kept as it grows: no turn walks the session again.

import type { Message } from "@earendil-works/pi-ai";
import type { CompactionEntry, ContextEditEntry } from "../sessions/entries.js";
import type { SessionManager } from "../sessions/session-manager.js";
import type { ContextItem } from "./compaction/plan.js";
import type { AgentMessage } from "./messages.js";
import { toLlmMessage } from "./to-llm.js";

/** The messages of the context in order, each written to the store before it counts. */
export class Conversation {
  readonly #store: SessionManager;
  #items: ContextItem[] = [];
  #messages: AgentMessage[] = [];
  #forModel: Message[] = [];
  #freshFrom = 0;

  constructor(store: SessionManager) {
    this.#store = store;
    this.reload();
  }

  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  get items(): readonly ContextItem[] {
    return this.#items;
  }

  /** What the next request is made of. The list is live: it grows with the conversation. */
  get forModel(): readonly Message[] {
    return this.#forModel;
  }

  /** The messages with the place from which on they are newer than the latest compaction; 0 without one. */
  get measured(): { messages: readonly AgentMessage[]; freshFrom: number } {
    return { messages: this.#messages, freshFrom: this.#freshFrom };
  }

  /** Nothing has been said since the latest compaction. */
  get isCompacted(): boolean {
    return this.#freshFrom > 0 && this.#freshFrom === this.#messages.length;
  }

  /** Writes the message to the session and adds it to the context. Returns the entry's id. */
  append(message: AgentMessage): string {
    const id =
      message.role === "custom"
        ? this.#store.appendCustomMessageEntry(message.customType, message.content, message.display, message.details)
        : this.#store.appendMessage(message);
    this.#add({ id, message });
    return id;
  }

  /** The entry a message of the context stands in. */
  entryIdOf(message: AgentMessage): string | undefined {
    return this.#items.findLast((item) => item.message === message)?.id;
  }

  /** Another message in the place of one: its entry stays, and the model sees the new content from now on. */
  replace(message: AgentMessage, replacement: AgentMessage): void {
    const at = this.#items.findLastIndex((item) => item.message === message);
    const item = this.#items[at];
    if (!item || !("content" in replacement)) return;
    this.#store.appendContextEdit(item.id, replacement.content as ContextEditEntry["replacement"]);
    const before = toLlmMessage(message);
    const after = toLlmMessage(replacement);
    item.message = replacement;
    this.#messages[at] = replacement;
    if (before && after) this.#forModel[this.#forModel.lastIndexOf(before)] = after;
  }

  /** Takes a message out of the context for good; its entry stays in the session. */
  forget(message: AgentMessage): void {
    const at = this.#items.findLastIndex((item) => item.message === message);
    const item = this.#items[at];
    if (!item) return;
    this.#store.appendContextEdit(item.id, null);
    this.#items.splice(at, 1);
    this.#messages.splice(at, 1);
    if (at < this.#freshFrom) this.#freshFrom -= 1;
    const forModel = toLlmMessage(message);
    if (forModel) this.#forModel.splice(this.#forModel.lastIndexOf(forModel), 1);
  }

  /** The entry of the latest compaction on the branch. */
  lastCompaction(): CompactionEntry | undefined {
    return this.#store.getBranch().findLast((entry) => entry.type === "compaction");
  }

  /** Reads the context from the store anew, after the branch changed in another way than by growing. */
  reload(): void {
    this.#items = [];
    this.#messages = [];
    this.#forModel = [];
    const { messages, entryIds } = this.#store.buildSessionContext();
    for (const [at, message] of messages.entries()) this.#add({ id: entryIds[at] as string, message });
    this.#freshFrom = this.#messages[0]?.role === "compactionSummary" ? this.#firstFresh() : 0;
  }

  /** Entries newer than the compaction hang below it. */
  #firstFresh(): number {
    const branch = this.#store.getBranch();
    const at = branch.findLastIndex((entry) => entry.type === "compaction");
    const newer = new Set(branch.slice(at + 1).map(({ id }) => id));
    const fresh = this.#items.findIndex(({ id }) => newer.has(id));
    return fresh < 0 ? this.#items.length : fresh;
  }

  #add(item: ContextItem): void {
    this.#items.push(item);
    this.#messages.push(item.message);
    const forModel = toLlmMessage(item.message);
    if (forModel) this.#forModel.push(forModel);
  }
}
