import { describe, expect, test } from "vitest";
import { findRequests, toToolCall } from "../../src/apis/demo-requests.js";
import { readProvider } from "../../src/catalogue.js";
import { stream } from "../../src/stream.js";
import type {
  AssistantMessage,
  AssistantMessageEvent,
  Context,
  Message,
  Model,
  StreamOptions,
} from "../../src/types.js";

const model: Model = {
  id: "demo",
  name: "Demo",
  api: "demo",
  provider: "demo",
  baseUrl: "",
  reasoning: true,
  input: ["text", "image"],
  contextWindow: 128_000,
  maxTokens: 16_384,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};

const tools = (...names: string[]) => names.map((name) => ({ name, description: name, parameters: {} }));
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const defaultTools = tools("read", "bash", "edit", "write");

async function events(context: Context, options?: StreamOptions): Promise<AssistantMessageEvent[]> {
  const list: AssistantMessageEvent[] = [];
  for await (const event of stream(model, context, options)) list.push(event);
  return list;
}

async function answer(context: Context, options?: StreamOptions): Promise<AssistantMessage> {
  return stream(model, context, options).result();
}

const callsOf = (message: AssistantMessage) =>
  message.content.flatMap((block) =>
    block.type === "toolCall" ? [{ name: block.name, arguments: block.arguments }] : [],
  );
const textOf = (message: AssistantMessage) =>
  message.content.map((block) => (block.type === "text" ? block.text : "")).join("");

/** Runs the loop: every call gets the next of the results, an `Error` one is a failed tool. */
async function converse(text: string, offered: Context["tools"], results: (string | Error)[]) {
  const messages: Message[] = [user(text)];
  const turns: { name: string; arguments: Record<string, unknown> }[][] = [];
  for (;;) {
    const message = await answer({ messages, tools: offered });
    messages.push(message);
    if (message.stopReason !== "toolUse") return { turns, text: textOf(message), stopReason: message.stopReason };
    turns.push(callsOf(message));
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const result = results.shift()!;
      const isError = result instanceof Error;
      messages.push({
        role: "toolResult",
        toolCallId: block.id,
        toolName: block.name,
        content: [{ type: "text", text: isError ? result.message : result }],
        isError,
        timestamp: 1,
      });
    }
  }
}

describe("findRequests", () => {
  const list = (path = ".") => ({ kind: "list", path });
  const read = (path: string) => ({ kind: "read", path });
  const search = (text: string, path = ".") => ({ kind: "search", text, path });
  const run = (command: string) => ({ kind: "run", command });
  const create = (path: string, content: string) => ({ kind: "create", path, content });
  const replace = (oldText: string, newText: string, path: string) => ({ kind: "replace", oldText, newText, path });
  test.each([
    ["List the files in this directory", [list()]],
    ["what files are here?", [list()]],
    ["Show me the files in src", [list("src")]],
    ["show the files in the packages/ai directory", [list("packages/ai")]],
    ["Please list the contents of the directory src.", [list("src")]],
    ["ls", [list()]],
    ["Read README.md", [read("README.md")]],
    ["what's in Makefile?", [read("Makefile")]],
    ["What does the file notes.txt say?", [read("notes.txt")]],
    ["please show me the contents of the file `my notes`.", [read("my notes")]],
    ["read a.json and b.json, and src/c.ts.", [read("a.json"), read("b.json"), read("src/c.ts")]],
    ['Search for "needle" in src/', [search("needle", "src/")]],
    ["find all occurrences of 'don't' in all files", [search("don't")]],
    ["look for \u201chello world\u201d in README.md", [search("hello world", "README.md")]],
    ['Run `ls -la` and then execute the command "pwd"', [run("ls -la"), run("pwd")]],
    ["`date`", [run("date")]],
    ['Create a new file called a/b.txt containing the text "read x.md"', [create("a/b.txt", "read x.md")]],
    ['write "two\nlines" to notes.txt', [create("notes.txt", "two\nlines")]],
    ["make an empty file x.txt", [create("x.txt", "")]],
    ['In hello.txt, replace "a" with ""', [replace("a", "", "hello.txt")]],
    ["change `foo` to `bar` in the file src/a.ts", [replace("foo", "bar", "src/a.ts")]],
    ["list all files in the src folder and read README.md", [list("src"), read("README.md")]],
    [
      'create x.txt with "a", read x.txt, replace "a" with "b" in x.txt, and search for "b"',
      [create("x.txt", "a"), read("x.txt"), replace("a", "b", "x.txt"), search("b")],
    ],
    ["hello, it's a nice day. I'd like to read it", []],
  ])("%j", (text, wanted) => {
    expect(findRequests(text)).toEqual(wanted);
  });
});

describe("toToolCall", () => {
  test("uses bash where the better tool is not offered, with everything quoted", () => {
    const bash = new Set(["bash"]);
    const command = (text: string) => toToolCall(findRequests(text)[0]!, bash)?.arguments.command;
    expect(command("list files")).toBe("ls -la");
    expect(command("read `it's $HOME`")).toBe("cat -- 'it'\\''s $HOME'");
    expect(command('search for "-v $(x)"')).toBe("grep -rnF -e '-v $(x)' -- .");
    expect(command('create x.txt with "a"')).toBeUndefined();
    expect(command('replace "a" with "b" in x.txt')).toBeUndefined();
  });

  test("uses the better tool where it is offered", () => {
    const all = new Set(["bash", "read", "ls", "grep"]);
    expect(
      ["list files in src", "read x.md", 'search for "a"'].map((text) => toToolCall(findRequests(text)[0]!, all)),
    ).toEqual([
      { name: "ls", arguments: { path: "src" } },
      { name: "read", arguments: { path: "x.md" } },
      { name: "grep", arguments: { pattern: "a", path: ".", literal: true } },
    ]);
  });
});

describe("demo", () => {
  test("is the model of the catalogue", () => {
    expect(readProvider("demo")).toMatchObject([{ id: "demo", provider: "demo", api: "demo" }]);
  });

  test("lists files with the default tools and counts them", async () => {
    const listing = "total 12\ndrwxr-xr-x 3 u g 4096 Jan  1 10:00 .\ndrwxr-xr-x 9 u g 4096 Jan  1 10:00 ..\n";
    const rows = "-rw-r--r-- 1 u g 5 Jan  1 10:00 my notes.txt\ndrwxr-xr-x 2 u g 4096 Jan  1 10:00 src\n";
    expect(await converse("List the files in this directory", defaultTools, [listing + rows])).toEqual({
      turns: [[{ name: "bash", arguments: { command: "ls -la" } }]],
      text: "There are 2 entries in this directory:\n\n- my notes.txt\n- src/",
      stopReason: "stop",
    });
  });

  test("looks at several things at once, and changes things one after the other", async () => {
    const text = 'read a.txt and b.txt, replace "x" with "y" in a.txt, read a.txt';
    const results = ["x\n", new Error('Cannot read "b.txt": ENOENT'), "Edited a.txt: 1 replacement", ""];
    expect(await converse(text, defaultTools, results)).toEqual({
      turns: [
        [
          { name: "read", arguments: { path: "a.txt" } },
          { name: "read", arguments: { path: "b.txt" } },
        ],
        [{ name: "edit", arguments: { path: "a.txt", edits: [{ oldText: "x", newText: "y" }] } }],
        [{ name: "read", arguments: { path: "a.txt" } }],
      ],
      text: [
        "a.txt has 1 line. It starts:\n\n```\nx\n```",
        'Reading b.txt failed:\n\n```\nCannot read "b.txt": ENOENT\n```',
        "Done: Edited a.txt: 1 replacement.",
        "a.txt is empty.",
      ].join("\n\n"),
      stopReason: "stop",
    });
  });

  test.each([
    ['search for "a"', ["bash"], "./x:1:a\n", '"a" is in 1 line:\n\n```\n./x:1:a\n```'],
    ['search for "a"', ["bash"], new Error("Command exited with code 1"), '"a" was not found.'],
    ['search for "a"', ["grep"], "No matches found", '"a" was not found.'],
    ["run `x`", ["bash"], "(no output)", "`x` ran and printed nothing."],
    ["run `x`", ["bash"], "a ```` b\n", "`x` printed 1 line:\n\n`````\na ```` b\n`````"],
    [
      "run `x`",
      ["bash"],
      new Error("Command exited with code 2"),
      "`x` failed:\n\n```\nCommand exited with code 2\n```",
    ],
    ["list files", ["ls"], "(empty folder)", "There is nothing in this directory."],
    ["list files", ["ls"], "a", "There is 1 entry in this directory:\n\n- a"],
  ])("%s with %j tells %j", async (text, names, result, wanted) => {
    expect((await converse(text, tools(...names), [result])).text).toBe(wanted);
  });

  test("quotes only the start of a long result", async () => {
    const { text } = await converse("read a.txt", defaultTools, [
      Array.from({ length: 99 }, (_, i) => `${i}`).join("\n"),
    ]);
    expect(text).toBe(
      `a.txt has 99 lines. It starts:\n\n\`\`\`\n${[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].join("\n")}\n…\n\`\`\``,
    );
    const wide = await converse("read a.txt", defaultTools, ["😀".repeat(1000)]);
    expect(wide.text).toContain(`\n${"😀".repeat(300)}\n…\n`);
  });

  test("says what it can do, what it has no tool for, and that it cannot see", async () => {
    expect(textOf(await answer({ messages: [user("hello")] }))).toMatch(/^I am the demo model:/);
    expect(textOf(await answer({ messages: [] }))).toMatch(/^I am the demo model:/);
    expect(textOf(await answer({ messages: [user("list files")] }))).toBe(
      "I cannot list the files in this directory: I was not given a tool for it.",
    );
    const image = { type: "image" as const, data: "", mimeType: "image/png" };
    expect(textOf(await answer({ messages: [{ role: "user", content: [image], timestamp: 1 }] }))).toBe(
      "I was given an image, but I cannot see.",
    );
  });

  test("streams thinking, text and arguments in several pieces that make the whole", async () => {
    const list = await events({ messages: [user("list files")], tools: defaultTools }, { thinkingLevel: "low" });
    const count = (type: string) => list.filter((event) => event.type === type).length;
    expect(list.map((event) => event.type).filter((type, index, all) => type !== all[index - 1])).toEqual([
      "start",
      "thinking_start",
      "thinking_delta",
      "thinking_end",
      "text_start",
      "text_delta",
      "text_end",
      "toolcall_start",
      "toolcall_delta",
      "toolcall_end",
      "done",
    ]);
    for (const type of ["thinking_delta", "text_delta", "toolcall_delta"]) expect(count(type)).toBeGreaterThan(1);
    const joined = (type: string) =>
      list.map((event) => (event.type === type && "delta" in event ? event.delta : "")).join("");
    const done = list.at(-1) as AssistantMessageEvent & { type: "done" };
    expect(done.message.content).toMatchObject([
      { type: "thinking", thinking: joined("thinking_delta") },
      { type: "text", text: joined("text_delta") },
      { type: "toolCall", arguments: JSON.parse(joined("toolcall_delta")) as object },
    ]);
  });

  test("does not think when it is told not to", async () => {
    const { content } = await answer({ messages: [user("list files")], tools: defaultTools }, { thinkingLevel: "off" });
    expect(content.map((block) => block.type)).toEqual(["text", "toolCall"]);
  });

  test("counts characters divided by 4, free of charge, the same each time", async () => {
    const context = { systemPrompt: "x".repeat(38), messages: [user("hello")] };
    const first = await answer(context);
    const output = Math.ceil(textOf(first).length / 4);
    expect(first.usage).toEqual({
      input: Math.ceil((38 + 2 + 5) / 4),
      output,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 12 + output,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    });
    const second = await answer(context);
    expect({ ...second, timestamp: 0, durationMs: 0 }).toEqual({ ...first, timestamp: 0, durationMs: 0 });
  });

  test("stops between deltas when it is aborted and keeps what it said", async () => {
    const abort = new AbortController();
    const list: AssistantMessageEvent[] = [];
    for await (const event of stream(model, { messages: [user("hello")] }, { signal: abort.signal })) {
      list.push(event);
      if (event.type === "text_delta") abort.abort();
    }
    const last = list.at(-1) as AssistantMessageEvent & { type: "error" };
    expect(list.filter((event) => event.type === "text_delta")).toHaveLength(1);
    expect([last.type, last.reason, textOf(last.error)]).toEqual(["error", "aborted", "I am the "]);
  });
});
