import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  killGroup,
  ProcessGroups,
  processGroups,
  processStartTime,
  resolveShell,
  spawnGroup,
} from "../../src/lib/shell.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shell-"));
});
afterEach(() => {
  processGroups.endAll();
  rmSync(folder, { recursive: true });
});

function program(name: string, mode = 0o755): string {
  const path = join(folder, name);
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, mode);
  return path;
}

describe("resolveShell", () => {
  test("takes the shell that is set, by path or by name", () => {
    const path = program("mysh");
    expect(resolveShell(path, "")).toBe(path);
    expect(resolveShell("mysh", folder)).toBe(path);
  });

  test("prefers bash to sh, wherever it is in PATH", () => {
    program("sh");
    expect(resolveShell(undefined, `${folder}:/usr/bin:/bin`)).toMatch(/\/bash$/);
    expect(resolveShell(undefined, `/nowhere:${folder}`)).not.toBe("");
  });

  test("says what is wrong with the shell that is set", () => {
    expect(() => resolveShell(join(folder, "none"))).toThrow(
      `Cannot start shell "${join(folder, "none")}": no such file`,
    );
    expect(() => resolveShell(folder)).toThrow(`Cannot start shell "${folder}": not a file`);
    expect(() => resolveShell("no-such-shell")).toThrow('Cannot start shell "no-such-shell": no such file');
  });
});

/** A shell whose background child waits on a pipe that this process holds open; ends with its number on stdout. */
async function startWithBackgroundChild() {
  const child = spawnGroup("/bin/sh", ["-c", "(cat <&3 >/dev/null) & echo $!"], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  const output: Buffer[] = [];
  child.stdout!.on("data", (bytes: Buffer) => output.push(bytes));
  await Promise.all([once(child, "exit"), once(child.stdout!, "end").catch(() => undefined)]);
  const closed = once((child.stdio[3] as Socket).resume(), "close");
  return { group: child.pid!, background: Number(Buffer.concat(output).toString()), closed };
}

describe("processGroups", () => {
  test("forgets a group when its only process has ended", async () => {
    const child = spawnGroup("/bin/sh", ["-c", "exit 3"], { stdio: "ignore" });
    expect(processGroups.list()).toContain(child.pid);
    expect(await once(child, "exit")).toEqual([3, null]);
    expect(processGroups.list()).not.toContain(child.pid);
  });

  test("keeps a group while a background child lives, and ends it with all others", async () => {
    const { group, background, closed } = await startWithBackgroundChild();
    expect(processGroups.has(group)).toBe(true);
    expect(processStartTime(background) !== undefined).toBe(existsSync("/proc/self/stat"));
    expect(processGroups.endAll()).toBe(1);
    await closed; // the child had the other end
  });

  test("does not kill a group whose number now belongs to a stranger", async () => {
    const child = spawnGroup("/bin/sh", ["-c", "cat <&3"], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
    const pid = child.pid!;
    const times = ["100", "200"];
    const groups = new ProcessGroups(() => times.shift());
    groups.add(pid);
    groups.leaderEnded(pid);
    expect(groups.list()).toEqual([]);
    expect(groups.end(pid)).toBe(false);
    expect(killGroup(pid, 0)).toBe(true);
    processGroups.end(pid);
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  });
});
