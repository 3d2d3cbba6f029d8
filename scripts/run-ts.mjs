// Runs a TypeScript file of this repository: bundles it in memory of a temporary file and imports that.

import { rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { exportPagePlugin } from "./export-page.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const [file, ...rest] = process.argv.slice(2);
/** A bundled file keeps its own address, by which it finds what lies beside it. */
const addresses = {
  name: "addresses",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const contents = await readFile(path, "utf8");
      const address = JSON.stringify(pathToFileURL(path).href);
      return { contents: contents.replaceAll("import.meta.url", address), loader: "ts" };
    });
  },
};
const outfile = join(root, "node_modules", ".cache", `run-ts-${process.pid}.mjs`);
await build({
  entryPoints: [resolve(file)],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  conditions: ["pi-source"],
  packages: "bundle",
  external: ["esbuild", "sharp", "@vscode/ripgrep", "vitest"],
  plugins: [exportPagePlugin(), addresses],
  define: { PI_VERSION: '"0.0.0"' },
  banner: {
    js: 'import{createRequire as makeRequireForBundle}from"node:module";const require=makeRequireForBundle(import.meta.url);',
  },
  logLevel: "warning",
});
process.argv = [process.argv[0], resolve(file), ...rest];
try {
  await import(pathToFileURL(outfile).href);
} finally {
  rmSync(outfile, { force: true });
}
