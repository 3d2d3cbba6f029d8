// The packed product, installed where nothing else of this repository is: its command, its SDK, its types, its examples.

import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workspace } from "./helpers/workspace.js";

const product = fileURLToPath(new URL("..", import.meta.url));
const repository = join(product, "../..");
const { dependencies, version } = JSON.parse(readFileSync(join(product, "package.json"), "utf8"));

let root: string;
let installed: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pi-package-")));
  // The bundle is there already; making it again would pull it away from under the tests beside this one.
  execFileSync(process.execPath, [join(repository, "scripts/declarations.mjs")]);
  const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", root], {
    cwd: product,
    encoding: "utf8",
  });
  const [{ filename }] = JSON.parse(packed);
  installed = join(root, "node_modules/@earendil-works/pi-coding-agent");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(root, filename), "--strip-components=1", "-C", installed]);
  // Only what the package declares; a dependency's own dependencies are found where it really lies.
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    mkdirSync(dirname(join(root, "node_modules", name)), { recursive: true });
    symlinkSync(join(repository, "node_modules", name), join(root, "node_modules", name));
  }
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
}, 300_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs a program of the installed package in a workspace of its own. */
function run(args: readonly string[], { cwd, input = "" }: { cwd?: string; input?: string } = {}) {
  const place = workspace({ "project/a.txt": "one\n" });
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: cwd ?? place.cwd,
    env: place.environment(),
    input,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** A TypeScript program that imports the package by its name. */
function script(name: string, source: string): string {
  const path = join(root, `${name}.mjs`);
  writeFileSync(path, transformSync(source, { loader: "ts", format: "esm", target: "node20" }).code);
  return path;
}

describe("the package", () => {
  test("holds what is needed to run it and nothing else", () => {
    expect(readdirSync(installed).sort()).toEqual(
      [
        "LICENSE",
        "README.md",
        "THIRD-PARTY-NOTICES.txt",
        "bin",
        "dist",
        "docs",
        "examples",
        "package.json",
        "schema",
      ].sort(),
    );
    const files = readdirSync(join(installed, "dist"), { recursive: true, encoding: "utf8" });
    expect(files.filter((path) => /declarations|tsbuildinfo|^meta\.json|\.test\./.test(path))).toEqual([]);
    expect(files).toContain("models/anthropic.json");
  });

  test("needs no other package of this repository", () => {
    expect(Object.keys(dependencies).filter((name) => name.startsWith("@earendil-works/"))).toEqual([]);
    expect(existsSync(join(root, "node_modules/@earendil-works/pi-ai"))).toBe(false);
    const declarations = readdirSync(join(installed, "dist/types"), { recursive: true, encoding: "utf8" });
    const importing = declarations
      .filter((path) => path.endsWith(".d.ts"))
      .filter((path) => /from "@earendil-works\//.test(readFileSync(join(installed, "dist/types", path), "utf8")));
    expect(importing).toEqual([]);
  });

  test("brings the command", () => {
    const bin = join(installed, "bin/pi.mjs");
    expect(run([bin, "--version"])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
    const { status, stdout, stderr } = run([
      bin,
      "--model",
      "demo",
      "--mode",
      "json",
      "List the files in this directory",
    ]);
    expect([status, stderr]).toEqual([0, ""]);
    const records = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records.at(-1)).toEqual({ type: "agent_settled", aborted: false });
    expect(stdout).toContain("a.txt");
  });

  test("has types that resolve in a program that uses it", { timeout: 120_000 }, () => {
    const program = `
      import { AgentSession, loadResources, type AgentSessionEvent, type RpcData } from "@earendil-works/pi-coding-agent";
      import { RpcClient } from "@earendil-works/pi-coding-agent/rpc-client";
      const client = new RpcClient({ model: "demo" });
      export const text: Promise<string | null> = client.getLastAssistantText();
      export const models: RpcData<"get_available_models">["models"][number]["contextWindow"] = 1;
      export function isEnd(event: AgentSessionEvent): boolean {
        return event.type === "agent_settled" && event.aborted;
      }
      // @ts-expect-error A run that is over says whether it was aborted, and nothing else.
      export const wrong = (event: AgentSessionEvent & { type: "agent_settled" }) => event.nothing;
      export { AgentSession, loadResources };
    `;
    writeFileSync(join(root, "program.ts"), program);
    const options = {
      strict: true,
      module: "NodeNext",
      target: "ES2023",
      noEmit: true,
      types: ["node"],
      skipLibCheck: true,
    };
    writeFileSync(join(root, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["program.ts"] }));
    const tsc = join(repository, "node_modules/typescript/bin/tsc");
    expect(run([tsc, "-p", root, "--pretty", "false"])).toEqual({ status: 0, stdout: "", stderr: "" });
  });
});

describe("examples", () => {
  const message = "List the files in this directory";
  const command = () => [process.execPath, join(installed, "bin/pi.mjs"), "--mode", "rpc", "--no-session"];

  test("the Python client ends where the run ends, and exits with the program's code", () => {
    const client = join(installed, "examples/clients/python_client.py");
    const place = workspace({ "project/a.txt": "" });
    const play = (args: readonly string[]) =>
      spawnSync("python3", [client, message, "--", ...command(), ...args], {
        cwd: place.cwd,
        env: place.environment(),
        encoding: "utf8",
      });
    const done = play(["--model", "demo"]);
    expect([done.status, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toMatch(/^\[(bash|ls) \{.*\}\]$/m);
    expect(done.stdout).toContain("a.txt");
    const refused = play([]);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("No model selected");
  });

  test("the Node client ends where the run ends", () => {
    const client = join(installed, "examples/clients/node-client.mjs");
    const done = run([client, message, "--", ...command(), "--model", "demo"]);
    expect([done.status, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toMatch(/^\[(bash|ls) \{.*\}\]$/m);
    expect(done.stdout).toContain("a.txt");
    const refused = run([client, message, "--", ...command()]);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("No model selected");
  });

  test("the typed client", () => {
    const source = readFileSync(join(product, "test/rpc-example.ts"), "utf8");
    const path = script("rpc-example", `${source}\nconsole.log(JSON.stringify(await runExample(process.cwd())));`);
    const { status, stdout, stderr } = run([path]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual([
      expect.any(String),
      expect.stringMatching(/^\[(bash|ls)\]$/),
      expect.stringContaining("a.txt"),
    ]);
  });

  test.each(readdirSync(new URL("../examples/sdk", import.meta.url)))("sdk/%s", (name) => {
    const path = script(name, readFileSync(join(product, "examples/sdk", name), "utf8"));
    const { status, stdout, stderr } = run([path]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).not.toBe("");
  });
});
