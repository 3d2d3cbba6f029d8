// Moving in the tree: the leaf goes to another entry, and what was done on the branch that is left can be kept as a summary.

import type { Model } from "@earendil-works/pi-ai";
import type { SessionManager } from "../sessions/session-manager.js";
import { CommandError } from "./errors.js";
import type { AgentMessage } from "./messages.js";
import { collectFiles, fileListsText } from "./summarize/file-lists.js";
import type { Summarizer } from "./summarize/summarize.js";

export interface BranchesOptions {
  store: SessionManager;
  summarizer: Summarizer;
  model: () => Model | null;
  /** Makes the context anew after the leaf has moved. */
  reload: () => void;
}

export interface Navigation {
  cancelled: boolean;
  leafId: string | null;
  summary?: string;
}

/** Goes on from other entries of the session. Nothing that is left is lost: it stays a branch of the tree. */
export class Branches {
  readonly #options: BranchesOptions;
  #running: { abort: AbortController; done: Promise<unknown> } | undefined;

  constructor(options: BranchesOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Gives up the summary under way, and the leaf stays where it is; resolves after its end. Returns how many there were. */
  async abort(): Promise<number> {
    const running = this.#running;
    if (!running) return 0;
    running.abort.abort();
    await running.done.catch(() => {}); // whoever asked for it is told
    return 1;
  }

  /** Throws CommandError `not_found`, `no_model`, and `provider_error` when there is no summary; the leaf stays then. */
  async navigate(entryId: string, summarize: boolean, instructions: string | undefined): Promise<Navigation> {
    const { store, reload } = this.#options;
    if (!store.getEntry(entryId)) throw new CommandError("not_found", `Entry not found: ${entryId}`, "entryId");
    const left = summarize ? messagesLeft(store, entryId) : [];
    if (left.length === 0) return this.#move(entryId);
    const made = await this.#summarize(left, instructions);
    if (!made) return { cancelled: true, leafId: store.getLeafId() };
    const { text, details, usage } = made;
    if (!text) return this.#move(entryId); // a model was shown none of it
    const leafId = store.branchWithSummary(entryId, text, details, undefined, usage);
    reload();
    return { cancelled: false, leafId, summary: text };
  }

  #move(entryId: string): Navigation {
    this.#options.store.branch(entryId);
    this.#options.reload();
    return { cancelled: false, leafId: entryId };
  }

  async #summarize(messages: readonly AgentMessage[], instructions: string | undefined) {
    const model = this.#options.model();
    if (!model) throw new CommandError("no_model", "No model selected. A summary needs one");
    const abort = new AbortController();
    const { signal } = abort;
    const job = { kind: "branch", source: "branchSummary", model, messages, instructions, signal } as const;
    const done = this.#options.summarizer.summarize(job);
    this.#running = { abort, done };
    try {
      const { text, usage } = await done;
      const details = collectFiles(messages);
      return { text: text && `${text}${fileListsText(details)}`, details, usage };
    } catch (error) {
      if (signal.aborted) return undefined;
      throw new CommandError("provider_error", error instanceof Error ? error.message : String(error));
    } finally {
      this.#running = undefined;
    }
  }
}

/** What the model saw of the branch that is left, behind the deepest entry it has in common with the target's. */
function messagesLeft(store: SessionManager, targetId: string): AgentMessage[] {
  const kept = new Set(store.getBranch(targetId).map(({ id }) => id));
  const { messages, entryIds } = store.buildSessionContext();
  return messages.filter((_, at) => !kept.has(entryIds[at] as string));
}
