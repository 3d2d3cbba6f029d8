import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AuthStorage } from "../../src/resources/auth.js";
import { workspace } from "./workspace.js";

const key = (text: string) => ({ type: "api_key" as const, key: text });

describe("AuthStorage", () => {
  test("a stored key, one in a variable, one of a command, one given for the process", async () => {
    const { agentDir, root } = workspace({
      "agent/auth.json": {
        plain: key("sk-1"),
        variable: key("$KEY"),
        unset: key("$NOPE"),
        command: key("!echo ran >> $LOG; echo sk-2"),
      },
    });
    const log = join(root, "log");
    const auth = AuthStorage.load({ agentDir, env: { KEY: "sk-3", LOG: log, PATH: process.env.PATH } });
    expect(auth.diagnostics).toEqual([]);
    expect(["plain", "variable", "unset", "command", "nobody"].map((provider) => auth.has(provider))).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    expect(await auth.resolveKey("plain")).toBe("sk-1");
    expect(await auth.resolveKey("variable")).toBe("sk-3");
    expect(await auth.resolveKey("nobody")).toBeUndefined();
    expect(await Promise.all([auth.resolveKey("command"), auth.resolveKey("command")])).toEqual(["sk-2", "sk-2"]);
    expect(await auth.resolveKey("command")).toBe("sk-2");
    expect(readFileSync(log, "utf8")).toBe("ran\n");
    auth.setRuntimeKey("plain", "sk-4");
    expect(await auth.resolveKey("plain")).toBe("sk-4");
    auth.setRuntimeKey("plain", undefined);
    expect(await auth.resolveKey("plain")).toBe("sk-1");
  });

  test("the env of a credential wins for its provider only", () => {
    const { agentDir } = workspace({ "agent/auth.json": { a: { ...key("k"), env: { ACCOUNT: "own" } } } });
    const auth = AuthStorage.load({ agentDir, env: { ACCOUNT: "general" } });
    expect([auth.envOf("a").ACCOUNT, auth.envOf("b").ACCOUNT]).toEqual(["own", "general"]);
  });

  test("a key that no HTTP header can carry is ignored with its place, and refused when it is to be stored", async () => {
    const { agentDir, write } = workspace();
    const bad = JSON.stringify({
      lines: key("sk-\n1"),
      letters: key("sk-€"),
      fine: key("sk-é"),
      command: key("!x\ny €"),
    });
    write("agent/auth.json", bad.replaceAll('"letters"', '\n"letters"'));
    const auth = AuthStorage.load({ agentDir });
    expect(auth.diagnostics.map(({ message, line }) => [message, line])).toEqual([
      ['"lines.key" has characters that no HTTP header can carry; it is ignored', 1],
      ['"letters.key" has characters that no HTTP header can carry; it is ignored', 2],
    ]);
    expect(["lines", "letters", "fine", "command"].map((provider) => auth.has(provider))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    const refusal = "Cannot store a key: it has characters that no HTTP header can carry";
    await expect(auth.setKey("new", "sk-€")).rejects.toThrow(refusal);
    await expect(auth.set("new", key("sk-\r"))).rejects.toThrow(refusal);
    expect(auth.has("new")).toBe(false);
  });

  test("what is wrong is a diagnostic, leaves the rest working, and survives saving", async () => {
    const { agentDir, write } = workspace();
    const path = write(
      "agent/auth.json",
      '{\n  "good": {"type": "api_key", "key": "k"},\n  "bad": {"type": "api_key", "key": 5},\n  "worse": "k",\n  "oauth": {"type": "oauth", "access": "x"}\n}',
    );
    const auth = AuthStorage.load({ agentDir });
    expect(auth.diagnostics.map(({ message, line }) => [message, line])).toEqual([
      ['"bad.key" must be a string that is not empty; it is ignored', 3],
      ['"worse" must be an object; it is ignored', 4],
    ]);
    expect([auth.has("good"), auth.has("bad"), auth.has("oauth")]).toEqual([true, false, false]);
    await auth.set("new", key("n"));
    await auth.remove("good");
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      bad: { type: "api_key", key: 5 },
      worse: "k",
      oauth: { type: "oauth", access: "x" },
      new: key("n"),
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect([auth.has("good"), auth.has("new")]).toEqual([false, true]);
  });

  test("setKey stores a text as it is and leaves the environment beside it", async () => {
    const { agentDir } = workspace({ "agent/auth.json": { a: { ...key("old"), env: { ACCOUNT: "own" } } } });
    const auth = AuthStorage.load({ agentDir, env: { PATH: process.env.PATH, HOME: "/home" } });
    for (const text of ["!rm -rf /tmp/x", "$HOME", "a$$b!", "$!x", "plain"]) {
      await auth.setKey("a", text);
      expect(await auth.resolveKey("a")).toBe(text);
      expect(auth.variables()).toEqual([]);
    }
    expect(auth.envOf("a").ACCOUNT).toBe("own");
  });

  test("remove tells whether there was something, and writes only then", async () => {
    const { agentDir, root } = workspace();
    const auth = AuthStorage.load({ agentDir });
    expect(await auth.remove("a")).toBe(false);
    expect(existsSync(join(root, "agent/auth.json"))).toBe(false);
    await auth.setKey("a", "k");
    expect([await auth.remove("a"), await auth.remove("a")]).toEqual([true, false]);
  });

  test("several programs that store at the same time lose nothing", async () => {
    const { agentDir } = workspace();
    const names = Array.from({ length: 8 }, (_, at) => `provider-${at}`);
    await Promise.all(names.map((name) => AuthStorage.load({ agentDir }).setKey(name, `key of ${name}`)));
    const auth = AuthStorage.load({ agentDir });
    expect(await Promise.all(names.map((name) => auth.resolveKey(name)))).toEqual(
      names.map((name) => `key of ${name}`),
    );
    expect(readdirSync(agentDir)).toEqual(["auth.json"]);
  });

  test("an unreadable file is named and keeps others from being stored over it", async () => {
    const { agentDir } = workspace();
    mkdirSync(join(agentDir, "auth.json"));
    const auth = AuthStorage.load({ agentDir });
    expect(auth.diagnostics).toMatchObject([
      { source: "auth", message: expect.stringContaining("Cannot read the file") },
    ]);
    await expect(auth.setKey("a", "k")).rejects.toThrow("Cannot change");
  });

  test("a broken file is named and never written over", async () => {
    const { agentDir, write } = workspace();
    const path = write("agent/auth.json", '{"a": {');
    const auth = AuthStorage.load({ agentDir });
    expect(auth.diagnostics).toMatchObject([{ source: "auth", path, line: 1, column: 8 }]);
    await expect(auth.set("a", key("k"))).rejects.toThrow(`Cannot change "${path}:1:8"`);
    expect(readFileSync(path, "utf8")).toBe('{"a": {');
  });
});
