// Joins the extensions of a session to its parts.

import type { Model } from "@earendil-works/pi-ai";
import type { NewEntry } from "../extensions/event-parts.js";
import type { SessionManager } from "../sessions/session-manager.js";
import type { CompactionLimits } from "./compaction/compactor.js";
import type { Conversation } from "./conversation.js";
import { customMessage, mustBeJson } from "./custom-message.js";
import { ExtensionBridge, type ExtensionBridgeOptions } from "./extension-bridge.js";
import { ExtensionChanges } from "./extension-changes.js";
import type { InputTransform } from "./input.js";
import type { AgentMessage, CustomMessage } from "./messages.js";

/** The extensions of a session, and its side of what they may change. */
export type SessionExtensions = Pick<
  ExtensionBridgeOptions,
  "runner" | "promptOptions" | "buildPrompt" | "setActiveTools"
>;

/** What extensions need of the session's parts. */
export interface SessionParts extends Pick<ExtensionBridgeOptions, "systemPrompt" | "flushed" | "turnEnded"> {
  store: SessionManager;
  conversation: Conversation;
  /** Messages that were written when they were accepted. */
  stored: WeakSet<AgentMessage>;
  model: () => Model | null;
  limits: (model: Model) => CompactionLimits;
  /** Puts a message into the conversation by announcing it. */
  announce: (message: CustomMessage) => Promise<void>;
  appendEntry: (customType: string, data: unknown) => void;
}

export interface JoinedExtensions {
  bridge: ExtensionBridge;
  changes: ExtensionChanges;
  /** The command that a text calls, as the function that runs it. */
  commandIn: (text: string) => (() => Promise<void>) | undefined;
}

export function joinExtensions(extensions: SessionExtensions, parts: SessionParts): JoinedExtensions {
  const { runner } = extensions;
  const { store, conversation, stored, model, limits, announce, appendEntry } = parts;
  const append = (entry: NewEntry) => {
    if (entry.type === "custom") {
      mustBeJson(entry.data, `entry "${entry.customType}"`);
      appendEntry(entry.customType, entry.data);
    } else if (entry.type === "custom_message") void announce(customMessage(entry));
    else {
      if (!store.getEntry(entry.targetId)) throw new Error(`Entry not found: ${entry.targetId}`);
      store.appendContextEdit(entry.targetId, entry.replacement);
    }
  };
  const appendEntries = (entries: readonly NewEntry[]) => {
    for (const entry of entries) {
      try {
        append(entry);
      } catch (error) {
        // The others are good, and the run is not theirs to break.
        runner.runtime.fault("<runtime>", "append_entry", error);
      }
    }
    if (entries.some(({ type }) => type === "context_edit")) conversation.reload();
  };
  const bridge = new ExtensionBridge({
    ...extensions,
    systemPrompt: parts.systemPrompt,
    flushed: parts.flushed,
    turnEnded: parts.turnEnded,
    messages: () => conversation.messages,
    entryIdOf: (message) => conversation.entryIdOf(message),
    appendEntries,
    replace: (message, replacement) => {
      conversation.replace(message, replacement);
      stored.add(replacement);
    },
    isStored: (message) => stored.has(message),
  });
  return {
    bridge,
    changes: new ExtensionChanges({ runner, store, model, limits }),
    commandIn: (text) => {
      const call = runner.commandIn(text);
      return call && (() => runner.runCommand(call.command, call.args));
    },
  };
}

/** What was typed goes through handlers first, then through skills and templates. */
export function inputTransform(
  bridge: ExtensionBridge | undefined,
  expand: ((text: string) => string | Promise<string>) | undefined,
): InputTransform | undefined {
  if (!expand && !bridge) return undefined;
  return async (input) => {
    const passed = bridge ? await bridge.input(input) : input;
    if (passed === "handled" || !expand || passed.expand === false) return passed;
    return { ...passed, text: await expand(passed.text) };
  };
}
