// A session's entries → the page's text. The one module of the export that is loaded only when there is something to export.

import { script, style } from "pi:export-page";
import { pageHtml } from "./page-html.js";
import { type ExportedSession, pageIndex } from "./page-index.js";

/** The page in pieces; they are made anew each time they are asked for. */
export function pageOf(session: ExportedSession): Iterable<string> {
  const { index, blocks } = pageIndex(session);
  return { [Symbol.iterator]: () => pageHtml(index, blocks, { script, style }) };
}
