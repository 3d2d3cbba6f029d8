import { describe, expect, test } from "vitest";
import { type FlagName, flags, helpText, type ParsedArgs, parseCommandLine } from "../src/args.js";

const parsed = (facts: Partial<ParsedArgs>): ParsedArgs => ({
  values: {},
  lists: {},
  files: [],
  messages: [],
  extensionFlags: new Map(),
  unknown: [],
  errors: [],
  ...facts,
});

interface AnyFlag {
  does?: string;
  short?: string;
  value?: string;
  repeatable?: boolean;
  optionalValue?: boolean;
}
const table = Object.entries(flags) as [FlagName, AnyFlag][];

describe("parseCommandLine", () => {
  test.each<[string, string[], Partial<ParsedArgs>]>([
    ["nothing", [], {}],
    ["messages", ["one", "two"], { messages: ["one", "two"] }],
    ["a message of nothing", [""], { messages: [""] }],
    ["a file", ["@a.txt", "look"], { files: ["a.txt"], messages: ["look"] }],
    ["an @ alone is a message", ["@"], { messages: ["@"] }],
    ["a dash alone is a message", ["-"], { messages: ["-"] }],
    ["a value behind a blank", ["--model", "m", "hi"], { values: { model: "m" }, messages: ["hi"] }],
    ["a value behind =", ["--model=a=b"], { values: { model: "a=b" } }],
    ["an empty value", ["--api-key="], { values: { "api-key": "" } }],
    ["the last value of one that is given twice", ["--model", "a", "--model", "b"], { values: { model: "b" } }],
    [
      "all values of a repeatable one",
      ["--append-system-prompt", "a", "--append-system-prompt=b"],
      { lists: { "append-system-prompt": ["a", "b"] } },
    ],
    ["options between messages", ["a", "-p", "b"], { values: { print: true }, messages: ["a", "b"] }],
    [
      "short forms of several letters",
      ["-nt", "-nbt", "-nc", "-xt", "bash"],
      { values: { "no-tools": true, "no-builtin-tools": true, "no-context-files": true, "exclude-tools": "bash" } },
    ],
    ["a short form with a value", ["-n", "My work"], { values: { name: "My work" } }],
    ["a value that looks like a short form", ["--system-prompt", "-p"], { values: { "system-prompt": "-p" } }],
    ["a value that looks like an end", ["--name", "--", "-p"], { values: { name: "--", print: true } }],
    [
      "what comes after -- is a message",
      ["-p", "--", "-p", "@a", "--model"],
      {
        values: { print: true },
        messages: ["-p", "@a", "--model"],
      },
    ],
    ["a list of models without a search", ["--list-models"], { values: { "list-models": true } }],
    [
      "a list of models with one",
      ["--list-models", "sonnet", "x"],
      {
        values: { "list-models": "sonnet" },
        messages: ["x"],
      },
    ],
    ["a list of models with one behind =", ["--list-models=sonnet"], { values: { "list-models": "sonnet" } }],
    [
      "a list of models before another option",
      ["--list-models", "--verbose", "x"],
      {
        values: { "list-models": true, verbose: true },
        messages: ["x"],
      },
    ],
    ["a list of models before a file", ["--list-models", "@a"], { values: { "list-models": true }, files: ["a"] }],
    [
      "a list of models before the end",
      ["--list-models", "--", "x"],
      {
        values: { "list-models": true },
        messages: ["x"],
      },
    ],
    ["a provider alone", ["--provider", "openai"], { values: { provider: "openai" } }],
    [
      "what terminal hosts pass along",
      ["--no-themes", "--theme", "a", "--use-theme", "b", "--tui-mode", "c", "--no-mcp", "--verbose", "hi"],
      {
        values: { "no-themes": true, "use-theme": "b", "tui-mode": "c", "no-mcp": true, verbose: true },
        lists: { theme: ["a"] },
        messages: ["hi"],
      },
    ],
  ])("takes %s", (_, argv, facts) => {
    expect(parseCommandLine(argv)).toEqual(parsed(facts));
  });

  test.each<[string[], string[]]>([
    [["--nope"], ["Unknown option: --nope"]],
    [["--nope=1"], ["Unknown option: --nope"]],
    [["-z"], ["Unknown option: -z"]],
    [["-pc"], ["Unknown option: -pc"]],
    [["--constructor"], ["Unknown option: --constructor"]],
    [["--__proto__"], ["Unknown option: --__proto__"]],
    [
      ["--nope", "-q"],
      ["Unknown option: --nope", "Unknown option: -q"],
    ],
    [["--model"], ["--model needs a value"]],
    [["-n"], ["--name needs a value"]],
    [["--append-system-prompt"], ["--append-system-prompt needs a value"]],
    [["--print=yes"], ["--print takes no value"]],
    [["--mode", "tui"], ['Unknown mode "tui": use text, json, rpc']],
    [["--mode", "rpc", "@a.txt"], ["RPC mode takes no @file arguments; send images and texts in prompts"]],
    [["--session", "a", "--continue"], ["--session and --continue cannot be combined"]],
    [["--session", "a", "--session-id", "b"], ["--session and --session-id cannot be combined"]],
    [["--no-session", "-c"], ["--continue and --no-session cannot be combined"]],
  ])("refuses %j", (argv, problems) => {
    const { errors, unknown } = parseCommandLine(argv);
    expect([...unknown.map((name) => `Unknown option: ${name}`), ...errors]).toEqual(problems);
  });

  test("takes the options of extensions: values, switches, and what is wrong with them; ours win", () => {
    const brought = new Map([
      ["plan-file", { type: "string" as const }],
      ["plan", { type: "boolean" as const }],
      ["mode", { type: "boolean" as const }],
    ]);
    const argv = ["--plan", "--plan-file", "-p", "hello", "--mode", "json", "--nope"];
    expect(parseCommandLine(argv, brought)).toEqual(
      parsed({
        values: { mode: "json" },
        messages: ["hello"],
        extensionFlags: new Map<string, boolean | string>([
          ["plan", true],
          ["plan-file", "-p"],
        ]),
        unknown: ["--nope"],
      }),
    );
    expect(parseCommandLine(["--plan=1", "--plan-file"], brought).errors).toEqual([
      "--plan takes no value",
      "--plan-file needs a value",
    ]);
  });

  test("a session in memory may have an id", () => {
    expect(parseCommandLine(["--no-session", "--session-id", "a"]).errors).toEqual([]);
  });

  test.each(table)("--%s is taken by its long and its short form", (name, flag) => {
    // What needs a company, or an allowed value, to be taken.
    const value = name === "mode" ? "json" : "x";
    for (const form of [`--${name}`, ...(flag.short ? [`-${flag.short}`] : [])]) {
      const result = parseCommandLine(flag.value ? [form, value] : [form]);
      if (flag.repeatable) expect(result).toEqual(parsed({ lists: { [name]: [value] } }));
      else expect(result).toEqual(parsed({ values: { [name]: flag.value ? value : true } }));
    }
  });

  test("no two options share a short form", () => {
    const shorts = table.flatMap(([, { short }]) => (short ? [short] : []));
    expect(new Set(shorts).size).toBe(shorts.length);
  });
});

describe("helpText", () => {
  test("tells of every option that does something, and of none that does not", () => {
    const help = helpText();
    for (const [name, { does, short, value, optionalValue }] of table) {
      const argument = value ? (optionalValue ? ` [${value}]` : ` <${value}>`) : "";
      const left = `  --${name}${short ? `, -${short}` : ""}${argument} `;
      expect([name, help.includes(left)]).toEqual([name, does !== undefined]);
    }
    expect(help.split("\n").filter((line) => line.length > 120)).toEqual([]);
  });
});
