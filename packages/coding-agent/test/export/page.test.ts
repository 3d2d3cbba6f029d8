// The exported page in a browser: reading, folding, searching, moving, printing.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exportHtml } from "../../src/core/export-html/export-html.js";
import { chromiumPath, openFile, patience, startBrowser } from "./browser.js";
import { call, type Place, SessionLines, temporaryPlace } from "./sessions.js";

/** A picture of one pixel. */
const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";

function session(): SessionLines {
  const lines = new SessionLines();
  lines.add({ type: "model_change", provider: "acme", modelId: "smart-1" });
  lines.user("Find the **bug**\nin `a.py`"); // e00002
  lines.answer(
    [
      { type: "thinking", thinking: "It may be the sign." },
      {
        type: "text",
        text: "Looking.\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\nSee https://example.com.",
      },
      call("c1", "bash", { command: "grep -n sign a.py" }),
      call("c2", "edit", { path: "a.py", edits: [{ oldText: "h", newText: "H" }] }),
      call("c3", "read", { path: "plot.png" }),
    ],
    { stopReason: "toolUse" },
  ); // e00003
  lines.result("c1", "bash", "3: sign = needle_in_output", { isError: true });
  lines.result("c2", "edit", "Edited a.py", { details: { diff: "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-h\n+H\n" } });
  const image = [{ type: "image", mimeType: "image/png", data: pixel }];
  lines.result("c3", "read", "", { content: image });
  const done = lines.answer("Fixed."); // e00007
  lines.add({ type: "label", targetId: done, label: "works" });
  lines.user("Left branch", done); // e00009
  lines.answer("Said on the left.");
  lines.user("Right branch", done); // e00011
  lines.add({ type: "branch_summary", summary: "What was done on the left", fromId: "e00010" });
  lines.add({
    type: "message",
    message: {
      role: "bashExecution",
      command: "make",
      output: "made",
      exitCode: 2,
      cancelled: false,
      truncated: false,
    },
  });
  lines.add({ type: "compaction", summary: "## Goal\nShort", firstKeptEntryId: done, tokensBefore: 45_600 });
  lines.answer("", { stopReason: "error", errorMessage: "529 overloaded" });
  lines.add({ type: "session_info", name: "A bug" });
  return lines;
}

describe.skipIf(!chromiumPath)("the exported page", () => {
  let browser: Browser;
  let place: Place;
  let path: string;

  beforeAll(async () => {
    browser = await startBrowser();
    place = temporaryPlace();
    path = await exportHtml(session().open(place.directory));
  });
  afterAll(async () => {
    await browser.close();
    place.dispose();
  });

  async function withPage(options: Parameters<typeof openFile>[2], look: (page: Page) => Promise<void>): Promise<void> {
    const visit = await openFile(browser, path, options);
    await look(visit.page);
    expect(visit.faults).toEqual([]);
    await visit.page.context().close();
  }

  const texts = (page: Page, selector: string) => page.locator(selector).allTextContents();

  test("shows what session it is and what it came to", () =>
    withPage({}, async (page) => {
      expect(await page.title()).toBe("A bug");
      expect(await texts(page, "h1, .where, .models span")).toEqual(["A bug", place.directory, "acme/smart-1"]);
      expect((await texts(page, ".masthead dt")).slice(0, 4)).toEqual(["Prompts", "Answers", "Tokens", "Cost"]);
      expect((await texts(page, ".masthead dd")).slice(0, 4)).toEqual(["3", "4", "4.8k", "$1.00"]);
    }));

  test("shows the session's branch with Markdown, colours and what was decided on the way", () =>
    withPage({}, async (page) => {
      const kinds = await page.evaluate(
        "[...document.querySelectorAll('article')].map((article) => article.classList[1])",
      );
      expect(kinds).toEqual([
        "note",
        "user",
        "assistant",
        "assistant",
        "user",
        "branchSummary",
        "bash",
        "compaction",
        "assistant",
        "note",
      ]);
      expect(await page.locator("article.user strong").first().textContent()).toBe("bug");
      expect(await page.locator("td").allTextContents()).toEqual(["1", "2"]);
      expect(await page.locator("pre .hljs-number").first().textContent()).toBe("1");
      expect(await page.locator("article a[href='https://example.com/']").getAttribute("rel")).toBe(
        "noopener noreferrer",
      );
      expect(await page.locator(".ending.bad").textContent()).toBe("The answer failed: 529 overloaded");
      expect(await texts(page, "article .label")).toEqual(["works"]);
      expect(await page.locator("article.compaction summary").textContent()).toContain("45.6k tokens");
    }));

  test("folds calls with their results, and opens each as what it is", () =>
    withPage({}, async (page) => {
      const tools = page.locator("article.assistant .tool");
      expect(await tools.count()).toBe(3);
      expect(await page.locator("article .tool[open]").count()).toBe(0);
      expect(await page.locator("article.assistant .tool > summary").allTextContents()).toEqual([
        "bashgrep -n sign a.pyfailed",
        "edita.py+1 −1",
        "readplot.png",
      ]);
      await tools.nth(0).locator("summary").click();
      expect(await tools.nth(0).locator(".terminal").textContent()).toBe(
        "$ grep -n sign a.py\n3: sign = needle_in_output",
      );
      await tools.nth(1).locator("summary").focus();
      await page.keyboard.press("Enter");
      expect(await tools.nth(1).locator(".removed, .added").allTextContents()).toEqual(["-h\n", "+H\n"]);
      await page.keyboard.press("e");
      expect(await page.locator("details:not([open])").count()).toBe(0);
      expect(await page.locator(".thinking .fold-body").textContent()).toBe("It may be the sign.");
      await expect.poll(() => page.evaluate("document.querySelector('article img').naturalWidth"), patience).toBe(1);
      await page.keyboard.press("e");
      expect(await page.locator("details[open]").count()).toBe(0);
    }));

  test("finds what is on another branch or inside a fold, and shows it", () =>
    withPage({}, async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("NEEDLE_in");
      await page.locator(".search-status").filter({ hasText: "1 entry" }).waitFor();
      await page.keyboard.press("Enter");
      await page.locator("#entry-e00004[open]").waitFor();
      expect(await page.evaluate("location.hash")).toBe("#entry-e00004");
      expect(await page.evaluate("[...CSS.highlights.get('search')].map(String)")).toEqual(["needle_in"]);
      await page.getByLabel("Search the session").fill("said on the LEFT");
      await page.locator(".search-results .row").filter({ hasText: "Said on the left" }).click();
      await page.locator("#entry-e00010.current").waitFor();
      await page.keyboard.press("Escape");
      expect(await page.locator(".search-results").isHidden()).toBe(true);
      expect(await page.locator(".outline").isVisible()).toBe(true);
    }));

  test("goes to the first that is found when Enter comes before the search has ended", () =>
    withPage({}, async (page) => {
      await page.getByLabel("Search the session").fill("NEEDLE_in");
      await page.keyboard.press("Enter");
      await page.locator("#entry-e00004[open]").waitFor();
    }));

  test("says when there is nothing to find", () =>
    withPage({}, async (page) => {
      await page.getByLabel("Search the session").fill("(nowhere");
      await page.locator(".search-status").filter({ hasText: "Nothing found" }).waitFor();
    }));

  test("lists the tree, marks the branch that is shown, and goes to others", () =>
    withPage({}, async (page) => {
      const rows = page.getByRole("treeitem");
      expect(
        await page.evaluate(
          `[...document.querySelectorAll("[role=treeitem]")].map((row) => [row.querySelector('.text').textContent, row.getAttribute('aria-level'), row.getAttribute('aria-selected'), row.getAttribute('aria-expanded')])`,
        ),
      ).toEqual([
        ["Find the bug in a.py", "1", "true", null],
        [expect.stringMatching(/^Looking\./), "1", "true", null],
        ["Fixed.", "1", "true", null],
        ["Left branch", "2", "false", "false"],
        ["Right branch", "2", "true", "true"],
        ["What was done on the left", "2", "true", null],
        ["$ make", "2", "true", null],
        ["Goal Short", "2", "true", null],
        ["529 overloaded", "2", "true", null],
      ]);
      expect(await page.locator(".here").count()).toBe(1);
      await rows.filter({ hasText: "Left branch" }).click();
      await page.locator("#entry-e00009.current").waitFor();
      expect(await texts(page, "article .markdown")).toContain("Said on the left.");
      expect(await page.locator("#entry-e00011").count()).toBe(0);
      expect(await texts(page, ".branch-switch")).toEqual([expect.stringContaining("Branch 1 of 2")]);
      await page.getByLabel("Next branch").click();
      await page.locator("#entry-e00011.current").waitFor();
      await page.goBack();
      await page.locator("#entry-e00009.current").waitFor();
    }));

  test("is moved through by keys", () =>
    withPage({}, async (page) => {
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      expect(await page.evaluate("document.activeElement.id")).toBe("entry-e00002");
      await page.keyboard.press("k");
      expect(await page.evaluate("document.activeElement.id")).toBe("entry-e00001");
      const tree = page.getByRole("tree");
      await tree.focus();
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.locator("#entry-e00015.current").waitFor();
      await tree.focus();
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowLeft");
      expect(await page.locator(".row.active").getAttribute("aria-expanded")).toBe("false");
      await page.keyboard.press("ArrowRight");
      expect(await page.locator(".row.active").getAttribute("aria-expanded")).toBe("true");
    }));

  test("opens at the entry that its address names, results and other branches included", async () => {
    for (const [hash, selector] of [
      ["#entry-e00007", "#entry-e00007.current"],
      ["#entry-e00005", "#entry-e00005[open] .diff"],
      ["#entry-e00010", "#entry-e00010.current"],
    ])
      await withPage({ hash }, async (page) => {
        await page.locator(selector as string).waitFor();
      });
    await withPage({ hash: "#entry-gone" }, async (page) => {
      expect(await page.locator("article").count()).toBe(10);
    });
  });

  test.each(["light", "dark"] as const)("has %s colours that can be told apart", (colorScheme) =>
    withPage({ colorScheme }, async (page) => {
      await page.keyboard.press("e");
      const worst = await page.evaluate(`(() => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const rgb = (colour) => {
          canvas.clearRect(0, 0, 1, 1);
          canvas.fillStyle = colour;
          canvas.fillRect(0, 0, 1, 1);
          return [...canvas.getImageData(0, 0, 1, 1).data];
        };
        const light = (colour) => {
          const [r, g, b] = rgb(colour).map((part) => part / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (element) => {
          for (let at = element; at; at = at.parentElement) {
            const { backgroundColor } = getComputedStyle(at);
            if (rgb(backgroundColor)[3] === 255) return backgroundColor;
          }
        };
        const ratios = [...document.querySelectorAll("main *, .side *")]
          .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
          .filter((element) => element.checkVisibility() && !element.closest("button:disabled"))
          .map((element) => {
            const [one, two] = [light(getComputedStyle(element).color), light(ground(element))];
            const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
            return [ratio, element.className + ": " + element.textContent.slice(0, 40)];
          });
        ratios.sort(([one], [other]) => one - other);
        return ratios.filter(([ratio]) => ratio < 4.5).slice(0, 5);
      })()`);
      expect(worst).toEqual([]);
      const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
      expect(ground).toBe(colorScheme === "light" ? "rgb(251, 250, 247)" : "rgb(23, 24, 26)");
    }),
  );

  test("fits a phone, with the list behind a button", () =>
    withPage({ width: 360 }, async (page) => {
      await page.keyboard.press("e");
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      expect(await page.locator(".side").isVisible()).toBe(false);
      await page.getByRole("button", { name: "Outline and search" }).click();
      await page.getByRole("treeitem").filter({ hasText: "Left branch" }).click();
      await page.locator("#entry-e00009.current").waitFor();
      await page.locator(".side").waitFor({ state: "hidden" });
    }));

  test("prints everything of the branch, unfolded, and folds it again", () =>
    withPage({ colorScheme: "dark" }, async (page) => {
      await page.emulateMedia({ media: "print" });
      await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
      expect(await page.locator("details:not([open])").count()).toBe(0);
      expect(await page.locator(".side").isVisible()).toBe(false);
      expect(await page.locator(".bar").isVisible()).toBe(false);
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
      expect(await page.locator("main").textContent()).toContain("needle_in_output");
      await page.evaluate("window.dispatchEvent(new Event('afterprint'))");
      expect(await page.locator("details[open]").count()).toBe(0);
      await page.emulateMedia({ media: null });
      const pdf = await page.pdf();
      expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
    }));
});
