import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ExtensionLoader, type LoaderOptions } from "../../src/extensions/loader.js";
import { ExtensionRuntime } from "../../src/extensions/runtime.js";
import { type Workspace, workspace } from "../helpers/workspace.js";

const host = { Known: "from the host", VERSION: "1" };

function bench(files: Record<string, unknown>, options: Partial<LoaderOptions> = {}) {
  const place = workspace(files);
  const loader = new ExtensionLoader({ modules: async () => ({ "pi-host": host }), ...options });
  return { place, loader, load: (...names: string[]) => loadIn(place, loader, names) };
}

/** Loads files in order; the names of their commands are what they found out. */
async function loadIn(place: Workspace, loader: ExtensionLoader, names: readonly string[]): Promise<string[]> {
  const files = names.map((name) => {
    const path = `${place.root}/${name}`;
    return { path, sourceInfo: { path, source: "cli", scope: "temporary", origin: "top-level" } as const };
  });
  const extensions = await loader.load(files, new ExtensionRuntime());
  return extensions.flatMap(({ commands }) => [...commands.keys()]);
}

/** A module that tells what an expression gives, without spaces. */
const tells = (before: string, expression: string) =>
  `${before}\nexport default async (pi) => { pi.registerCommand(String(${expression}).replaceAll(" ", "_"), { handler() {} }); };`;

describe("what a module may be", () => {
  test.each<[string, Record<string, unknown>, string]>([
    ["an enum", { "x.ts": tells("enum E { A = 4 }", "E.A") }, "4"],
    ["parameter properties", { "x.ts": tells("class C { constructor(readonly a: string) {} }", 'new C("p").a') }, "p"],
    [
      "decorators' absence, satisfies and as",
      { "x.ts": tells("const o = { a: 1 } satisfies object;", "(o as any).a") },
      "1",
    ],
    ["a namespace", { "x.ts": tells("namespace N { export const a = 2 }", "N.a") }, "2"],
    ["top-level await", { "x.ts": tells("const a = await Promise.resolve(3);", "a") }, "3"],
    ["JSON", { "x.ts": tells('import data from "./d.json";', "data.a"), "d.json": { a: 5 } }, "5"],
    [
      "a path without extension",
      { "x.ts": tells('import { a } from "./y";', "a"), "y.ts": "export const a: number = 6" },
      "6",
    ],
    ["a folder's index", { "x.ts": tells('import { a } from "./y";', "a"), "y/index.ts": "export const a = 7" }, "7"],
    [
      ".js that means .ts",
      { "x.ts": tells('import { a } from "./y.js";', "a"), "y.ts": "export const a: number = 8" },
      "8",
    ],
    ["import.meta.url", { "x.ts": tells("", "import.meta.url.endsWith('/x.ts')") }, "true"],
    ["import.meta.dirname", { "x.ts": tells("", "import.meta.filename === import.meta.dirname + '/x.ts'") }, "true"],
    [
      "__dirname, __filename, require",
      { "x.ts": tells("", "__filename === require('node:path').join(__dirname, 'x.ts')") },
      "true",
    ],
    ["ESM in .mjs", { "x.mjs": tells("import path from 'node:path';", "path.basename('/a/b')") }, "b"],
    ["TypeScript in .mts", { "x.mts": tells("const a: number = 9;", "a") }, "9"],
    ["ESM in .js", { "x.js": tells("export const other = 1;", "10") }, "10"],
    ["CommonJS in .js", { "x.js": "module.exports = (pi) => pi.registerCommand('cjs', { handler() {} })" }, "cjs"],
    ["exports.default", { "x.js": "exports.default = (pi) => pi.registerCommand('exp', { handler() {} })" }, "exp"],
    ["the host's module", { "x.ts": tells('import { Known } from "pi-host";', "Known") }, "from_the_host"],
    [
      "the host's module, whatever copy there is",
      {
        "x.ts": tells('import { Known } from "pi-host";', "Known"),
        "node_modules/pi-host/index.js": "exports.Known = 'copy'",
      },
      "from_the_host",
    ],
    [
      "a dependency of its own",
      {
        "x.ts": tells('import { a } from "own-dep";', "a"),
        "node_modules/own-dep/package.json": { name: "own-dep", type: "module", exports: "./main.js" },
        "node_modules/own-dep/main.js": "export const a = 'dep'",
      },
      "dep",
    ],
    [
      "a name the module does not export",
      { "x.ts": tells('import { Nobody } from "pi-host";', "Nobody") },
      "undefined",
    ],
    [
      "an import of types from a file that is not there",
      {
        "x.ts": tells(
          'import type { T } from "./gone.js"; import { U } from "./gone-too.js"; let u: U | T;',
          "typeof u",
        ),
      },
      "undefined",
    ],
  ])("%s", async (_, files, expected) => {
    const [name] = Object.keys(files) as [string];
    expect(await bench(files).load(name)).toEqual([expected]);
    const { place } = bench(files);
    const options = { modules: async () => ({ "pi-host": host }), cacheDir: `${place.root}/cache` };
    const first = new ExtensionLoader(options);
    expect(await loadIn(place, first, [name])).toEqual([expected]);
    first.forget();
    expect(await loadIn(place, new ExtensionLoader(options), [name])).toEqual([expected]);
  });
});

describe("what cannot be loaded", () => {
  test.each<[string, string, string]>([
    ["a default that is no function", "export default 5", "its default export is not a function"],
    ["no default", "export const a = 1", "its default export is not a function"],
    ["a factory that throws", "export default () => { throw new Error('no luck') }", "no luck"],
    ["a factory that rejects", "export default async () => { throw 'no luck' }", "no luck"],
    ["a module that throws", "throw new Error('at once')", "at once"],
    ["a syntax error", "export default (", ""],
    ["an import that is not there", "import { a } from './gone'; export default () => a", "gone"],
  ])("%s", async (_, text, reason) => {
    const { load, place } = bench({ "x.ts": text });
    const error = await load("x.ts").catch((failure: Error) => failure);
    expect(error).toMatchObject({ name: "ExtensionLoadError", path: `${place.root}/x.ts` });
    expect((error as Error).message).toContain(`Cannot load extension "${place.root}/x.ts": `);
    expect((error as Error).message).toContain(reason);
    const cached = new ExtensionLoader({ modules: async () => ({}), cacheDir: `${place.root}/cache` });
    const again = await loadIn(place, cached, ["x.ts"]).catch((failure: Error) => failure);
    expect((again as Error).message).toBe((error as Error).message);
  });

  test("a file that is not there", async () => {
    await expect(bench({}).load("x.ts")).rejects.toThrow("there is no such file");
  });

  test("two extensions with one tool: the second is refused by name, and what it registered is gone", async () => {
    const tool = `pi.registerTool({ name: "probe", description: "", parameters: { type: "object" }, execute() {} })`;
    const text = `export default (pi) => { pi.registerCommand("c", { handler() {} }); ${tool}; }`;
    const { place, loader } = bench({ "a.ts": text, "b.ts": text });
    const files = ["a.ts", "b.ts"].map((name) => {
      const path = `${place.root}/${name}`;
      return { path, sourceInfo: { path, source: "cli", scope: "temporary", origin: "top-level" } as const };
    });
    await expect(loader.load(files, new ExtensionRuntime())).rejects.toThrow(
      `Cannot load extension "${place.root}/b.ts": Tool "probe" is registered by "${place.root}/a.ts" already`,
    );
    const errors: string[] = [];
    const loaded = await loader.load(files, new ExtensionRuntime(), { onError: ({ path }) => errors.push(path) });
    expect([loaded.map(({ path }) => path), errors]).toEqual([[files[0]?.path], [files[1]?.path]]);
  });
});

describe("again and again", () => {
  const counting =
    "let runs = 0;\nexport default (pi) => { runs += 1; pi.registerCommand(label + runs, { handler() {} }); };";
  const text = `import { label } from "./label";\n${counting}`;

  test("modules stay evaluated from session to session, their factories run each time", async () => {
    const { load, place } = bench({ "x.ts": text, "label.ts": "export const label = 'a'" });
    expect(await load("x.ts")).toEqual(["a1"]);
    place.write("label.ts", "export const label = 'b'");
    expect(await load("x.ts")).toEqual(["a2"]);
  });

  test("a reload evaluates them anew, with what they import", async () => {
    const { load, place, loader } = bench({ "x.ts": text, "label.ts": "export const label = 'a'" });
    await load("x.ts");
    place.write("label.ts", "export const label = 'b'");
    loader.forget();
    expect(await load("x.ts")).toEqual(["b1"]);
  });

  test("a file that failed is read again", async () => {
    const { load, place } = bench({ "x.ts": "export default 5" });
    await load("x.ts").catch(() => {});
    place.write("x.ts", tells("", "'mended'"));
    expect(await load("x.ts")).toEqual(["mended"]);
  });

  test("a cache of compiled modules sees that a file has changed", async () => {
    const first = bench({ "x.ts": tells("const a: number = 1;", "a") });
    const cacheDir = `${first.place.root}/cache`;
    const make = () => new ExtensionLoader({ modules: async () => ({}), cacheDir });
    const loader = make();
    expect(await loadIn(first.place, loader, ["x.ts"])).toEqual(["1"]);
    expect(readdirSync(cacheDir)).not.toEqual([]);
    loader.forget();
    expect(await loadIn(first.place, make(), ["x.ts"])).toEqual(["1"]);
    first.place.write("x.ts", tells("const a: number = 2;", "a"));
    loader.forget();
    expect(await loadIn(first.place, make(), ["x.ts"])).toEqual(["2"]);
  });

  test("two extensions share a module that both import", async () => {
    const shared = "let n = 0;\nexport const next = () => (n += 1);";
    const user = tells('import { next } from "./shared";', "next()");
    expect(await bench({ "a.ts": user, "b.ts": user, "shared.ts": shared }).load("a.ts", "b.ts")).toEqual(["1", "2"]);
  });
});
