import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** What prints where stdout is not its own, each as a statement; `say` and `command` print the case's name. */
const strays: [string, string][] = [
  ["console.log", "console.log(name)"],
  ["process.stdout.write", "process.stdout.write(name)"],
  ["a child that inherits all", 'await once(spawn("sh", say, { stdio: "inherit" }), "close")'],
  ["a child that inherits by name", 'await once(spawn("sh", say, { stdio: ["ignore", "inherit", "pipe"] }), "close")'],
  ["a child that is given a number", 'await once(spawn("sh", say, { stdio: ["ignore", 1, 2] }), "close")'],
  ["a child that is given the stream", 'await once(spawn("sh", say, { stdio: [0, process.stdout, 2] }), "close")'],
  ["a child by the default export", 'await once(childProcess.spawn("sh", say, { stdio: "inherit" }), "close")'],
  ["spawnSync", 'spawnSync("sh", say, { stdio: "inherit" })'],
  ["spawnSync with a list", 'spawnSync("sh", say, { stdio: [0, 1, 2] })'],
  ["execFileSync", 'execFileSync("sh", say, { stdio: "inherit" })'],
  ["execSync", 'execSync(command, { stdio: "inherit" })'],
  ["a forked module", 'await once(fork(new URL("./forked.mjs", import.meta.url), [name]), "close")'],
];

/** Ways to read a child's output, each as an expression. */
const reads: [string, string][] = [
  ["spawn", '(await once(spawn("sh", say).stdout, "data"))[0]'],
  ["spawnSync", 'spawnSync("sh", say).stdout'],
  ["execFileSync", 'execFileSync("sh", say)'],
  ["execSync", "execSync(command)"],
  ["exec", "await new Promise((resolve) => exec(command, (_, out) => resolve(out)))"],
];

let folder: string;
let stdout: string;
let stderr: string;

/** One process tries everything: each case names itself. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "pi-guard-"));
  const source = fileURLToPath(new URL("../../src/modes/stdout-guard.ts", import.meta.url));
  const guard = join(folder, "guard.mjs");
  buildSync({ entryPoints: [source], outfile: guard, format: "esm", platform: "node" });
  writeFileSync(join(folder, "forked.mjs"), "process.stdout.write(process.argv[2])");
  const cases = [
    ...strays.map(([name, statement]) => [`<${name}>`, statement] as const),
    ...reads.map(([name, expression]) => [`{${name}}`, `write(String(${expression}))`] as const),
  ];
  const blocks = cases.map(
    ([name, statement]) => `{
  const name = ${JSON.stringify(name)};
  const command = "printf '%s' '" + name + "'";
  const say = ["-c", command];
  ${statement};
}`,
  );
  const program = join(folder, "program.mjs");
  writeFileSync(
    program,
    `import childProcess, { spawn, spawnSync, execSync, execFileSync, exec, fork } from "node:child_process";
import { once } from "node:events";
import { guardStdout } from ${JSON.stringify(pathToFileURL(guard).href)};
const write = guardStdout(process.stdout, process.stderr);
${blocks.join("\n")}
`,
  );
  ({ stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
    execFile(process.execPath, [program], (error, out, err) =>
      error ? reject(error) : resolve({ stdout: out, stderr: err }),
    );
  }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("guardStdout", () => {
  test.each(strays)("%s goes to stderr", (name) => {
    expect(stderr).toContain(`<${name}>`);
    expect(stdout).not.toContain(`<${name}>`);
  });

  test("a child whose output is read is read as ever, and what is ours goes out in order", () => {
    expect(stdout).toBe(reads.map(([name]) => `{${name}}`).join(""));
  });
});
