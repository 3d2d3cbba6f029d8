// Marks what was looked for inside an element, without touching its nodes.

/** Where browsers cannot mark ranges nothing is marked. Gives the first range. */
export function highlight(root: HTMLElement, pattern: RegExp): Range | undefined {
  const ranges = rangesOf(root, pattern);
  if (typeof Highlight === "function") CSS.highlights?.set("search", new Highlight(...ranges));
  return ranges[0];
}

export function clearHighlight(): void {
  if (typeof Highlight === "function") CSS.highlights?.delete("search");
}

/** A match may begin in one node and end in another: syntax colours cut texts into pieces. */
function rangesOf(root: HTMLElement, pattern: RegExp): Range[] {
  const nodes: { node: Text; start: number }[] = [];
  let text = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    if (!node.parentElement?.closest("article > header, details:not([open]) > .fold-body")) {
      nodes.push({ node, start: text.length });
      text += node.data;
    }
  }
  const ranges: Range[] = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match[0] === "" || ranges.length >= 1_000) break;
    const end = match.index + match[0].length;
    while ((nodes[at + 1]?.start ?? Number.POSITIVE_INFINITY) <= match.index) at += 1;
    let last = at;
    while ((nodes[last + 1]?.start ?? Number.POSITIVE_INFINITY) < end) last += 1;
    const [from, to] = [nodes[at], nodes[last]];
    if (!from || !to) break;
    const range = document.createRange();
    range.setStart(from.node, match.index - from.start);
    range.setEnd(to.node, end - to.start);
    ranges.push(range);
  }
  return ranges;
}
