// One session whose program is killed again and again; each next run must go on where the file ends.

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { KillTotals } from "./kills.js";
import type { JsonRecord } from "./records.js";
import type { CliOptions, RunningCli } from "./running-cli.js";
import type { Workspace } from "./workspace.js";

/** The last one hits a copy of the session. */
export const killsPerSession = 5;

interface Command extends JsonRecord {
  type: string;
}

/** What is sent before a kill, and the fewest records that come of it. */
interface Plan {
  commands: Command[];
  records: number;
  /** Bytes by which the file has grown when the kill comes; absent: it comes after a number of records. */
  bytes?: number;
}

export interface KilledSessionOptions {
  path: string;
  place: Workspace;
  start: (options: CliOptions) => RunningCli;
  random: () => number;
  totals: KillTotals;
}

export class KilledSession {
  readonly #options: KilledSessionOptions;
  /** Where it goes on; a copy after a fork. */
  #path: string;
  /** The file as it was last seen, and its entries. */
  #bytes: Buffer = Buffer.alloc(0);
  #entries: JsonRecord[] = [];
  #cli: RunningCli | undefined;
  /** What is under way, for failures. */
  doing = "";

  constructor(options: KilledSessionOptions) {
    this.#options = options;
    this.#path = options.path;
  }

  /** Throws an error that says what was lost. */
  async live(): Promise<void> {
    for (let kill = 1; kill <= killsPerSession; kill += 1) {
      await this.#goOn(kill);
      const plan = kill === killsPerSession ? this.#copyPlan() : this.#workPlan();
      this.doing = `kill ${kill} of ${plan.commands.map(({ type }) => type).join(", ")}`;
      await this.#kill(plan);
    }
    await this.#goOn(killsPerSession + 1);
  }

  /** Ends the process and removes the files. */
  end(): void {
    this.#cli?.destroy();
    rmSync(dirname(this.#options.path), { recursive: true, force: true, maxRetries: 3 });
  }

  /** A run that is not killed yet; one of a session that exists says something. */
  async #goOn(run: number): Promise<void> {
    this.#cli?.destroy();
    const { place, start } = this.#options;
    const cli = start({ place, args: ["--mode", "rpc", "--model", "demo", "--session", this.#path] });
    this.#cli = cli;
    if (this.#bytes.length === 0) return;
    this.doing = `going on, run ${run}`;
    const before = this.#entries.length;
    const message = `Going on ${run}`;
    cli.send({ type: "prompt", message });
    await cli.records.anywhere({ type: "agent_settled" });
    this.#read(cli.records.all);
    const added = this.#entries.slice(before);
    const texts = added.map((entry) => (entry.message as JsonRecord | undefined)?.content);
    must(isDeepStrictEqual(texts[0], [{ type: "text", text: message }]), "the next text is not behind the old entries");
    must(added.length >= 2, "the next text was not answered");
    const { data } = await cli.ask({ type: "get_entries" });
    must(isDeepStrictEqual((data as JsonRecord).entries, this.#entries), "get_entries is not what the file holds");
  }

  async #kill({ commands, records, bytes }: Plan): Promise<void> {
    const { random, totals } = this.#options;
    const cli = this.#cli as RunningCli;
    const from = cli.records.all.length;
    const size = this.#bytes.length;
    cli.sendRaw(commands.map((command) => `${JSON.stringify(command)}\n`).join(""));
    if (bytes === undefined) {
      for (const target = from + Math.floor(random() * records); cli.records.all.length < target; )
        await cli.records.next("<any>");
    } else {
      // The name is on disk; what comes now is the long line.
      await cli.records.anywhere({ type: "session_info_changed", name: "before" });
      const { child } = cli;
      while (child.exitCode === null && sizeOf(this.#path) < size + bytes) await new Promise(setImmediate);
      must(child.exitCode === null, "the program ended by itself");
    }
    cli.signal("SIGKILL");
    await cli.ended;
    totals.kills += 1;
    must(
      cli.faults.every((fault) => fault.startsWith("stdout ends without LF")),
      cli.faults.join("; "),
    );
    const seen = cli.records.all.slice(from);
    const copied = seen.findIndex(({ type, id }) => type === "response" && id === "copy");
    this.#read(copied < 0 ? seen : seen.slice(0, copied), commands);
    if (commands.some(({ id }) => id === "copy"))
      this.#enterCopy(copied < 0 ? undefined : seen.slice(copied), commands);
  }

  /** Texts, names, labels and shell commands, in any order; now and then one line that takes long to write. */
  #workPlan(): Plan {
    const { random } = this.#options;
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    if (random() < 0.2) {
      const size = 500_000 + Math.floor(random() * 1_000_000);
      const commands: Command[] = [
        { type: "set_session_name", name: "before" },
        { type: "follow_up", message: "x".repeat(size) },
      ];
      return { commands, records: 0, bytes: Math.floor(random() * size) };
    }
    const commands: Command[] = [];
    let records = 0;
    for (let step = 0; step < 8; step += 1) {
      const kind = step === 0 ? "text" : pick(["text", "text", "name", "label", "shell"]);
      if (kind === "label" && this.#entries.length > 0) {
        const label = pick(["start", "here", "ü😀"]);
        commands.push({ id: step, type: "set_label", entryId: pick(this.#entries).id as string, label });
        records += 1;
      } else if (kind === "shell") {
        commands.push({ type: "bash", command: "echo two" });
        records += 2;
      } else if (kind === "text") {
        const message = pick(["Run `echo one`", 'create the file a.txt with "Hello"', "read a.txt", "hello"]);
        commands.push({ type: "follow_up", message });
        records += 20;
      } else {
        commands.push({ type: "set_session_name", name: `name ${step}` });
        records += 2;
      }
    }
    return { commands, records };
  }

  /** Goes on in a copy, of the whole or up to the last message of the user. */
  #copyPlan(): Plan {
    const last = this.#entries.findLast(({ message }) => (message as JsonRecord | undefined)?.role === "user");
    const isFork = this.#options.random() < 0.5 && last !== undefined;
    const commands: Command[] = [
      { type: "set_session_name", name: "copied" },
      isFork ? { id: "copy", type: "fork", entryId: last.id as string } : { id: "copy", type: "clone" },
      { type: "follow_up", message: "Run `echo copy`" },
      { type: "set_session_name", name: "a copy" },
    ];
    return { commands, records: 40 };
  }

  /** `announced` is what was told from the answer on; absent when the kill came before it. */
  #enterCopy(announced: readonly JsonRecord[] | undefined, commands: readonly Command[]): void {
    const directory = dirname(this.#path);
    const paths = readdirSync(directory).filter((name) => name.endsWith(".jsonl") && !this.#path.endsWith(name));
    must(paths.length <= 1, "one copy made several files");
    const [name] = paths;
    if (announced) {
      must(announced[0]?.success === true, `the copy failed: ${JSON.stringify(announced[0])}`);
      must(name !== undefined, "a copy was announced, and there is no file");
    }
    if (name === undefined) return;
    const target = commands.find(({ type }) => type === "fork")?.entryId;
    const end = target === undefined ? this.#entries.length : this.#entries.findIndex(({ id }) => id === target);
    const copied = this.#entries.slice(0, end);
    this.#path = join(directory, name);
    this.#bytes = Buffer.alloc(0);
    this.#entries = [];
    this.#options.totals.announced += announced ? 1 : 0;
    this.#read(announced ?? [], commands, copied.length);
    must(isDeepStrictEqual(this.#entries.slice(0, copied.length), copied), "the copy is not what was copied");
  }

  /** Looks at what was written since, which must be whole lines in one row and have all that was announced. */
  #read(records: readonly JsonRecord[], commands: readonly Command[] = [], copied = 0): void {
    const { totals } = this.#options;
    const before = this.#bytes;
    const after = existsSync(this.#path) ? readFileSync(this.#path) : Buffer.alloc(0);
    must(after.subarray(0, before.length).equals(before), "what stood in the file has changed");
    let tail = after.subarray(before.length);
    if (tail.length > 0 && before.length > 0 && before.at(-1) !== 0x0a) {
      must(tail[0] === 0x0a, "an open line was written on");
      tail = tail.subarray(1);
    }
    const lines = tail.toString("utf8").split("\n");
    const added: JsonRecord[] = [];
    for (const [at, line] of lines.entries()) {
      const entry = parsed(line);
      const isLast = at === lines.length - 1;
      if (entry) added.push(entry);
      else if (!isLast) throw new Error(`a line was broken: ${line.slice(0, 200)}`);
      else if (line !== "") totals.torn += 1;
    }
    if (before.length === 0 && added.length > 0) must(added.shift()?.type === "session", "the file has no header");
    this.#bytes = after;
    for (const entry of added) {
      const parent = this.#entries.at(-1)?.id ?? null;
      must(entry.parentId === parent, `entry ${entry.id} has parent ${entry.parentId} in place of ${parent}`);
      this.#entries.push(entry);
    }
    must(new Set(this.#entries.map(({ id }) => id)).size === this.#entries.length, "an id comes twice");
    totals.found += added.length - copied;
    const told = announced(records, commands);
    const written = inFile(added.slice(copied));
    for (const kind of ["messages", "names", "labels"] as const) {
      totals.announced += told[kind].length;
      // What was written and not announced any more may follow.
      const kept = isDeepStrictEqual(written[kind].slice(0, told[kind].length), told[kind]);
      must(kept, `announced ${kind} are not in the file: ${short(told[kind])}; written: ${short(written[kind])}`);
    }
  }
}

/** What was announced, by kind: a text is written before it is announced, so a name may come between. */
function announced(records: readonly JsonRecord[], commands: readonly Command[]) {
  const labels = records.flatMap(({ type, command, success, id }) => {
    const isSet = type === "response" && command === "set_label" && success === true;
    const sent = isSet && commands.find((other) => other.id === id);
    return sent ? [[sent.entryId, sent.label]] : [];
  });
  return {
    messages: records.flatMap((record) => (record.type === "message_end" ? [record.message] : [])),
    names: records.flatMap((record) => (record.type === "session_info_changed" ? [record.name] : [])),
    labels,
  };
}

function inFile(entries: readonly JsonRecord[]): ReturnType<typeof announced> {
  const messages = entries.flatMap(({ type, message }) => (type === "message" ? [message as JsonRecord] : []));
  return {
    // The output of shell commands is not announced as a message.
    messages: messages.filter(({ role }) => role !== "bashExecution"),
    names: entries.flatMap(({ type, name }) => (type === "session_info" ? [name] : [])),
    labels: entries.flatMap(({ type, targetId, label }) => (type === "label" ? [[targetId, label]] : [])),
  } as ReturnType<typeof announced>;
}

function parsed(line: string): JsonRecord | undefined {
  try {
    return JSON.parse(line) as JsonRecord;
  } catch {
    return undefined;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? "").slice(0, 600);
}

function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
