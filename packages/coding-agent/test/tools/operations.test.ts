// The tools with operations: files and commands that are somewhere else.

import { describe, expect, it } from "vitest";
import { createLocalBashOperations } from "../../src/extension-modules/host/tools.js";
import { createBashTool } from "../../src/tools/bash.js";
import { createEditTool } from "../../src/tools/edit.js";
import { createFindTool } from "../../src/tools/find.js";
import { createLsTool } from "../../src/tools/ls.js";
import { createReadTool } from "../../src/tools/read.js";
import { createWriteTool } from "../../src/tools/write.js";

const cwd = "/far/away";
const update = () => undefined;
const text = (result: { content: { type: string; text?: string }[] }) => result.content[0]?.text;

describe("tools with operations", () => {
  it("read from there, with limits and ranges", async () => {
    const operations = { access: async () => {}, readFile: async (path: string) => Buffer.from(`${path}\nb\nc\n`) };
    const tool = createReadTool({ cwd, operations });
    expect(text(await tool.execute("1", { path: "f" }, undefined, update))).toBe("/far/away/f\nb\nc\n");
    expect(text(await tool.execute("1", { path: "f", offset: 2, limit: 1 }, undefined, update))).toMatch(
      /^b\n\n\[Showing lines 2-2 of 3/,
    );
    const denied = createReadTool({
      cwd,
      operations: { ...operations, access: () => Promise.reject(new Error("denied")) },
    });
    await expect(denied.execute("1", { path: "f" }, undefined, update)).rejects.toThrow('Cannot read "f": denied');
  });

  it("write and edit there", async () => {
    const done: unknown[] = [];
    const writeFile = async (path: string, content: string) => void done.push([path, content]);
    const write = createWriteTool({ cwd, operations: { writeFile, mkdir: async (folder) => void done.push(folder) } });
    await write.execute("1", { path: "q/f", content: "c" }, undefined, update);
    const readFile = async () => Buffer.from("a\nb\n");
    const edit = createEditTool({ cwd, operations: { writeFile, readFile, access: async () => {} } });
    const edits = [{ oldText: "b", newText: "B" }];
    const result = await edit.execute("1", { path: "f", edits }, undefined, update);
    expect(done).toEqual(["/far/away/q", ["/far/away/q/f", "c"], ["/far/away/f", "a\nB\n"]]);
    expect(result.details).toMatchObject({ firstChangedLine: 2 });
    const binary = { writeFile, access: async () => {}, readFile: async () => Buffer.from([0xff, 0x62]) };
    const refused = createEditTool({ cwd, operations: binary }).execute("1", { path: "f", edits }, undefined, update);
    await expect(refused).rejects.toThrow("not UTF-8");
  });

  it("list and find there", async () => {
    const stat = (path: string) => ({ isDirectory: () => !path.endsWith("a") });
    const ls = createLsTool({ cwd, operations: { exists: () => true, stat, readdir: () => ["b", "a"] } });
    expect(text(await ls.execute("1", { path: "q" }, undefined, update))).toBe("a\nb/");
    const glob = async (_pattern: string, folder: string, { limit }: { limit: number }) =>
      Array.from({ length: limit }, (_, index) => `${folder}/${index}`);
    const find = createFindTool({ cwd, operations: { exists: () => true, glob } });
    expect(text(await find.execute("1", { pattern: "*", limit: 2 }, undefined, update))).toMatch(
      /^0\n1\n\n\[The limit of 2 files/,
    );
    const gone = createLsTool({ cwd, operations: { exists: () => false, stat, readdir: () => [] } });
    await expect(gone.execute("1", {}, undefined, update)).rejects.toThrow('Cannot list "."');
  });
});

describe("bash with operations", () => {
  it("runs what the hook makes of a command, and cleans and cuts the output", async () => {
    const seen: unknown[] = [];
    const tool = createBashTool({
      cwd,
      commandPrefix: "prefix",
      environment: () => ({ A: "1" }),
      spawnHook: ({ command, cwd: folder, env }) => ({
        command: `${command}!`,
        cwd: `${folder}/x`,
        env: { ...env, B: "2" },
      }),
      operations: {
        exec: async (command, folder, { onData, timeout, env }) => {
          seen.push([command, folder, timeout, env]);
          onData(Buffer.from("\u001b[31mred\u001b[0m\n"));
          return { exitCode: 0 };
        },
      },
    });
    expect(text(await tool.execute("1", { command: "c", timeout: 5 }, undefined, update))).toBe("red\n");
    expect(seen).toEqual([["prefix\nc!", "/far/away/x", 5, { A: "1", B: "2" }]]);
  });

  it("tells failures, timeouts and aborts apart", async () => {
    const failing = (end: () => Promise<{ exitCode: number | null }>) =>
      createBashTool({ cwd, operations: { exec: end } }).execute("1", { command: "c", timeout: 5 }, undefined, update);
    await expect(failing(async () => ({ exitCode: 3 }))).rejects.toThrow("Command exited with code 3");
    await expect(failing(() => Promise.reject(new Error("timeout:5")))).rejects.toThrow(
      "Command timed out after 5 seconds",
    );
    await expect(failing(() => Promise.reject(new Error("aborted")))).rejects.toThrow("Command aborted");
    await expect(failing(() => Promise.reject(new Error("no route")))).rejects.toThrow("no route");
  });

  it("can be this machine after all", async () => {
    const { exec } = createLocalBashOperations();
    let output = "";
    const end = await exec('echo "$X"; exit 4', "/", {
      onData: (data) => (output += data),
      env: { ...process.env, X: "y" },
    });
    expect([end, output]).toEqual([{ exitCode: 4 }, "y\n"]);
    const stop = AbortSignal.abort();
    await expect(exec("true", "/", { onData: () => {}, signal: stop })).rejects.toThrow("aborted");
  });
});
