// The order every stream of records keeps: each start has its end, exactly once, and a run ends with `agent_settled`.

import type { JsonRecord } from "./records.js";

/**
 * What breaks the order in `records`, in words; empty when nothing does. With `isOver` everything must have ended.
 * Records that are no session events are passed over.
 */
export function brokenOrder(records: readonly JsonRecord[], { isOver = true } = {}): string[] {
  const walk = new Walk();
  for (const [at, record] of records.entries()) walk.take(record, at);
  if (isOver) walk.finish(records.length);
  return walk.faults;
}

class Walk {
  readonly faults: string[] = [];
  #run = false;
  #agent = false;
  #turn = false;
  #message: string | undefined;
  #block: { index: number; kind: string } | undefined;
  readonly #calls = new Map<number, string>();
  readonly #tools = new Set<string>();
  #compaction = false;
  #retry = false;

  take(record: JsonRecord, at: number): void {
    const type = String(record.type);
    const require = (isFine: boolean, what: string) => {
      if (!isFine) this.faults.push(`record ${at} (${type}): ${what}`);
    };
    switch (type) {
      case "agent_start":
        require(!this.#agent, "the agent runs already");
        this.#run = true;
        this.#agent = true;
        break;
      case "turn_start":
        require(this.#agent && !this.#turn, "no agent runs, or a turn is open");
        this.#turn = true;
        break;
      case "message_start":
        require(this.#turn && this.#message === undefined, "no turn is open, or a message is");
        this.#message = roleOf(record);
        break;
      case "message_update":
        require(this.#message === "assistant", "no assistant message is open");
        this.#takeDelta(record.assistantMessageEvent as JsonRecord, require);
        break;
      case "message_end":
        require(this.#message === roleOf(record), `a message of ${this.#message ?? "nobody"} is open`);
        this.#takeEnd(record, require);
        break;
      case "tool_execution_start":
        require(this.#turn && this.#message === undefined, "no turn is open, or a message is");
        require(!this.#tools.has(String(record.toolCallId)), "it runs already");
        this.#tools.add(String(record.toolCallId));
        break;
      case "tool_execution_update":
        require(this.#tools.has(String(record.toolCallId)), "it does not run");
        break;
      case "tool_execution_end":
        require(this.#tools.delete(String(record.toolCallId)), "it does not run");
        break;
      case "turn_end":
        require(this.#turn &&
          this.#message === undefined &&
          this.#tools.size === 0, "no turn, or something in it is open");
        this.#turn = false;
        break;
      case "agent_end":
        require(this.#agent && !this.#turn, "no agent runs, or a turn is open");
        this.#agent = false;
        break;
      case "agent_settled":
        require(this.#run && !this.#agent && !this.#compaction && !this.#retry, "no run, or something in it is open");
        this.#run = false;
        break;
      case "compaction_start":
        require(!this.#compaction, "a compaction runs already");
        this.#compaction = true;
        break;
      case "compaction_end":
        this.#compaction = false;
        break;
      case "auto_retry_start":
        require(this.#run, "no run");
        this.#retry = true;
        break;
      case "auto_retry_end":
        require(this.#retry, "no retry is under way");
        this.#retry = false;
        break;
    }
  }

  finish(at: number): void {
    const open = Object.entries({ run: this.#run, agent: this.#agent, turn: this.#turn, retry: this.#retry })
      .filter(([, isOpen]) => isOpen)
      .map(([name]) => name);
    if (this.#message !== undefined) open.push(`message of ${this.#message}`);
    if (this.#compaction) open.push("compaction");
    open.push(...this.#tools);
    if (open.length > 0) this.faults.push(`after record ${at}: still open: ${open.join(", ")}`);
  }

  /** A text or thinking block ends before the next begins; only tool calls may overlap. */
  #takeDelta(event: JsonRecord, require: (isFine: boolean, what: string) => void): void {
    const [, kind, step] = /^(text|thinking|toolcall)_(start|delta|end)$/.exec(String(event.type)) ?? [];
    const index = Number(event.contentIndex);
    if (kind === undefined) require(false, `unknown step ${event.type}`);
    else if (kind === "toolcall") {
      if (step === "start") {
        require(this.#block === undefined && !this.#calls.has(index), "a block is open");
        this.#calls.set(index, String(event.id));
      } else require(this.#calls.has(index), `no call ${index} is open`);
      if (step === "end") this.#calls.delete(index);
    } else {
      if (step === "start") {
        require(this.#block === undefined && this.#calls.size === 0, "a block is open");
        this.#block = { index, kind };
      } else require(this.#block?.index === index && this.#block.kind === kind, `no ${kind} ${index} is open`);
      if (step === "end") this.#block = undefined;
    }
  }

  #takeEnd(record: JsonRecord, require: (isFine: boolean, what: string) => void): void {
    const { stopReason } = record.message as JsonRecord;
    // A block that an abort or a fault cut off ends with its message.
    const isCut = stopReason === "error" || stopReason === "aborted";
    require(isCut || (this.#block === undefined && this.#calls.size === 0), "a block is open");
    this.#block = undefined;
    this.#calls.clear();
    this.#message = undefined;
  }
}

function roleOf(record: JsonRecord): string {
  return String((record.message as JsonRecord | undefined)?.role);
}
