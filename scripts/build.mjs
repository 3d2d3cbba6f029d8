// Builds the product: for the command an entry, a file that every start reads and lazy chunks; a bundle for the SDK; the
// data beside them, and the notices of everything that was bundled.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { exportPagePlugin } from "./export-page.mjs";
import { writeWithStart } from "./merge-start.mjs";
import { collectNotices } from "./notices.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const product = join(root, "packages/coding-agent");
const dist = join(product, "dist");
const { version, dependencies } = JSON.parse(readFileSync(join(product, "package.json"), "utf8"));

mkdirSync(dist, { recursive: true });

/**
 * Libraries of extensions that are large and seldom used: each in a file of its own beside the bundle, which `require`
 * finds there. An extension that uses none of them does not read them.
 */
const seldomUsed = ["highlight.js/lib/common", "markdown-it", "yaml", "diff", "typebox/value", "typebox/compile"];
const libraryFile = (name) => `library-${name.replaceAll(/[^a-z-]+/g, "-")}`;

/** What is bundled into the exported page. */
let pageInputs = [];

const shared = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  splitting: true,
  // Names of classes are seen by extensions, those of functions by people in stack traces.
  keepNames: true,
  minifyWhitespace: true,
  minifySyntax: true,
  format: "esm",
  platform: "node",
  target: "node20",
  conditions: ["pi-source"],
  define: { PI_VERSION: JSON.stringify(version) },
  plugins: [librariesApart(), noSideEffects(), englishOnly(), exportPagePlugin((inputs) => (pageInputs = inputs))],
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
};
const banner = {
  // Bundled CommonJS packages ask for built-ins with require.
  js: 'import{createRequire as makeRequireForBundle}from"node:module";const require=makeRequireForBundle(import.meta.url);',
};
// Native files, and what extensions load by path, are installed beside the bundle.
const installed = Object.keys(dependencies);
const results = await Promise.all([
  buildCommand(),
  // Built apart, so that the command is not cut into the pieces it would share with the SDK: each costs a start 1 ms.
  build({
    ...shared,
    banner,
    entryPoints: {
      index: "packages/coding-agent/src/index.ts",
      "rpc-client": "packages/coding-agent/src/modes/rpc/rpc-client.ts",
    },
    chunkNames: "sdk-[hash]",
    external: installed,
  }),
  build({
    ...shared,
    entryPoints: Object.fromEntries(seldomUsed.map((name) => [libraryFile(name), name])),
    plugins: [],
    format: "cjs",
    splitting: false,
    outExtension: { ".js": ".cjs" },
  }),
]);
const inputs = [...results.flatMap(({ metafile }) => Object.keys(metafile.inputs)), ...pageInputs];
// What an earlier build left goes last, so that a command started meanwhile finds its parts.
const made = new Set(results.flatMap(({ metafile }) => Object.keys(metafile.outputs).map((path) => basename(path))));
for (const name of readdirSync(dist)) if (/\.c?js$/.test(name) && !made.has(name)) rmSync(join(dist, name));
cpSync(join(root, "packages/ai/src/models"), join(dist, "models"), {
  recursive: true,
  filter: (source) => !source.endsWith(".ts"),
});
const notices = collectNotices(root, inputs);
const noticesFile = join(product, "THIRD-PARTY-NOTICES.txt");
const current = existsSync(noticesFile) ? readFileSync(noticesFile, "utf8") : "";
if (process.argv.includes("--notices")) writeFileSync(noticesFile, notices);
else if (current !== notices && process.env.PI_CHECK_NOTICES) {
  console.error("THIRD-PARTY-NOTICES.txt is stale: run `npm run generate`");
  process.exit(1);
}
if (process.argv.includes("--metafile")) writeFileSync(join(dist, "meta.json"), JSON.stringify(results[0].metafile));

async function buildCommand() {
  const external = installed.filter((name) => name !== "typebox");
  const split = await build({
    ...shared,
    write: false,
    entryPoints: { cli: "packages/coding-agent/src/cli.ts" },
    chunkNames: "cli-[hash]",
    external,
  });
  const { outdir, minifyWhitespace, format, platform, target, legalComments, logLevel } = shared;
  const options = { outdir, minifyWhitespace, format, platform, target, legalComments, logLevel, banner };
  const source = "packages/coding-agent/src";
  const started = ["main.ts", "modes/rpc/rpc-mode.ts"].map((file) => `${source}/${file}`);
  return {
    metafile: await writeWithStart(split, {
      ...options,
      name: "cli-start",
      main: `${source}/cli.ts`,
      entryPoints: started,
    }),
  };
}

function librariesApart() {
  return {
    name: "libraries-apart",
    setup(builder) {
      const { external = [] } = builder.initialOptions;
      builder.onResolve({ filter: /^[a-z]/ }, ({ path, kind, importer }) => {
        // What is installed beside the bundle is the same for everybody.
        if (external.includes(path.split("/")[0])) return undefined;
        const isOne = kind === "require-call" && seldomUsed.includes(path) && importer.endsWith("lazy-libraries.ts");
        return isOne ? { path: `./${libraryFile(path)}.cjs`, external: true } : undefined;
      });
    },
  };
}

/** Modules of typebox only define. Without this word of its package every start reads all of them. */
function noSideEffects() {
  return {
    name: "no-side-effects",
    setup(builder) {
      builder.onResolve({ filter: /^typebox$/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (pluginData === "resolved" || builder.initialOptions.external?.includes(path)) return undefined;
        const found = await builder.resolve(path, { kind, importer, resolveDir, pluginData: "resolved" });
        return { ...found, sideEffects: false };
      });
    },
  };
}

/** The schema library of the provider packages brings its error texts in 50 languages; English saves 260 KB of parsing. */
function englishOnly() {
  return {
    name: "english-only",
    setup(builder) {
      builder.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
        contents: 'export { default as en } from "./en.js";',
      }));
    },
  };
}
