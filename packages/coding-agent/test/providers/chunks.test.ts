// What the built program loads: at its start no provider's code, for a call that of its own API alone.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { apiNames } from "@earendil-works/pi-ai";
import { build, type Metafile } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));
const { dependencies } = JSON.parse(readFileSync(join(dist, "../package.json"), "utf8"));

let files: Metafile["inputs"];
const textOf = (file: string) => readFileSync(join(dist, file), "utf8");

beforeAll(async () => {
  // The bundle is read as sources once more, which tells who imports whom and when.
  const { metafile } = await build({
    absWorkingDir: dist,
    entryPoints: ["cli.js"],
    outdir: "unused",
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    external: Object.keys(dependencies),
    metafile: true,
    logLevel: "error",
  });
  files = metafile.inputs;
});

/** A file and all that is loaded with it. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const { kind, path, external } of files[file]?.imports ?? [])
    if (kind === "import-statement" && !external) loadedWith(path, found);
  return found;
}

/** The file that is imported, late, for this name. */
function fileOf(name: string): string {
  const late = Object.values(files).flatMap(({ imports }) => imports.filter(({ kind }) => kind === "dynamic-import"));
  const found = [...new Set(late.map(({ path }) => path))].filter(
    (file) => file in files && new RegExp(`\\bas ${name}\\b|\\b${name}[,}]`).test(exportsOf(file)),
  );
  expect(found, name).toHaveLength(1);
  return found[0] as string;
}

function exportsOf(file: string): string {
  return [...textOf(file).matchAll(/export\{[^}]*\}/g)].join("");
}

/** A text that stands in a package's code and nowhere else. */
const packages: Record<string, RegExp> = {
  "@ai-sdk/anthropic": /AnthropicMessagesLanguageModel/,
  zod: /\$ZodError/,
  "@smithy/eventstream-codec": /EventStreamCodec/,
  aws4fetch: /AWS4-HMAC-SHA256/,
  "google-auth-library": /GoogleAuth\b/,
  undici: /UND_ERR_HEADERS_OVERFLOW/,
  picomatch: /POSIX_REGEX_SOURCE/,
  "proper-lockfile": /ELOCKED/,
};
const packagesIn = (loaded: Iterable<string>) => {
  const text = [...loaded].map(textOf).join("\n");
  return Object.keys(packages).filter((name) => packages[name]?.test(text));
};

/** `openai-completions` → `openaiCompletionsApi`. */
const exportNames = apiNames().map(
  (api) => [api, `${api.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Api`] as const,
);

describe("the bundle", () => {
  test("has every package that is looked for below, in some file", () => {
    expect(packagesIn(Object.keys(files))).toEqual(Object.keys(packages));
  });

  test("is read at the start in two files, with no provider's code", () => {
    const start = loadedWith(fileOf("main"), loadedWith("cli.js"));
    expect(start.size).toBe(2);
    expect(packagesIn(start)).toEqual([]);
    for (const [, name] of exportNames) expect(start.has(fileOf(name)), name).toBe(false);
  });

  test.each(exportNames)("loads for %s no other API, and no other API's package", (api, name) => {
    const loaded = loadedWith(fileOf(name));
    const others = exportNames.filter(([other]) => other !== api).map(([, other]) => fileOf(other));
    expect(others.filter((file) => loaded.has(file))).toEqual([]);
    const own: Record<string, string[]> = {
      "anthropic-messages": ["@ai-sdk/anthropic", "zod"],
      "bedrock-converse-stream": ["@smithy/eventstream-codec"],
    };
    expect(packagesIn(loaded)).toEqual(own[api] ?? []);
  });
});
