// Moving in the tree: the leaf goes to another entry, and what was done on the branch that is left can be kept as a summary.

import type { Model, Usage } from "@earendil-works/pi-ai";
import { textOf } from "../lib/error-text.js";
import type { SessionEntry } from "../sessions/entries.js";
import type { SessionManager } from "../sessions/session-manager.js";
import { CommandError } from "./errors.js";
import type { AgentMessage } from "./messages.js";
import { collectFiles, fileListsText } from "./summarize/file-lists.js";
import type { Summarizer, SummaryJob } from "./summarize/summarize.js";

export interface BranchesOptions {
  store: SessionManager;
  summarizer: Summarizer;
  model: () => Model | null;
  /** Makes the context anew after the leaf has moved. */
  reload: () => void;
  /** Hooks of extensions; absent without them. */
  hooks?: BranchHooks | undefined;
}

/** How a move is made. `replaceInstructions`: the instructions are the whole request for a summary. */
export interface NavigationRequest {
  entryId: string;
  summarize?: boolean | undefined;
  instructions?: string | undefined;
  replaceInstructions?: boolean | undefined;
  /** Put on the summary, or on the entry itself. */
  label?: string | undefined;
  /** A message of the user is to be written anew: the leaf goes to the entry before it. Going nowhere tells nobody then. */
  rewritesMessage?: boolean | undefined;
}

export interface BranchHooks {
  /** May cancel, change the request, or bring a summary. */
  before: (
    request: NavigationRequest,
    left: readonly SessionEntry[],
    signal: AbortSignal,
  ) => Promise<{ cancel?: boolean; request: NavigationRequest; summary?: GivenSummary }>;
  after: (move: {
    newLeafId: string | null;
    oldLeafId: string | null;
    summaryEntryId?: string;
    fromExtension: boolean;
  }) => Promise<void>;
}

export interface GivenSummary {
  summary: string;
  details?: unknown;
  usage?: Usage | undefined;
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
  async navigate(request: NavigationRequest): Promise<Navigation> {
    const { store } = this.#options;
    const { entryId } = request;
    if (!store.getEntry(entryId)) throw new CommandError("not_found", `Entry not found: ${entryId}`, "entryId");
    const isThere = store.getLeafId() === entryId && placeOf(request, store) === entryId;
    if (isThere && request.rewritesMessage && request.label === undefined) return { cancelled: false, leafId: entryId };
    const abort = new AbortController();
    // Running from here to the end: nothing begins between the question and the move.
    const done = this.#decide(request, abort.signal);
    this.#running = { abort, done };
    try {
      return await done;
    } finally {
      this.#running = undefined;
    }
  }

  async #decide(request: NavigationRequest, signal: AbortSignal): Promise<Navigation> {
    const { store, hooks } = this.#options;
    const { entryId } = request;
    if (!hooks) return this.#go(request, undefined, signal);
    const kept = new Set(store.getBranch(entryId).map(({ id }) => id));
    const left = store.getBranch().filter(({ id }) => !kept.has(id));
    const decided = await hooks.before(request, left, signal);
    if (decided.cancel || signal.aborted) return { cancelled: true, leafId: store.getLeafId() };
    return this.#go(decided.request, decided.request.summarize ? decided.summary : undefined, signal);
  }

  async #go(request: NavigationRequest, given: GivenSummary | undefined, signal: AbortSignal): Promise<Navigation> {
    const { store, reload } = this.#options;
    const { entryId, summarize, instructions, replaceInstructions, label } = request;
    const oldLeafId = store.getLeafId();
    const left = summarize && !given ? messagesLeft(store, entryId) : [];
    const made = given
      ? { text: given.summary, details: given.details, usage: given.usage }
      : left.length > 0
        ? await this.#summarize(left, { instructions, replaceInstructions, signal })
        : { text: "" };
    if (!made) return { cancelled: true, leafId: store.getLeafId() };
    const { text, details, usage } = made as { text: string; details?: unknown; usage?: Usage };
    const isSummary = text !== ""; // without, a model was shown none of what is left
    const place = placeOf(request, store);
    if (isSummary) store.branchWithSummary(place, text, details, given ? true : undefined, usage);
    else moveTo(store, place);
    const leafId = store.getLeafId();
    const summaryId = isSummary ? (leafId as string) : undefined;
    if (label !== undefined) {
      store.appendLabelChange(summaryId ?? entryId, label);
      // The label is a note about the place, not a place to go on from.
      moveTo(store, leafId);
    }
    reload();
    const summaryEntryId = summaryId === undefined ? {} : { summaryEntryId: summaryId };
    await this.#options.hooks?.after({
      newLeafId: leafId,
      oldLeafId,
      ...summaryEntryId,
      fromExtension: given !== undefined,
    });
    return { cancelled: false, leafId, ...(isSummary && { summary: text }) };
  }

  async #summarize(
    messages: readonly AgentMessage[],
    { replaceInstructions, ...how }: Pick<SummaryJob, "instructions" | "replaceInstructions" | "signal">,
  ) {
    const model = this.#options.model();
    if (!model) throw new CommandError("no_model", "No model selected. A summary needs one");
    const job = { kind: "branch", source: "branchSummary", model, messages, ...how } as const;
    try {
      const { text, usage } = await this.#options.summarizer.summarize({
        ...job,
        ...(replaceInstructions && { replaceInstructions }),
      });
      const details = collectFiles(messages);
      return { text: text && `${text}${fileListsText(details)}`, details, usage };
    } catch (error) {
      if (how.signal.aborted) return undefined;
      throw new CommandError("provider_error", textOf(error));
    }
  }
}

/** Where the leaf goes; null is before the first entry. */
function placeOf({ entryId, rewritesMessage }: NavigationRequest, store: SessionManager): string | null {
  const entry = store.getEntry(entryId);
  const isTyped = entry?.type === "message" && entry.message?.role === "user";
  return rewritesMessage && isTyped ? entry.parentId : entryId;
}

function moveTo(store: SessionManager, id: string | null): void {
  if (id === null) store.resetLeaf();
  else store.branch(id);
}

/** What the model saw of the branch that is left, behind the deepest entry it has in common with the target's. */
function messagesLeft(store: SessionManager, targetId: string): AgentMessage[] {
  const kept = new Set(store.getBranch(targetId).map(({ id }) => id));
  const { messages, entryIds } = store.buildSessionContext();
  return messages.filter((_, at) => !kept.has(entryIds[at] as string));
}
