// The file that an export writes: where, when not, and that it holds nothing but its own markup and data.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exportHtml } from "../../../src/core/export-html/export-html.js";
import { SessionManager } from "../../../src/sessions/session-manager.js";
import { call, type Place, SessionLines, temporaryPlace } from "../../export/sessions.js";

let place: Place;
let directory: string;

beforeEach(() => {
  place = temporaryPlace();
  directory = place.directory;
});
afterEach(() => place.dispose());

function small(): SessionLines {
  const session = new SessionLines();
  session.user("Hello");
  session.answer("Hi");
  return session;
}

/** The texts of a page's data elements. */
function dataOf(html: string): string[] {
  return [...html.matchAll(/<script type="application\/json"[^>]*>([^<]*)<\/script>/g)].map(
    ([, text]) => text as string,
  );
}

test("exportHtml writes beside the work by default, and leaves the session as it is", async () => {
  const store = small().open(directory);
  const before = readFileSync(join(directory, "2026_s-1.jsonl"));
  const path = await exportHtml(store);
  expect(path).toBe(join(directory, "pi-session-2026_s-1.html"));
  expect(readFileSync(path, "utf8").slice(0, 15)).toBe("<!doctype html>");
  expect(readFileSync(join(directory, "2026_s-1.jsonl")).equals(before)).toBe(true);
  expect(readdirSync(directory).sort()).toEqual(["2026_s-1.jsonl", "pi-session-2026_s-1.html"]);
});

test("exportHtml names the page of a session in memory by its id", async () => {
  const store = SessionManager.inMemory(directory, { id: "abc" });
  store.appendMessage({ role: "user", content: [{ type: "text", text: "Hello" }], timestamp: 1 });
  expect(await exportHtml(store)).toBe(join(directory, "pi-session-abc.html"));
});

test("exportHtml resolves a relative path in the given directory, and replaces what is there", async () => {
  mkdirSync(join(directory, "out"));
  writeFileSync(join(directory, "out/page.html"), "old");
  const path = await exportHtml(small().open(directory), { outputPath: "page.html", cwd: join(directory, "out") });
  expect(path).toBe(join(directory, "out/page.html"));
  expect(readFileSync(path, "utf8")).not.toContain("old</");
  expect(readdirSync(join(directory, "out"))).toEqual(["page.html"]);
});

test("exportHtml refuses a session without messages", async () => {
  const lines = new SessionLines();
  lines.add({ type: "model_change", provider: "acme", modelId: "smart-1" });
  await expect(exportHtml(lines.open(directory))).rejects.toMatchObject({
    code: "nothing_to_do",
    message: "Nothing to export: the session has no messages",
  });
  expect(readdirSync(directory)).toEqual(["2026_s-1.jsonl"]);
});

test.each([
  ["a missing directory", "missing/page.html", "ENOENT"],
  ["a file in place of a directory", "2026_s-1.jsonl/page.html", "ENOTDIR"],
  ["a directory of that name", "taken", "it is a directory"],
])("exportHtml fails for %s and leaves nothing", async (_, outputPath, reason) => {
  mkdirSync(join(directory, "taken"));
  const store = small().open(directory);
  const failure = exportHtml(store, { outputPath });
  await expect(failure).rejects.toMatchObject({ code: "io_error" });
  await expect(failure).rejects.toThrow(`Cannot write "${join(directory, outputPath)}": ${reason}`);
  expect(readdirSync(directory).sort()).toEqual(["2026_s-1.jsonl", "taken"]);
});

test("exportHtml leaves no part of a page when the session cannot be read to its end", async () => {
  const store = small().open(directory);
  writeFileSync(join(directory, "page.html"), "the page before");
  let reads = 0;
  const broken = Object.defineProperty({ ...store.getEntries()[0] }, "message", {
    enumerable: true,
    get() {
      reads += 1;
      if (reads > 1) throw new Error("the file is gone");
      return { role: "user", content: "Hello", timestamp: 1 };
    },
  }) as ReturnType<typeof store.getEntries>[number];
  const failure = exportHtml(store, { outputPath: "page.html", moment: { entries: [broken], leafId: null } });
  await expect(failure).rejects.toThrow(`Cannot write "${join(directory, "page.html")}": the file is gone`);
  expect(readFileSync(join(directory, "page.html"), "utf8")).toBe("the page before");
  expect(readdirSync(directory).sort()).toEqual(["2026_s-1.jsonl", "page.html"]);
});

test("exportHtml never writes over the session, by whatever name", async () => {
  const store = small().open(directory);
  const before = readFileSync(join(directory, "2026_s-1.jsonl"), "utf8");
  symlinkSync(directory, join(directory, "again"));
  symlinkSync(join(directory, "2026_s-1.jsonl"), join(directory, "link.html"));
  for (const outputPath of ["2026_s-1.jsonl", "again/2026_s-1.jsonl", "link.html"])
    await expect(exportHtml(store, { outputPath })).rejects.toMatchObject({
      code: "invalid_params",
      field: "outputPath",
      message: `Cannot export to "${join(directory, outputPath)}": it is the session's own file`,
    });
  expect(readFileSync(join(directory, "2026_s-1.jsonl"), "utf8")).toBe(before);
});

test("exportHtml shows the session as it was at the call", async () => {
  const store = SessionManager.inMemory(directory);
  const say = (text: string) => store.appendMessage({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
  say("before");
  const writing = exportHtml(store);
  say("after");
  const html = readFileSync(await writing, "utf8");
  expect(html).toContain('"text":"before"');
  expect(html).not.toContain('"text":"after"');
});

test("exportHtml allows the page its own script and style, and nothing else", async () => {
  const html = readFileSync(await exportHtml(small().open(directory)), "utf8");
  const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] as string;
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text as string);
  const hash = (text: string) => createHash("sha256").update(text).digest("base64");
  expect(scripts).toHaveLength(1);
  expect(/http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]).toBe(
    `default-src 'none'; img-src data:; style-src 'sha256-${hash(style)}'; script-src 'sha256-${hash(scripts[0] as string)}'; ` +
      "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  );
  // The licences of what the script is made of ask to be where it is.
  expect(scripts[0]).toContain("Copyright (c) 2014 Vitaly Puzrin");
  expect(scripts[0]).not.toMatch(/<!--|<script/i);
});

test("exportHtml puts any text into data elements from which it comes back unchanged", async () => {
  const hostile = fc.constantFrom(
    "</script>",
    "<!--",
    "<script>",
    "]]>",
    "</title>",
    "\u2028",
    "\u2029",
    "\ud800",
    '"',
    "&lt;",
    "\\",
    "\0",
  );
  const text = fc.array(fc.oneof(hostile, fc.string({ unit: "binary", maxLength: 5 })), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(text, async (pieces) => {
      const said = `x${pieces.join("")}`;
      const session = new SessionLines();
      session.user(said);
      session.answer([call(said, said, { [said]: said })]);
      session.add({ type: "session_info", name: said });
      const html = readFileSync(await exportHtml(session.open(directory), { outputPath: "page.html" }), "utf8");
      const [index, block, ...more] = dataOf(html);
      expect(more).toEqual([]);
      expect(html.match(/<script/gi)).toHaveLength(3);
      expect(html.match(/<\/script/gi)).toHaveLength(3);
      expect(/[\u2028\u2029]/.test(`${index}${block}`)).toBe(false);
      expect(JSON.parse(index as string).title).toBe(said.trim());
      expect(JSON.parse(block as string)).toMatchObject([
        { kind: "user", parts: [{ type: "text", text: said }] },
        { kind: "assistant", parts: [{ type: "call", name: said, arguments: { [said]: said } }] },
      ]);
    }),
    { seed: 20261129, numRuns: 60 },
  );
});

test("exportHtml takes messages of any shape", async () => {
  const anything = fc.jsonValue({ maxDepth: 3 });
  const role = fc.constantFrom(
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "custom",
    "branchSummary",
    "system",
    "?",
  );
  const block = fc.record(
    {
      type: fc.constantFrom("text", "image", "thinking", "toolCall", "?"),
      text: anything,
      data: anything,
      mimeType: anything,
      name: anything,
      arguments: anything,
    },
    { requiredKeys: ["type"] },
  );
  const message = fc.record({
    role,
    content: fc.oneof(anything, fc.array(fc.oneof(block, anything))),
    usage: anything,
    details: anything,
    stopReason: anything,
    command: anything,
    summary: anything,
    model: anything,
  });
  const type = fc.constantFrom(
    "message",
    "custom_message",
    "compaction",
    "label",
    "session_info",
    "context_edit",
    "usage",
    "model_change",
    "?",
  );
  const entry = fc.record({
    type,
    message: fc.oneof(message, anything),
    targetId: anything,
    label: anything,
    name: anything,
    provider: anything,
    timestamp: anything,
    data: anything,
    content: anything,
    replacement: anything,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (entries) => {
      const session = small();
      for (const fields of entries) session.add({ ...fields, type: fields.type } as { type: string });
      const html = readFileSync(await exportHtml(session.open(directory), { outputPath: "page.html" }), "utf8");
      const [index] = dataOf(html).map((text) => JSON.parse(text));
      expect(index.entries).toHaveLength(entries.length + 2);
      for (const { kind, text, at } of index.entries) {
        expect(typeof text).toBe("string");
        expect(Number.isFinite(at)).toBe(true);
        expect(kind).toMatch(/^(user|assistant|toolResult|bash|custom|compaction|branchSummary|note)$/);
      }
    }),
    { seed: 20261129, numRuns: 100 },
  );
});

test("exportHtml shows only pictures, and only when they are base64", async () => {
  const image = (mimeType: unknown, data: unknown) => ({ type: "image", mimeType, data });
  const session = new SessionLines();
  const svg = Buffer.from("<svg onload='x'/>").toString("base64");
  const given = [
    image("image/png", "aGk="),
    image("image/svg+xml", svg),
    image('image/png" onerror="x', "aGk="),
    image("image/png", 'aGk="><b>'),
    image("text/html", "aGk="),
    image("image/webp", "aG\nk="),
    image("", "aGk="),
  ];
  session.add({ type: "message", message: { role: "user", content: given, timestamp: 1 } });
  const html = readFileSync(await exportHtml(session.open(directory)), "utf8");
  const [, block] = dataOf(html);
  expect(JSON.parse(block as string)).toEqual([
    {
      kind: "user",
      parts: [
        { type: "image", mimeType: "image/png", data: "aGk=" },
        { type: "badImage", mimeType: "image/svg+xml" },
        { type: "badImage", mimeType: 'image/png" onerror="x' },
        { type: "badImage", mimeType: "image/png" },
        { type: "badImage", mimeType: "text/html" },
        { type: "badImage", mimeType: "image/webp" },
        { type: "badImage", mimeType: "" },
      ],
    },
  ]);
});

test("exportHtml takes arguments nested as deep as a file can hold them", async () => {
  const session = small();
  session.answer([call("c", "deep", "DEEP")]);
  const depth = 50_000;
  const text = session.text(directory).replace('"DEEP"', `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
  writeFileSync(join(directory, "deep.jsonl"), text);
  const path = await exportHtml(SessionManager.open(join(directory, "deep.jsonl")));
  expect(existsSync(path)).toBe(true);
});
