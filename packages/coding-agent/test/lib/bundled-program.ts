// Makes a program of TypeScript text, for tests of what a process of its own does.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** Writes the program into `folder` and gives its path; its imports are relative to the test file at `testUrl`. */
export async function bundledProgram(folder: string, testUrl: string, contents: string): Promise<string> {
  const program = join(folder, "program.mjs");
  await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL(".", testUrl)), loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["pi-source"],
    outfile: program,
    logLevel: "silent",
    // Bundled CommonJS packages ask for built-ins with require.
    banner: {
      js: `import { createRequire as makeRequire } from "node:module"; const require = makeRequire(${JSON.stringify(testUrl)});`,
    },
    // What a package looks for beside itself is found from here.
    define: { "import.meta.url": JSON.stringify(testUrl) },
  });
  return program;
}
