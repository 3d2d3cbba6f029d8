// Shapes that payloads of several events share.

import type { AgentToolResult, CustomAgentMessages } from "@earendil-works/pi-agent-core";
import type { AssistantMessage, AssistantMessageEvent } from "@earendil-works/pi-ai";
import type { AgentMessage } from "../core/messages.js";
import type { ContextEditEntry, CustomEntry, CustomMessageEntry } from "../sessions/entries.js";

export type { AgentMessage, AgentToolResult, CustomAgentMessages };

/** Why a session began. */
export type StartReason = "startup" | "reload" | "new" | "resume" | "fork";

type Draft<Entry> = Omit<Entry, "id" | "parentId" | "timestamp">;

/** An entry that handlers at the end of a turn or a run may have appended. */
export type NewEntry = Draft<CustomEntry> | Draft<CustomMessageEntry> | Draft<ContextEditEntry>;

export interface MessageUpdatePayload {
  message: AssistantMessage;
  assistantMessageEvent: AssistantMessageEvent;
}

/** What a compaction is about to summarise, and what it keeps. */
export interface CompactionPlanView {
  firstKeptEntryId: string;
  messagesToSummarize: AgentMessage[];
  /** The beginning of the turn that is cut in two, summarised by itself. */
  turnPrefixMessages: AgentMessage[];
  isSplitTurn: boolean;
  tokensBefore: number;
  previousSummary?: string;
  fileOps: { read: Set<string>; written: Set<string>; edited: Set<string> };
  settings: { enabled: boolean; reserveTokens: number; keepRecentTokens: number };
}

/** What the system prompt is made of. Handlers of `before_agent_start` may change it for the run that follows. */
export interface SystemPromptOptions {
  customPrompt?: string;
  /** Takes the place of the whole prompt. */
  forceSystemPrompt?: string;
  selectedTools: string[];
  hiddenTools: string[];
  toolSnippets: Record<string, string>;
  toolGuidelines: Record<string, string[]>;
  promptGuidelines: string[];
  /** Sections of one's own by tag name. */
  sections: Record<string, string>;
  appendSystemPrompt?: string;
  cwd: string;
  contextFiles: { path: string; content: string }[];
  skills: { name: string; description: string; filePath: string; baseDir?: string }[];
}
