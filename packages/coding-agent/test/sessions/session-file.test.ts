import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { SessionFileError } from "../../src/sessions/session-error.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { assistant, header, lines, messageEntry, readEntries, sessionFile, textsOf, user } from "./session-files.js";

const opened: SessionManager[] = [];
const open = (path: string) => {
  const session = SessionManager.open(path);
  opened.push(session);
  return session;
};
afterEach(() => {
  for (const session of opened.splice(0)) session.release();
});

const first = messageEntry("aaaaaaa1", null);
const second = messageEntry("aaaaaaa2", "aaaaaaa1", assistant("zwei 한글 😀"));
const kinds = (session: SessionManager) => session.diagnostics.map(({ kind, line }) => [kind, line]);

describe("what the file holds", () => {
  test("is kept byte for byte at every place where an append can be cut, and the next append gets a line of its own", () => {
    const whole = Buffer.from(lines(header, first));
    const added = Buffer.from(lines(messageEntry("aaaaaaa2", "aaaaaaa1", user("zwei 한글 😀"))));
    for (let length = 0; length <= added.length; length += 1) {
      const cut = Buffer.concat([whole, added.subarray(0, length)]);
      const path = sessionFile(cut);
      const session = open(path);
      const isWhole = length >= added.length - 1;
      expect(session.getEntries().map(({ id }) => id)).toEqual(isWhole ? ["aaaaaaa1", "aaaaaaa2"] : ["aaaaaaa1"]);
      expect(kinds(session)).toEqual(length === 0 || isWhole ? [] : [["torn_line", 3]]);
      expect(readFileSync(path)).toEqual(cut);
      const id = session.appendMessage(user("next"));
      const after = readFileSync(path);
      expect(after.subarray(0, cut.length)).toEqual(cut);
      expect(after.subarray(cut.length).toString().replace(/^\n/, "").split("\n")).toHaveLength(2);
      expect(kinds(session)).toEqual(length === 0 || isWhole ? [] : [["torn_line", 3]]);
      session.release();
      const again = open(path);
      expect(again.getEntries()).toEqual(session.getEntries());
      expect(again.getLeafId()).toBe(id);
      expect(kinds(again)).toEqual(length === 0 || isWhole ? [] : [["bad_line", 3]]);
    }
  });

  test("may have blank lines, garbage and CRs in the middle: kept, passed over, reported with their line", () => {
    const content = `${lines(header, first)}garbage here\n\n[1]\n${lines({ type: "x" })}${JSON.stringify(second)}\r\n`;
    const path = sessionFile(content);
    const session = open(path);
    expect(textsOf(session.buildSessionContext().messages)).toEqual(["aaaaaaa1", "zwei 한글 😀"]);
    expect(kinds(session)).toEqual([
      ["bad_line", 3],
      ["blank_line", 4],
      ["bad_line", 5],
      ["bad_line", 6],
    ]);
    session.appendMessage(user("next"));
    expect(readFileSync(path, "utf8").startsWith(content)).toBe(true);
  });

  test("may be a header without a LF", () => {
    const path = sessionFile(JSON.stringify(header));
    const session = open(path);
    expect(kinds(session)).toEqual([]);
    session.appendMessage(user("first"));
    expect(readEntries(path)).toEqual([header, ...session.getEntries()]);
  });

  test("may begin with the mark of a text editor, which stays", async () => {
    const content = `\uFEFF${lines(header, first)}`;
    const path = sessionFile(content);
    const session = open(path);
    expect([kinds(session), session.getHeader(), session.getEntries()]).toEqual([[], header, [first]]);
    session.appendMessage(user("next"));
    expect(readFileSync(path, "utf8").startsWith(content)).toBe(true);
    session.release();
    expect(open(path).getEntries()).toHaveLength(2);
    const listed = await SessionManager.list(header.cwd, dirname(path));
    expect(listed).toMatchObject([{ id: header.id, messageCount: 2, firstMessage: "aaaaaaa1" }]);
    const older = `\uFEFF${lines({ ...header, version: 2 }, first)}`;
    const migrated = open(sessionFile(older));
    migrated.appendMessage(user("next"));
    expect(migrated.getEntries()).toHaveLength(2);
  });

  test("keeps entries and fields nobody knows, as part of the tree", () => {
    const strange = { type: "hologram", id: "zzz", parentId: "aaaaaaa1", timestamp: "x", ray: { a: [1] } };
    const session = open(sessionFile(lines({ ...header, planet: "mars" }, { ...first, extra: true }, strange)));
    expect(session.getHeader()).toEqual({ ...header, planet: "mars" });
    expect(session.getEntries()).toEqual([{ ...first, extra: true }, strange]);
    expect(session.getLeafId()).toBe("zzz");
    const id = session.appendMessage(user("next"));
    expect(session.getBranch(id).map((entry) => entry.id)).toEqual(["aaaaaaa1", "zzz", id]);
  });

  test("counts the first of two entries with one id", () => {
    const session = open(sessionFile(lines(header, first, second, { ...first, timestamp: "later" })));
    expect(session.getEntries()).toEqual([first, second]);
    expect(session.diagnostics.map(({ kind }) => kind)).toEqual(["duplicate_id"]);
  });

  test("takes orphans and loops of parents as roots", () => {
    const session = open(
      sessionFile(
        lines(
          header,
          messageEntry("a", "b"),
          messageEntry("b", "c"),
          messageEntry("c", "a"),
          messageEntry("self", "self"),
          messageEntry("orphan", "nobody"),
          messageEntry("early", "late"),
          messageEntry("late", null),
        ),
      ),
    );
    expect(session.diagnostics.map(({ kind }) => kind).sort()).toEqual(["cycle", "cycle", "orphan"]);
    const roots = session.getTree().map((node) => node.entry.id);
    expect(roots.sort()).toEqual(["a", "late", "orphan", "self"]);
    expect(session.getBranch("b").map((entry) => entry.id)).toEqual(["a", "c", "b"]);
    expect(session.getChildren("late").map((entry) => entry.id)).toEqual(["early"]);
    expect(session.getChildren(null).map((entry) => entry.id)).toEqual(["a", "self", "orphan", "late"]);
  });

  test("may hold system messages of others, which are in no context", () => {
    const system = messageEntry("sys", null, { role: "system", content: "", sections: {}, timestamp: 1 });
    const session = open(sessionFile(lines(header, system, messageEntry("u", "sys"))));
    expect(textsOf(session.buildSessionContext().messages)).toEqual(["u"]);
  });
});

describe("files that are refused", () => {
  const refusal = (path: string) => {
    try {
      open(path);
    } catch (error) {
      if (error instanceof SessionFileError) return error.kind;
      throw error;
    }
    return "opened";
  };

  test.each([
    ["text", "hello\n", "not_a_session"],
    ["an empty file", "", "not_a_session"],
    ["other JSON", '{"type":"message","id":"x"}\n', "not_a_session"],
    ["a list", "[1]\n", "not_a_session"],
    ["a header without id", '{"type":"session","version":3}\n', "not_a_session"],
    ["a header whose version is no number", '{"type":"session","id":"x","version":"3"}\n', "not_a_session"],
    ["a newer version", lines({ ...header, version: 4 }), "newer_version"],
    ["a version between", lines({ ...header, version: 1.5 }), "not_a_session"],
    ["version 0", lines({ ...header, version: 0 }), "not_a_session"],
    ["version -1", lines({ ...header, version: -1 }), "not_a_session"],
    ["no version in place of one", lines({ ...header, version: null }), "not_a_session"],
  ])("%s stays as it is", (_, content, kind) => {
    const path = sessionFile(content);
    expect(refusal(path)).toBe(kind);
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  test.each([1.5, 0, -1, "3", null, [3]])("a version %j that never was is named", (version) => {
    const path = sessionFile(lines({ ...header, version }));
    expect(() => SessionManager.open(path)).toThrow(
      `Cannot open session "${path}": its version is ${JSON.stringify(version)}, which is none of 1 to 3`,
    );
  });

  test("a missing file and a directory", () => {
    const path = sessionFile("");
    expect(refusal(`${path}.missing`)).toBe("missing");
    expect(refusal(`${path}/below`)).toBe("missing");
    expect(refusal(path.replace(/\/[^/]*$/, ""))).toBe("unreadable");
  });
});

describe("older versions", () => {
  const v1 = lines(
    { type: "session", id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/work" },
    { type: "message", timestamp: "t", message: user("one") },
    "junk",
    {
      type: "message",
      timestamp: "t",
      message: { role: "hookMessage", customType: "c", content: "hook", display: true, timestamp: 3 },
    },
    { type: "compaction", timestamp: "t", summary: "sum", firstKeptEntryIndex: 2, tokensBefore: 9 },
    { type: "message", timestamp: "t", message: user("two"), more: 1 },
  );

  test("are read as the current one, with the same ids each time, and not touched by reading", () => {
    const path = sessionFile(v1);
    const session = open(path);
    expect(session.getHeader()).toMatchObject({ id: "old", version: 3 });
    expect(session.getEntries().map(({ id, parentId }) => [id, parentId])).toEqual([
      ["00000001", null],
      ["00000002", "00000001"],
      ["00000003", "00000002"],
      ["00000004", "00000003"],
    ]);
    expect(textsOf(session.buildSessionContext().messages)).toEqual(["summary: sum", "hook", "two"]);
    expect(open(path).getEntries()).toEqual(session.getEntries());
    expect(readFileSync(path, "utf8")).toBe(v1);
  });

  test("are replaced whole at the first append, junk included", () => {
    const path = sessionFile(`${v1}{"torn`);
    const session = open(path);
    session.appendMessage(user("three"));
    session.appendMessage(user("four"));
    const content = readFileSync(path, "utf8");
    expect(content.split("\n")[2]).toBe("junk");
    expect(content.split("\n")[6]).toBe('{"torn');
    expect(readEntries(path)).toEqual([session.getHeader(), ...session.getEntries()]);
    session.release();
    expect(open(path).getEntries()).toEqual(session.getEntries());
  });

  test("version 2 calls messages of extensions hookMessage", () => {
    const hook = messageEntry("h", null, {
      role: "hookMessage",
      customType: "c",
      content: "x",
      display: true,
      timestamp: 1,
    });
    const session = open(sessionFile(lines({ ...header, version: 2 }, hook)));
    expect(session.getEntries()).toEqual([{ ...hook, message: { ...(hook.message as object), role: "custom" } }]);
  });
});

test("any sequence of appends, branches, reopenings and torn writes keeps every entry", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("append" as const), text: fc.string({ unit: "binary", maxLength: 12 }) }),
    fc.record({ do: fc.constant("branch" as const), at: fc.nat() }),
    fc.constant({ do: "reset" as const }),
    fc.constant({ do: "reopen" as const }),
    fc.record({ do: fc.constant("tear" as const), bytes: fc.integer({ min: 1, max: 30 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const path = sessionFile(lines(header));
      let session = open(path);
      const expected: { id: string; parentId: string | null; text: string }[] = [];
      let leaf: string | null = null;
      const reopen = () => {
        session.release();
        session = open(path);
        leaf = expected.at(-1)?.id ?? null;
      };
      for (const action of steps) {
        if (action.do === "append") {
          const id = session.appendMessage(user(action.text));
          expected.push({ id, parentId: leaf, text: action.text });
          leaf = id;
        } else if (action.do === "branch" && expected.length > 0) {
          leaf = expected[action.at % expected.length]!.id;
          session.branch(leaf);
        } else if (action.do === "reset") {
          leaf = null;
          session.resetLeaf();
        } else if (action.do === "reopen") reopen();
        else if (action.do === "tear") {
          session.release();
          writeFileSync(path, lines(messageEntry("torn", null)).slice(0, action.bytes), { flag: "a" });
          reopen();
        }
        expect(session.getLeafId()).toBe(leaf);
        expect(
          session.getEntries().map((entry) => ({
            id: entry.id,
            parentId: entry.parentId,
            text: entry.type === "message" ? textsOf([entry.message])[0] : "",
          })),
        ).toEqual(expected);
      }
    }),
    { seed: 20260101, numRuns: 120 },
  );
});
