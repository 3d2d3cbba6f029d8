// The page's text, piece by piece: head with its content security policy, the session as data, the script.

import { createHash } from "node:crypto";
import type { SessionEntry } from "../../sessions/entries.js";
import { pageContent } from "./page-content.js";
import type { PageIndex } from "./page-data.js";

/** The script and the style as they stand in the page. */
export interface PageAssets {
  script: string;
  style: string;
}

/** The page in pieces of the size of a block. Text of the session is in it as JSON and in the title, nowhere else. */
export function* pageHtml(
  index: PageIndex,
  blocks: readonly (readonly SessionEntry[])[],
  { script, style }: PageAssets,
): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="pi">
<link rel="icon" href="data:,">
<title>${escapeHtml(index.title)}</title>
<style>${style}</style>
</head>
<body>
<noscript><p>This page shows a session with a script of its own. It loads nothing from anywhere: allow scripts to read it.</p></noscript>
`;
  yield dataElement(index, 'id="session"');
  for (const block of blocks)
    yield dataElement(
      block.map((entry) => pageContent({ ...entry })),
      'class="block"',
    );
  yield `<script>${script}</script>\n</body>\n</html>\n`;
}

/**
 * Only the page's own script and style run, images come out of the file, and nothing is loaded or sent. The script makes
 * no HTML out of strings, which browsers that know trusted types enforce.
 */
function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    "img-src data:",
    `style-src '${hash(style)}'`,
    `script-src '${hash(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** Without `<` nothing in it can end the element; separators of lines are escaped for those who look for lines. */
function dataElement(data: unknown, attribute: string): string {
  const json = JSON.stringify(data)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
  return `<script type="application/json" ${attribute}>${json}</script>\n`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
