// A Chromium for the tests of the exported page, and a page that keeps account of what happens in it.

import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

/** The system's browser, or the one that PI_CHROMIUM names. */
export const chromiumPath = [process.env.PI_CHROMIUM, "/usr/bin/chromium"].find((path) => path && existsSync(path));

if (!chromiumPath)
  console.warn("The exported page is not tested: there is no /usr/bin/chromium, and PI_CHROMIUM names no browser");

/** For what the page does in a moment of its own; machines under load take long. */
export const patience = { timeout: 20_000 };

export function startBrowser(): Promise<Browser> {
  const quiet = ["quic", "background-networking", "component-update", "sync"].map((name) => `--disable-${name}`);
  return chromium.launch({
    executablePath: chromiumPath as string,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", ...quiet],
  });
}

export interface WatchedPage {
  page: Page;
  /** What no exported page may do: errors, warnings, dialogs, requests, other windows. */
  faults: string[];
}

/** Opens a file as somebody does who was sent it. */
export async function openFile(
  browser: Browser,
  path: string,
  options: { hash?: string; colorScheme?: "light" | "dark"; width?: number } = {},
): Promise<WatchedPage> {
  const { hash = "", colorScheme = "light", width = 1_200 } = options;
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme,
    timezoneId: "UTC",
    locale: "en-US",
  });
  const faults: string[] = [];
  const address = pathToFileURL(path).href;
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && url.split("#")[0] !== address) faults.push(`request ${url}`);
  });
  const page = await context.newPage();
  context.on("page", () => faults.push("another window"));
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address + hash);
  return { page, faults };
}
