// The records that an exported page carries: an index of all entries, and what they say in blocks.

/** `note` is a change of settings, a mark, or an entry of a type we do not know. */
export type EntryKind =
  | "user"
  | "assistant"
  | "toolResult"
  | "bash"
  | "custom"
  | "compaction"
  | "branchSummary"
  | "note";

/** Tokens, and US dollars. */
export interface PageUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cost: number;
}

/** One entry in the page's index. Entries are named by their place in it, -1 for none; times are in milliseconds. */
export interface PageEntry {
  id: string;
  parent: number;
  kind: EntryKind;
  at: number;
  /** Its beginning, on one line. */
  text: string;
  /** Roughly how many lines it fills when its folds are closed. */
  lines: number;
  /** The block its content is in, and its place there; without them there is no more to show than `text`. */
  block?: number;
  slot?: number;
  label?: string;
  /** Of an answer: whether it has text and not only thinking and calls. */
  says?: true;
  /** Of a result: the answer that asked for it, and which of its calls that was. */
  answers?: number;
  call?: number;
  failed?: true;
  /** It is shown elsewhere (a label on its target) and is no row of the conversation. */
  quiet?: true;
  /** The entry a note is about. */
  target?: number;
}

/** What the whole page needs at once. `leaf` is where the session goes on. */
export interface PageIndex {
  title: string;
  sessionId: string;
  cwd: string;
  exportedAt: number;
  models: string[];
  usage: PageUsage;
  leaf: number;
  entries: PageEntry[];
}

/** A piece of a message. Images were checked: a type a browser can only draw, and nothing but base64. */
export type PagePart =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; redacted?: boolean }
  | { type: "image"; mimeType: string; data: string }
  | { type: "badImage"; mimeType: string }
  | { type: "call"; name: string; arguments: unknown; incomplete?: string }
  | { type: "other"; value: unknown };

/** What an entry says. */
export type PageContent =
  | { kind: "user"; parts: PagePart[] }
  | {
      kind: "assistant";
      parts: PagePart[];
      model: string;
      stop?: string;
      error?: string;
      usage?: PageUsage;
      durationMs?: number;
    }
  | { kind: "toolResult"; tool: string; parts: PagePart[]; failed: boolean; diff?: string }
  | {
      kind: "bash";
      command: string;
      output: string;
      exitCode?: number;
      cancelled: boolean;
      log?: string;
      kept: boolean;
    }
  | { kind: "custom"; customType: string; parts: PagePart[]; hidden: boolean }
  | { kind: "compaction" | "branchSummary"; summary: string; tokensBefore?: number }
  | { kind: "note"; value: unknown };
