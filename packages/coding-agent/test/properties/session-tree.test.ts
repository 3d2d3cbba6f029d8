// Whatever is said, named, labelled, moved to, copied and opened again: session files and answers are what a model of them says.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SessionManager } from "../../src/sessions/session-manager.js";
import type { SessionTreeNode } from "../../src/sessions/session-tree.js";
import { type InProcessRpc, startInProcessRpc } from "../helpers/in-process-rpc.js";
import type { JsonRecord } from "../helpers/records.js";
import { readSession } from "../helpers/workspace.js";
import { ExpectedSession } from "./session-model.js";

const seed = 20_260_110;

const at = fc.nat({ max: 60 });
const label = fc.constantFrom("here", "ü😀", "", undefined);
const name = fc.constantFrom("one", " two ", "  ");
const change = fc.oneof(
  fc.record({ does: fc.constant("navigate" as const), at }),
  fc.record({ does: fc.constant("label" as const), at, label }),
  fc.record({ does: fc.constant("name" as const), name }),
  fc.record({ does: fc.constant("rename" as const), at, name }),
  fc.record({ does: fc.constant("fork" as const), at }),
  fc.record({ does: fc.constant("switch" as const), at }),
  fc.constantFrom({ does: "clone" as const }, { does: "new" as const }, { does: "nowhere" as const }),
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;
const text = fc.record({ does: fc.constant("prompt" as const), answer: fc.constantFrom("text", "tool", "refused") });
const step = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 7, arbitrary: change },
  // Something else comes while the model answers.
  { weight: 2, arbitrary: fc.record({ does: fc.constant("amid" as const), change }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** The sessions as they are to be, and the program they are compared with. */
class Bench {
  readonly #rpc: InProcessRpc;
  #current = new ExpectedSession().open();
  /** Those in files, in the order they were written. */
  readonly #stored: ExpectedSession[] = [];
  /** What the files held before: they only ever grow. */
  readonly #contents = new Map<string, string>();
  /** Records that were looked at for messages. */
  #seen = 0;
  #serial = 0;

  constructor(rpc: InProcessRpc) {
    this.#rpc = rpc;
  }

  async do(action: Step): Promise<void> {
    if (action.does === "prompt") await this.#prompt(action.answer);
    else if (action.does === "amid") await this.#amid(action.change);
    else await this.#change(action);
  }

  async #prompt(answer: string): Promise<void> {
    const { model } = this.#rpc;
    if (answer === "refused") model.answer({ status: 400 });
    else if (answer === "tool") {
      model.answer("Look", { toolCall: "nothing", arguments: {} });
      model.answer("Seen");
    } else model.answer("Answer");
    await this.#send();
    await this.#settled();
  }

  async #amid(then: Change): Promise<void> {
    const { model, scripted } = this.#rpc;
    const hold = `hold ${++this.#serial}`;
    model.answer("Half", { hold });
    const asked = scripted.requests.length + 1;
    await this.#send();
    await model.asked(asked);
    this.#hear();
    await this.check(); // the text is stored before it is answered
    await this.#change(then, true);
    model.holds.get(hold).release();
    await this.#settled();
  }

  async #send(): Promise<void> {
    const answer = await this.#rpc.ask({ type: "prompt", message: `Text ${++this.#serial}` });
    expect(answer).toMatchObject({ success: true, data: { disposition: "started" } });
  }

  /** Waits for the end of a run, which has been announced already when a change ended it. */
  async #settled(): Promise<void> {
    const { runtime } = this.#rpc;
    await runtime.session.waitForIdle();
    // The state is answered behind every event of the run.
    await this.#rpc.ask({ type: "get_state" });
    this.#hear();
  }

  /** Takes the announced messages into the current session. */
  #hear(): void {
    const { all } = this.#rpc.records;
    for (; this.#seen < all.length; this.#seen += 1) {
      const record = all[this.#seen] as JsonRecord;
      if (record.type === "message_end") this.#current.say(record.message as JsonRecord);
    }
  }

  async #change(action: Change, isRunning = false): Promise<void> {
    const { ask } = this.#rpc;
    const session = this.#current;
    if (action.does === "nowhere") {
      for (const type of ["navigate_tree", "set_label", "fork"])
        expect(await ask({ type, entryId: "nobody" })).toMatchObject({ success: false });
    } else if (action.does === "navigate") {
      const target = pick(session.entries, action.at);
      const answer = await ask({ type: "navigate_tree", entryId: target.id });
      if (isRunning) return expect(answer).toMatchObject({ success: false, code: "busy" });
      expect(answer).toMatchObject({ success: true, data: { cancelled: false, leafId: target.id } });
      session.leaf = target;
    } else if (action.does === "label") {
      const target = pick(session.entries, action.at);
      const answer = await ask({ type: "set_label", entryId: target.id, label: action.label });
      expect(answer).toMatchObject({ success: true });
      session.setLabel(target, action.label);
    } else if (action.does === "name") {
      this.#named(session, action.name, await ask({ type: "set_session_name", name: action.name }));
    } else if (action.does === "rename" && this.#stored.length > 0) {
      const target = pick(this.#stored, action.at);
      const answer = await ask({ type: "rename_session", sessionPath: target.path, name: action.name });
      if (target !== session) target.open();
      this.#named(target, action.name, answer);
    } else if (action.does === "new") this.#replace(await ask({ type: "new_session" }), () => new ExpectedSession());
    else if (action.does === "switch" && this.#stored.length > 0) {
      const target = pick(this.#stored, action.at);
      this.#replace(await ask({ type: "switch_session", sessionPath: target.path }), () => target);
    } else if (action.does === "clone") {
      const answer = await ask({ type: "clone" });
      if (session.messageCount > 0) this.#replace(answer, () => session.copy(session.leaf));
      else expect(answer).toMatchObject({ success: false, code: "nothing_to_do" });
    } else if (action.does === "fork") {
      const target = pick(session.entries, action.at);
      const answer = await ask({ type: "fork", entryId: target.id });
      if (session.userEntries.includes(target)) this.#replace(answer, () => session.copy(target.parent));
      else expect(answer).toMatchObject({ success: false, code: "not_found" });
    }
  }

  #named(session: ExpectedSession, wanted: string, answer: JsonRecord): void {
    expect(answer).toMatchObject({ success: wanted.trim() !== "" });
    if (wanted.trim()) session.rename(wanted.trim());
  }

  #replace(answer: JsonRecord, next: () => ExpectedSession): void {
    expect(answer).toMatchObject({ success: true, data: { cancelled: false } });
    this.#hear(); // what the old session was still told
    this.#current = next().open();
  }

  /** Compares everything. */
  async check(): Promise<void> {
    const { ask, place } = this.#rpc;
    const session = this.#current;
    const [state, listed, tree] = await Promise.all([
      ask({ type: "get_state" }),
      ask({ type: "get_entries" }),
      ask({ type: "get_tree" }),
    ]);
    const { entries, leafId } = listed.data as { entries: JsonRecord[]; leafId: string | null };
    expect(entries.map(withoutTime)).toEqual(session.records(entries));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(leafId).toBe(session.leaf?.id ?? null);
    const { tree: nodes, leafId: treeLeaf } = tree.data as { tree: JsonRecord[]; leafId: string | null };
    expect(treeLeaf).toBe(leafId);
    expect(nodes.map(idsOnly)).toEqual(session.tree());
    const { sessionFile, sessionName, messageCount } = state.data as JsonRecord;
    session.path ??= sessionFile as string;
    expect({ sessionFile, sessionName, messageCount }).toEqual({
      sessionFile: session.path,
      sessionName: session.name,
      messageCount: session.messageCount,
    });
    if (session.isWritten && !this.#stored.includes(session)) this.#stored.push(session);
    expect(place.sessionFiles()).toEqual(this.#stored.map(({ path }) => path).sort());
    for (const stored of this.#stored) this.#checkFile(stored);
    if (session.isWritten) expect(readSession(session.path as string).slice(1)).toEqual(entries);
    expect(this.#rpc.io.logged).toEqual([]);
  }

  #checkFile(session: ExpectedSession): void {
    const path = session.path as string;
    const content = readFileSync(path, "utf8");
    expect(content.startsWith(this.#contents.get(path) ?? "")).toBe(true);
    const isNews = content !== this.#contents.get(path);
    this.#contents.set(path, content);
    if (!isNews) return; // compared before, and nothing was to come
    const [header, ...entries] = readSession(path) as JsonRecord[];
    expect(header).toMatchObject({ type: "session", version: 3, cwd: this.#rpc.place.cwd });
    expect(entries.map(withoutTime)).toEqual(session.records(entries));
    const reopened = SessionManager.open(path);
    expect(reopened.diagnostics).toEqual([]);
    expect(reopened.getEntries()).toEqual(entries);
    expect(reopened.getLeafId()).toBe(session.entries.at(-1)?.id);
    expect(reopened.getSessionName()).toBe(session.name);
    expect(reopened.getTree().map(idsOnly)).toEqual(session.tree());
  }

  /** A file that did not change is one to which nothing was to be added. */
  checkCounts(): void {
    for (const { path, entries } of this.#stored) expect(readSession(path as string)).toHaveLength(entries.length + 1);
  }
}

function pick<T>(list: readonly T[], place: number): T {
  return list[place % list.length] as T;
}

function withoutTime({ timestamp: _, ...rest }: JsonRecord): JsonRecord {
  return rest;
}

function idsOnly(node: JsonRecord | SessionTreeNode): JsonRecord {
  const { entry, children, label: mark } = node as SessionTreeNode;
  return { id: entry.id, children: children.map(idsOnly), ...(mark !== undefined && { label: mark }) };
}

test("any sequence of commands leaves the files, the tree and the answers that it must", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
      const rpc = await startInProcessRpc({ noTools: true });
      try {
        const bench = new Bench(rpc);
        await bench.check();
        for (const action of steps) {
          await bench.do(action);
          await bench.check();
          bench.checkCounts();
        }
      } finally {
        await rpc.dispose();
      }
    }),
    { seed, numRuns: 50 },
  );
});
