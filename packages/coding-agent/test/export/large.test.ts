// A session of 20,000 entries: what is not looked at is not made, and everything is found all the same.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exportHtml } from "../../src/core/export-html/export-html.js";
import { chromiumPath, openFile, patience, startBrowser } from "./browser.js";
import { call, type Place, SessionLines, temporaryPlace } from "./sessions.js";

const code = 'export async function load(path: string) {\n  return await readFile(path, "utf8");\n}\n'.repeat(10);

function large(): SessionLines {
  const session = new SessionLines();
  let isHidden = false;
  while (session.lines.length < 20_000) {
    const number = session.lines.length;
    const hides: boolean = !isHidden && number > 12_000;
    isHidden ||= hides;
    session.user(`Question ${number}, with **some** words to read.`);
    session.answer([{ type: "text", text: `Answer ${number}\n\n- one\n- two\n` }, call("c", "read", { path: "a.ts" })]);
    session.result("c", "read", code);
    session.answer(hides ? "The needle is here." : "Done.");
    // Now and then the session goes back to where it was before.
    if (number % 2_000 === 1_000) session.user("Another way", session.lines[number - 5]?.id as string);
  }
  return session;
}

describe.skipIf(!chromiumPath)("a large session in the exported page", () => {
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

  test("opens without making what is far away, and goes anywhere", async () => {
    const store = large().open(place.directory);
    const before = performance.now();
    const path = await exportHtml(store);
    const exported = performance.now() - before;
    const { page, faults } = await openFile(browser, path);
    const script = await page.evaluate("performance.getEntriesByName('page')[0].duration");
    console.log(
      `20,000 entries: exported in ${Math.round(exported)} ms, ${Math.round(script as number)} ms of script to open`,
    );
    expect(await page.locator("article").count()).toBeLessThan(300);
    expect(await page.getByRole("treeitem").count()).toBeLessThan(100);
    await page.keyboard.press("/");
    await page.keyboard.type("needle");
    await page.locator(".search-status").filter({ hasText: "1 entry" }).waitFor();
    await page.keyboard.press("Enter");
    const found = page.locator("article.current");
    await found.filter({ hasText: "The needle is here." }).waitFor();
    await expect
      .poll(
        () =>
          page.evaluate(`(() => {
          const { top, bottom } = document.querySelector("article.current").getBoundingClientRect();
          return bottom > 0 && top < innerHeight;
        })()`),
        patience,
      )
      .toBe(true);
    expect(await page.locator("article").count()).toBeLessThan(600);
    await page.keyboard.press("Escape");
    await page.getByRole("tree").focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => page.evaluate("scrollY + innerHeight > document.documentElement.scrollHeight - 2000"), patience)
      .toBe(true);
    expect(faults).toEqual([]);
  });
});
