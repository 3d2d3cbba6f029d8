// What extensions may refuse or do in our place: compactions, moves in the tree, and the user's shell commands.

import type { Model } from "@earendil-works/pi-ai";
import { askUserBash, beforeCompact, beforeTree } from "../extensions/hooks.js";
import type { ExtensionRunner } from "../extensions/runner.js";
import type { SessionManager } from "../sessions/session-manager.js";
import type { BashOperations } from "../tools/operations.js";
import type { BranchHooks } from "./branch.js";
import type {
  CompactionEnd,
  CompactionLimits,
  CompactionPreparation,
  PreparedCompaction,
} from "./compaction/compactor.js";
import type { AgentMessage } from "./messages.js";

export interface ExtensionChangesOptions {
  runner: ExtensionRunner;
  store: SessionManager;
  model: () => Model | null;
  limits: (model: Model) => CompactionLimits;
}

/** The hooks of one session's compactions, moves and commands. */
export class ExtensionChanges {
  readonly #options: ExtensionChangesOptions;

  constructor(options: ExtensionChangesOptions) {
    this.#options = options;
  }

  /** Nothing when the compaction is made as usual. */
  async prepareCompaction(
    preparation: CompactionPreparation,
    signal: AbortSignal,
  ): Promise<PreparedCompaction | undefined> {
    const { runner, store, model, limits } = this.#options;
    if (!runner.has("session_before_compact")) return undefined;
    const { reason, willRetry, instructions, history, prefix, tokensBefore, firstKeptEntryId, previousSummary } =
      preparation;
    const current = model();
    const decision = await beforeCompact(runner, {
      preparation: {
        firstKeptEntryId,
        messagesToSummarize: history,
        turnPrefixMessages: prefix,
        isSplitTurn: prefix.length > 0,
        tokensBefore,
        ...(previousSummary !== undefined && { previousSummary }),
        fileOps: fileOperations([...history, ...prefix]),
        settings: { enabled: true, ...(current ? limits(current) : { reserveTokens: 0, keepRecentTokens: 0 }) },
      },
      branchEntries: store.getBranch(),
      ...(instructions !== undefined && { customInstructions: instructions }),
      reason,
      willRetry,
      signal,
    });
    if (decision?.cancel) return { cancel: true };
    return decision?.compaction;
  }

  async compacted({ reason, willRetry, fromHook, aborted, errorMessage }: CompactionEnd): Promise<void> {
    const { runner, store } = this.#options;
    const failed = aborted || errorMessage !== undefined;
    const name = failed ? "session_compact_failed" : "session_compact";
    if (!runner.has(name)) return;
    if (failed) {
      const why = errorMessage === undefined ? {} : { errorMessage };
      await runner.each(name, { reason, aborted, willRetry, fromExtension: fromHook, ...why } as never);
      return;
    }
    const compactionEntry = store.getBranch().findLast((entry) => entry.type === "compaction");
    await runner.each(name, { compactionEntry, fromExtension: fromHook, reason, willRetry } as never);
  }

  get branchHooks(): BranchHooks {
    const { runner, store } = this.#options;
    return {
      before: async (request, left, signal) => {
        if (!runner.has("session_before_tree")) return { request };
        const { entryId, summarize, instructions, replaceInstructions, label } = request;
        const decision = await beforeTree(runner, {
          preparation: {
            targetId: entryId,
            oldLeafId: store.getLeafId(),
            commonAncestorId: left[0]?.parentId ?? (left.length > 0 ? null : entryId),
            entriesToSummarize: [...left],
            userWantsSummary: summarize === true,
            ...(instructions !== undefined && { customInstructions: instructions }),
            ...(replaceInstructions !== undefined && { replaceInstructions }),
            ...(label !== undefined && { label }),
          },
          signal,
        });
        return {
          ...(decision.cancel && { cancel: true }),
          ...(typeof decision.summary?.summary === "string" && { summary: decision.summary }),
          request: {
            ...request,
            instructions: decision.customInstructions ?? instructions,
            replaceInstructions: decision.replaceInstructions ?? replaceInstructions,
            label: decision.label ?? label,
          },
        };
      },
      after: async ({ newLeafId, oldLeafId, summaryEntryId, fromExtension }) => {
        if (!runner.has("session_tree")) return;
        const summaryEntry = summaryEntryId === undefined ? undefined : store.getEntry(summaryEntryId);
        await runner.each("session_tree", {
          newLeafId,
          oldLeafId,
          ...(summaryEntry && { summaryEntry, fromExtension }),
        });
      },
    };
  }

  /** Who runs a command in our place, or what it gave. Rejects when a handler fails: the command is not run then. */
  async userBash(
    command: string,
    excludeFromContext: boolean,
  ): Promise<{ operations?: BashOperations; result?: object }> {
    const { runner, store } = this.#options;
    if (!runner.has("user_bash")) return {};
    return (await askUserBash(runner, { command, excludeFromContext, cwd: store.getCwd() })) ?? {};
  }
}

function fileOperations(messages: readonly AgentMessage[]) {
  const operations = { read: new Set<string>(), written: new Set<string>(), edited: new Set<string>() };
  const kinds: Record<string, Set<string>> = {
    read: operations.read,
    write: operations.written,
    edit: operations.edited,
  };
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content)
      if (block.type === "toolCall" && typeof block.arguments.path === "string")
        kinds[block.name]?.add(block.arguments.path);
  }
  return operations;
}
