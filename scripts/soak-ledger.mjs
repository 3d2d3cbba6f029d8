// What the soak test knows of a session's records: what is open, what was accepted, what is owed an answer.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Starts, the ends they must have, and what tells two of a kind apart. */
const pairs = {
  agent_start: ["agent_end"],
  turn_start: ["turn_end"],
  message_start: ["message_end"],
  tool_execution_start: ["tool_execution_end", "toolCallId"],
  compaction_start: ["compaction_end"],
  auto_retry_start: ["auto_retry_end"],
  summarization_retry_scheduled: ["summarization_retry_finished"],
};
/** Another one of these belongs to the series that is open. */
const series = new Set(["auto_retry_start", "summarization_retry_scheduled"]);
const ends = Object.fromEntries(Object.entries(pairs).map(([start, [end, key]]) => [end, { start, key }]));

/** Takes every record in order; `violations` says in words what was wrong. */
export class Ledger {
  violations = [];
  records = 0;
  events = {};
  codes = {};
  accepted = new Map();
  /** Texts an answer or a queue named as not delivered. */
  named = [];
  queue = { steering: [], followUp: [] };
  settled = 0;
  #open = new Map();
  #asked = new Map();
  #run = false;

  /** A command that is owed exactly one answer. */
  asked(command) {
    this.#asked.set(command.id, command);
  }

  get unanswered() {
    return [...this.#asked.values()].filter((command) => !command.answered);
  }

  take(record) {
    this.records += 1;
    this.events[record.type] = (this.events[record.type] ?? 0) + 1;
    if (record.type === "response") return this.#answer(record);
    if (record.type === "queue_update") this.queue = { steering: record.steering, followUp: record.followUp };
    this.#pair(record);
    if (record.type === "agent_start") this.#run = true;
    if (record.type === "agent_settled") {
      if (!this.#run) this.#fault("agent_settled without a run", record);
      if (this.#open.size > 0) this.#fault(`agent_settled while open: ${[...this.#open.keys()]}`, record);
      this.#run = false;
      this.settled += 1;
    }
  }

  /** Call at the end: what is still open or owed. */
  finish() {
    if (this.#open.size > 0) this.violations.push(`open at the end: ${[...this.#open.keys()]}`);
    if (this.#run) this.violations.push("a run that never settled");
    for (const command of this.unanswered) this.violations.push(`never answered: ${JSON.stringify(command)}`);
  }

  /** Compares what was accepted with all session files, the last queue, and what was named. */
  account(directory) {
    const stored = new Map();
    for (const name of readdirSync(directory).filter((file) => file.endsWith(".jsonl")))
      for (const line of readFileSync(join(directory, name), "utf8").split("\n").filter(Boolean)) {
        const { id, type, message } = JSON.parse(line);
        if (type !== "message" || message.role !== "user") continue;
        const text = message.content[0]?.text;
        // Copies of a session keep the ids of their entries.
        stored.set(text, (stored.get(text) ?? new Set()).add(id));
      }
    const elsewhere = [...this.named, ...this.queue.steering, ...this.queue.followUp];
    for (const [text, where] of this.accepted) {
      const places = (stored.get(text)?.size ?? 0) + elsewhere.filter((other) => other === text).length;
      if (places !== 1) this.violations.push(`"${text}" (${where}) is in ${places} places`);
    }
    for (const text of stored.keys())
      if (!this.accepted.has(text)) this.violations.push(`"${text}" was never accepted`);
  }

  #answer(record) {
    const command = this.#asked.get(record.id);
    if (!command) return this.#fault("an answer nobody asked for", record);
    if (command.answered) return this.#fault("a second answer", record);
    command.answered = true;
    if (command.command && record.command !== command.command) this.#fault("an answer of another command", record);
    if (record.success) {
      if (command.text !== undefined) this.accepted.set(command.text, `${command.type}, ${record.data?.disposition}`);
      if (record.command === "clear_queue") this.named.push(...record.data.steering, ...record.data.followUp);
      if (record.data?.dropped) {
        this.named.push(...record.data.dropped.steering, ...record.data.dropped.followUp);
        this.queue = { steering: [], followUp: [] };
      }
    } else {
      this.codes[record.code] = (this.codes[record.code] ?? 0) + 1;
      if (!record.code || record.code === "internal") this.#fault("an internal error", record);
    }
    command.done?.(record);
  }

  #pair(record) {
    const start = pairs[record.type];
    const end = ends[record.type];
    if (start) {
      const name = `${record.type}${start[1] ? ` ${record[start[1]]}` : ""}`;
      if (this.#open.has(name) && !series.has(record.type)) this.#fault("it is open already", record);
      this.#open.set(name, true);
    } else if (end) {
      const name = `${end.start}${end.key ? ` ${record[end.key]}` : ""}`;
      // The second overflow of a user turn is told by an end alone.
      const isLone = record.type === "compaction_end" && record.reason === "overflow" && record.errorMessage;
      if (!this.#open.delete(name) && !isLone) this.#fault("an end without its start", record);
    }
  }

  #fault(what, record) {
    this.violations.push(`${what}: record ${this.records}, ${JSON.stringify(record).slice(0, 300)}`);
  }
}
