// Sessions that try to break out of the page: nothing of theirs runs, loads, or leads anywhere.

import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exportHtml } from "../../src/core/export-html/export-html.js";
import { chromiumPath, openFile, startBrowser } from "./browser.js";
import { call, type Place, SessionLines, temporaryPlace } from "./sessions.js";

const run = "window.hacked=1";
const attacks = [
  `</script><script>${run}</script>`,
  `<!--<script>${run}</script>-->`,
  `--><img src=x onerror=${run}>`,
  `</title></style></textarea></noscript><svg onload=${run}>`,
  `"><img src=x onerror="${run}">`,
  `' onmouseover='${run}' x='`,
  `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
  `<iframe src="https://evil.example/"></iframe><object data="https://evil.example/"></object>`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<base href="https://evil.example/"><a href="x">x</a>`,
  `<link rel=stylesheet href="https://evil.example/"><style>@import "https://evil.example/"</style>`,
  `<form action="https://evil.example/"><button autofocus onfocus=${run}>x</button></form>`,
  `[a](javascript:${run}) [b](JaVaScRiPt:${run}) <javascript:${run}>`,
  `[c](java&#x73;cript:${run}) [d](javascript&colon;${run}) [e](&#1;javascript:${run})`,
  `[f](<java\tscript:${run}>) [g](<\u0001javascript:${run}>) [h](%6aavascript:${run})`,
  `[i](data:text/html,<script>${run}</script>) [j](vbscript:x) [k](file:///etc/passwd) [l](//evil.example/)`,
  `[m]: javascript:${run}\n\n[m] ![n](https://evil.example/pixel.png) ![o](javascript:${run} "t\\"i") ![p][m]`,
  `![q](data:image/svg+xml;base64,PHN2Zy8+) ![r](data:image/png;base64,aGk=)`,
  `\`\`\`"><script>${run}</script>\n<span class="x" onclick="${run}">\n\`\`\``,
  `\`\`\`html\n<script>${run}</script></span></span></span></pre><img src=x onerror=${run}>\n\`\`\``,
  `| a |\n|:-:|\n| <img src=x onerror=${run}> |`,
  `<file name="/x" onclick="${run}">\n<script>${run}</script>\n</file>`,
  `<skill name="y" location="z">\n[a](javascript:${run})\n</skill>`,
  `{{constructor.constructor('${run}')()}}`,
  `\u2028\u2029</script\u2028><script>${run}</script>\ud800`,
  "__proto__",
  "constructor",
];

/** Every field of every entry that can hold a text holds the attack. */
function addEverywhere(session: SessionLines, attack: string, number: number): void {
  const id = (entry: number) => `${number}-${entry}${attack}`;
  const add = (entry: number, fields: Record<string, unknown> & { type: string }) =>
    session.add({ ...fields, id: id(entry) });
  const text = { type: "text", text: attack };
  const args = { [attack]: attack, path: attack, command: attack, pattern: attack, content: attack };
  add(1, { type: "message", message: { role: "user", content: [text], timestamp: 1 } });
  const names = [attack, "bash", "edit", "write", "read", "grep"];
  const content = [
    { type: "thinking", thinking: attack },
    text,
    ...names.map((name, at) => call(`${at}${attack}`, name, args)),
    { type: "toolCall", id: attack, name: attack, arguments: attack, incompleteArguments: attack },
    { type: "image", mimeType: attack, data: attack },
    { type: attack, text: attack },
  ];
  add(2, {
    type: "message",
    message: { role: "assistant", content, provider: attack, model: attack, stopReason: attack, errorMessage: attack },
  });
  for (const [at, toolName] of names.entries()) {
    const details = { diff: `--- a\n+++ b\n@@ @@\n${attack.replace(/^/gm, "+")}` };
    const image = { type: "image", mimeType: "image/png", data: `aGk=" onerror="${run}` };
    const result = { toolCallId: `${at}${attack}`, toolName, content: [text, image], details, isError: at % 2 === 0 };
    add(3 + at, { type: "message", message: { role: "toolResult", ...result } });
  }
  add(20, { type: "message", message: { role: "toolResult", toolCallId: "?", toolName: attack, content: [text] } });
  const command = { command: attack, output: attack, exitCode: 1, cancelled: false, fullOutputPath: attack };
  add(21, { type: "message", message: { role: "bashExecution", ...command } });
  add(22, { type: "custom_message", customType: attack, content: attack, display: true });
  add(23, { type: "custom_message", customType: attack, content: [text], display: false });
  add(24, { type: "custom", customType: attack, data: { [attack]: [attack] } });
  add(25, { type: "compaction", summary: attack, firstKeptEntryId: id(1), tokensBefore: 5 });
  add(26, { type: "branch_summary", summary: attack, fromId: id(1) });
  add(27, { type: "model_change", provider: attack, modelId: attack });
  add(28, { type: "thinking_level_change", thinkingLevel: attack });
  add(29, { type: "context_edit", targetId: id(1), replacement: attack });
  add(30, { type: "usage", kind: attack, usage: { input: attack } });
  add(31, { type: "label", targetId: id(1), label: attack });
  add(32, { type: "session_info", name: attack });
  add(33, { type: attack, anything: attack });
  add(34, { type: "message", message: { role: attack, content: attack }, timestamp: attack });
}

/** What the page has become, beside its own parts: nothing. */
const foreignParts = `[
  ...document.querySelectorAll("iframe, object, embed, form, base, svg, script[src], link:not([rel=icon]), meta[http-equiv=refresh]"),
  ...[...document.querySelectorAll("*")].filter((element) =>
    [...element.attributes].some(({ name }) => name.startsWith("on") || name === "srcdoc")),
  ...[...document.querySelectorAll("script:not([type])")].slice(1),
  ...[...document.querySelectorAll("style")].slice(1),
  ...[...document.querySelectorAll("a")].filter((link) =>
    !/^(https?:|mailto:|#entry-)/.test(link.getAttribute("href")) ||
    (!link.getAttribute("href").startsWith("#") && link.rel !== "noopener noreferrer")),
  ...[...document.querySelectorAll("img")].filter((image) => !/^data:image\\/(png|jpeg|gif|webp);base64,/.test(image.src)),
].map((element) => element.outerHTML)`;

describe.skipIf(!chromiumPath)("a hostile session in the exported page", () => {
  let browser: Browser;
  let place: Place;

  beforeAll(async () => {
    browser = await startBrowser();
    place = temporaryPlace();
  });
  afterAll(async () => {
    await browser.close();
    place.dispose();
  });

  test("does nothing, wherever its texts stand", async () => {
    const all = attacks.join(" ");
    const session = new SessionLines({ id: all, cwd: all });
    for (const [number, attack] of attacks.entries()) addEverywhere(session, attack, number);
    session.add({ type: "session_info", name: all });
    const outputPath = join(place.directory, "page.html");
    await exportHtml(session.open(place.directory), { outputPath });
    const { page, faults } = await openFile(browser, outputPath);
    // All is made, all that can be opened is opened, and what can be listed is listed.
    await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
    await page.getByLabel("What the list shows").selectOption("everything");
    await page.getByLabel("Search the session").fill("hacked");
    await page.locator(".search-results .row").first().click();
    expect(await page.evaluate("document.querySelectorAll('article').length")).toBeGreaterThan(15 * attacks.length);
    expect(await page.evaluate("document.querySelectorAll('details:not([open])').length")).toBe(0);
    expect(await page.evaluate(foreignParts)).toEqual([]);
    expect(await page.evaluate("typeof window.hacked")).toBe("undefined");
    const shown = all.replaceAll("\ud800", "\ufffd");
    expect(await page.evaluate("document.querySelector('h1').textContent.replaceAll('\\ud800', '\\ufffd')")).toBe(
      shown,
    );
    expect(faults).toEqual([]);
  });

  test("an id of any kind is an address", async () => {
    const session = new SessionLines();
    const ids = [`"><script>${run}</script>`, "__proto__", "a b/c?d#e%41", "ü\u2028", "\ud800"];
    for (const id of ids) session.add({ type: "message", id, message: { role: "user", content: id, timestamp: 1 } });
    const outputPath = join(place.directory, "ids.html");
    await exportHtml(session.open(place.directory), { outputPath });
    const { page, faults } = await openFile(browser, outputPath);
    for (const [number, id] of ids.slice(0, 4).entries()) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#entry-${encodeURIComponent(id)}`)}`);
      await page.locator(`article.current[data-place="${number}"]`).waitFor();
    }
    expect(faults).toEqual([]);
  });
});
