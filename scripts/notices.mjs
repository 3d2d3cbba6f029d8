// The licence texts of the packages whose code is in the bundle, as their licences ask for.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** `inputs` are the bundle's source files, relative to `root`. Returns the text of the notices file. */
export function collectNotices(root, inputs) {
  const packages = new Map();
  for (const input of inputs) {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match) packages.set(match[1], readPackage(root, match[1]));
  }
  const sorted = [...packages.values()].sort((a, b) => (a.title < b.title ? -1 : 1));
  const unique = sorted.filter(({ title }, at) => title !== sorted[at - 1]?.title);
  const parts = unique.map(({ title, licence, text }) => `${title}\nLicence: ${licence}\n\n${text.trim()}\n`);
  return `The pi command contains code of these packages.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

function readPackage(root, folder) {
  const directory = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const file = readdirSync(directory).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file && existsSync(join(directory, file)) ? readFileSync(join(directory, file), "utf8") : "";
  return {
    title: `${name} ${version}`,
    licence: license ?? "see text",
    text: text || "(no licence text in the package)",
  };
}
