// Starts the page: the session out of its data, the parts of the page, and the way from one to another.

import type { PageIndex } from "../page-data.js";
import { Conversation, openFolds } from "./conversation.js";
import { button, el } from "./dom.js";
import { formatFull } from "./format.js";
import { clearHighlight, highlight } from "./highlight.js";
import { listenToKeys } from "./keyboard.js";
import { masthead } from "./masthead.js";
import { Outline } from "./outline.js";
import { SearchPanel } from "./search-panel.js";
import { Session } from "./session.js";

const started = performance.now();
const index = JSON.parse(document.getElementById("session")?.textContent ?? "") as PageIndex;
const session = new Session(index, document.querySelectorAll("script.block"));
const conversation = new Conversation(session, follow);
const outline = new Outline(session, follow);
const searchPanel = new SearchPanel(session, {
  go: showFound,
  active: (isActive) => {
    outline.element.hidden = isActive;
    if (!isActive) clearHighlight();
  },
});

const shade = el("div", { class: "shade" });
const side = el(
  "aside",
  { class: "side", id: "side", "aria-label": "Outline and search" },
  searchPanel.field,
  outline.element,
  searchPanel.results,
  el(
    "p",
    { class: "keys", "aria-hidden": "true" },
    ...["/ search", "j k move", "e unfold", "t list"].map((text) => {
      const keys = text.split(" ");
      const does = keys.pop() as string;
      return el("span", {}, ...keys.flatMap((key) => [el("kbd", {}, key), " "]), does);
    }),
  ),
);
const openSide = button("☰", "Outline and search", () => setSide(!isSideOpen()));
openSide.classList.add("open-side");
openSide.setAttribute("aria-controls", "side");
const unfold = button("Unfold all", "Open or close all folds", toggleAll);
unfold.classList.add("unfold");
const exported = el("footer", { class: "colophon" }, `Exported by pi, ${formatFull(index.exportedAt)}. `);
exported.append(el("span", { class: "muted" }, `Session ${index.sessionId}`));
document.body.append(
  side,
  shade,
  el("main", {}, el("div", { class: "bar" }, openSide, unfold), masthead(session), conversation.element, exported),
);
shade.addEventListener("click", () => setSide(false));

showBranch(index.leaf >= 0 ? session.path(index.leaf) : session.branchThrough(-1));
window.addEventListener("hashchange", openAddress);
openAddress();
listenToKeys({
  search: () => {
    setSide(true);
    searchPanel.focus();
  },
  step: (by) => {
    const place = conversation.step(by);
    if (place !== undefined) remember(place);
  },
  toggleAll,
  toggleOutline: () => {
    if (isNarrow()) setSide(!isSideOpen());
    else document.body.classList.toggle("no-side");
    if (isSideOpen()) outline.focus();
  },
  escape: () => {
    if (searchPanel.isActive) searchPanel.clear();
    else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    setSide(false);
  },
});

let foldAgain = () => {};
window.addEventListener("beforeprint", () => {
  foldAgain = conversation.unroll();
});
window.addEventListener("afterprint", () => foldAgain());
// For those who ask how long it took.
performance.measure("page", { start: started, end: performance.now() });

function showBranch(path: readonly number[]): void {
  conversation.show(path);
  outline.showBranch(path);
}

/** Shows an entry, on its branch, and makes it the page's address. */
function follow(place: number): void {
  remember(place, "push");
  reveal(place);
  if (isNarrow()) setSide(false);
}

function reveal(place: number): HTMLElement | undefined {
  if (!conversation.shows(place)) showBranch(session.branchThrough(place));
  outline.setCurrent(place);
  return conversation.reveal(place);
}

function showFound(place: number, pattern: RegExp): void {
  remember(place, "push");
  const article = reveal(place);
  if (!article) return;
  openFolds(article, (text) => text.search(pattern) >= 0);
  const range = highlight(article, pattern);
  const found = range?.startContainer.parentElement;
  if (found)
    requestAnimationFrame(() =>
      requestAnimationFrame(() => requestAnimationFrame(() => found.scrollIntoView({ block: "center" }))),
    );
  if (isNarrow()) setSide(false);
}

function openAddress(): void {
  const place = session.find(location.hash);
  if (place !== undefined) reveal(place);
}

function remember(place: number, how: "push" | "replace" = "replace"): void {
  const address = `#${session.anchor(place)}`;
  if (address === location.hash) return;
  try {
    if (how === "push") history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  } catch {
    // A viewer that shows the page inside its own gives it no address.
  }
}

function toggleAll(): void {
  conversation.setOpen(!conversation.isOpen);
  unfold.textContent = conversation.isOpen ? "Fold all" : "Unfold all";
}

function isNarrow(): boolean {
  return matchMedia("(max-width: 860px)").matches;
}

function isSideOpen(): boolean {
  return isNarrow() ? document.body.classList.contains("side-open") : !document.body.classList.contains("no-side");
}

function setSide(open: boolean): void {
  document.body.classList.toggle("side-open", open);
  if (open) document.body.classList.remove("no-side");
}
