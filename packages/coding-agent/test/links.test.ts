// Every relative link of every document leads to something that is there, in this repository.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** As the forge makes anchors of headings: lower case, without punctuation, hyphens for spaces. */
function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutCode(markdown).matchAll(/^#{1,6} +(.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^(```+)[^\n]*\n[\s\S]*?^\1$/gm, "");
}

function brokenLinks(file: string): string[] {
  const text = withoutCode(readFileSync(join(root, file), "utf8")).replace(/`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((target) => !/^[a-z]+:/i.test(target))
    .filter((target) => {
      const [path = "", anchor] = target.split("#");
      const place = path === "" ? join(root, file) : join(root, dirname(file), decodeURIComponent(path));
      if (!existsSync(place)) return true;
      if (anchor === undefined) return false;
      return !statSync(place).isFile() || !anchorsOf(readFileSync(place, "utf8")).has(anchor);
    });
}

const files = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n");

test.each(files)("%s: relative links lead to files and anchors that are there", (file) => {
  expect(brokenLinks(file)).toEqual([]);
});

test("documents are found, and anchors are those of the forge", () => {
  expect(files).toContain("packages/coding-agent/docs/rpc.md");
  expect([...anchorsOf("# A `b`: c, d\n```\n# no\n```\n## Twice\n## Twice\n")]).toEqual([
    "a-b-c-d",
    "twice",
    "twice-1",
  ]);
});
