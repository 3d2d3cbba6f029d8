#!/usr/bin/env node
// The executable: real streams, real signals, and the exit code.

import module from "node:module";

// Node 22 and newer keep compiled code between starts.
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

const argv = process.argv.slice(2);
const [first] = argv;
// Asked often by hosts that look for the command; needs nothing of the product.
if (argv.length === 1 && (first === "--version" || first === "-v")) {
  process.stdout.write(`${PI_VERSION}\n`);
} else {
  const { main } = await import("./main.js");
  process.exit(await main(argv));
}
