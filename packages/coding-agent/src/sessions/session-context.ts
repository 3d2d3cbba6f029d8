// The branch from root to leaf → the messages the model sees, and the model and thinking level in force.

import { type ThinkingLevel, thinkingLevels } from "@earendil-works/pi-ai";
import type { AgentMessage } from "../core/messages.js";
import { type ContextContent, contextMessage, withContent } from "./context-message.js";
import type { SessionEntry } from "./entries.js";
import type { SessionTree } from "./session-tree.js";

/** What a session's branch comes to. `entryIds` runs parallel to `messages`. */
export interface SessionContext {
  messages: AgentMessage[];
  entryIds: string[];
  /** The model last chosen on the branch, else the one of its last answer; null when there is neither. */
  model: { provider: string; modelId: string } | null;
  /** The level last chosen on the branch; null when none was. */
  thinkingLevel: ThinkingLevel | null;
}

/**
 * Keeps the context of one tree's leaf. While the leaf only moves on to new entries, each of them is looked at once;
 * entries before the latest compaction are looked at only when the leaf jumps.
 */
export class ContextBuilder {
  readonly #tree: SessionTree;
  #leaf: SessionEntry | undefined;
  #items: { entry: SessionEntry; message: AgentMessage }[] = [];
  readonly #edits = new Map<string, ContextContent>();
  #chosenModel: SessionContext["model"] = null;
  #answeringModel: SessionContext["model"] = null;
  #thinkingLevel: ThinkingLevel | null = null;

  constructor(tree: SessionTree) {
    this.#tree = tree;
  }

  /** The context at the leaf. The lists are the caller's own; the messages are shared and must not be changed. */
  build(): SessionContext {
    this.#follow();
    const model = this.#chosenModel ?? this.#answeringModel;
    return {
      messages: this.#items.map((item) => item.message),
      entryIds: this.#items.map((item) => item.entry.id),
      model: model && { ...model },
      thinkingLevel: this.#thinkingLevel,
    };
  }

  #follow(): void {
    const leaf = this.#tree.leafId === null ? undefined : this.#tree.get(this.#tree.leafId);
    const added: SessionEntry[] = [];
    let at = leaf;
    for (; at && at !== this.#leaf; at = this.#tree.parentOf(at)) added.push(at);
    let isRebuilt = at !== this.#leaf || at === undefined;
    if (isRebuilt) this.#reset();
    this.#leaf = leaf;
    added.reverse();
    for (const entry of added) isRebuilt = this.#note(entry) || isRebuilt;
    if (isRebuilt) this.#items = [];
    for (const entry of isRebuilt ? this.#visible() : added) this.#show(entry);
  }

  #reset(): void {
    this.#edits.clear();
    this.#chosenModel = null;
    this.#answeringModel = null;
    this.#thinkingLevel = null;
  }

  /** Takes in what holds from this entry on; true when messages shown before have to be chosen anew. */
  #note(entry: SessionEntry): boolean {
    if (entry.type === "compaction") return true;
    if (entry.type === "context_edit") return this.#edit(entry.targetId, entry.replacement);
    if (entry.type === "model_change") this.#chosenModel = { provider: entry.provider, modelId: entry.modelId };
    else if (entry.type === "thinking_level_change")
      this.#thinkingLevel = thinkingLevels.find((level) => level === entry.thinkingLevel) ?? this.#thinkingLevel;
    else if (entry.type === "message" && entry.message?.role === "assistant") this.#noteAnswer(entry.message);
    return false;
  }

  /** Old files have answers that do not say whose they are. */
  #noteAnswer({ provider, model }: { provider?: unknown; model?: unknown }): void {
    if (typeof provider === "string" && typeof model === "string") this.#answeringModel = { provider, modelId: model };
  }

  #edit(targetId: string, replacement: ContextContent): boolean {
    this.#edits.set(targetId, replacement);
    const at = this.#items.findLastIndex((item) => item.entry.id === targetId);
    // What an earlier edit left out comes back at its place.
    if (at < 0) return replacement !== null;
    const { entry } = this.#items[at]!;
    const message = contextMessage(entry);
    if (replacement === null || !message) this.#items.splice(at, 1);
    else this.#items[at] = { entry, message: withContent(message, replacement) };
    return false;
  }

  #show(entry: SessionEntry): void {
    const message = contextMessage(entry);
    const edit = this.#edits.get(entry.id);
    if (!message || edit === null) return;
    this.#items.push({ entry, message: edit === undefined ? message : withContent(message, edit) });
  }

  /** The latest compaction, what it keeps, and what came after it; without one the whole branch. */
  #visible(): SessionEntry[] {
    const after: SessionEntry[] = [];
    let at = this.#leaf;
    for (; at && at.type !== "compaction"; at = this.#tree.parentOf(at)) after.push(at);
    if (at?.type !== "compaction") return after.reverse();
    const { firstKeptEntryId } = at;
    const kept: SessionEntry[] = [];
    if (firstKeptEntryId !== at.id)
      for (let before = this.#tree.parentOf(at); before; before = this.#tree.parentOf(before)) {
        // The latest summary stands for what earlier ones stood for.
        if (before.type !== "compaction") kept.push(before);
        if (before.id === firstKeptEntryId) return [at, ...kept.reverse(), ...after.reverse()];
      }
    // A boundary that is not on the branch keeps nothing: the summary stands for all before it.
    return [at, ...after.reverse()];
  }
}
