// Libraries that modules of extensions use, loaded at their first use although that use cannot wait for a promise.

import { createRequire } from "node:module";

/**
 * In the bundle `require` is there, and the calls below stand for modules inside it that are evaluated when they are
 * called, the large ones in files of their own beside it. Beside the sources there is none, and Node's own finds the
 * installed packages. Eager imports of all of them would cost each start with an extension 150 ms or more, and reading
 * them without evaluating them 20 ms (measured with Node 20 on two cores).
 */
const installed = typeof require === "undefined" ? createRequire(import.meta.url) : undefined;

export const stringWidth = once<typeof import("string-width").default>(
  () => (installed ? installed("string-width") : require("string-width")).default,
);

export const wrapAnsi = once<typeof import("wrap-ansi").default>(
  () => (installed ? installed("wrap-ansi") : require("wrap-ansi")).default,
);

export const sliceAnsi = once<typeof import("slice-ansi").default>(
  () => (installed ? installed("slice-ansi") : require("slice-ansi")).default,
);

export const markdownIt = once<typeof import("markdown-it").default>(() =>
  defaultOf(installed ? installed("markdown-it") : require("markdown-it")),
);

export const highlighter = once<typeof import("highlight.js").default>(() =>
  defaultOf(installed ? installed("highlight.js/lib/common") : require("highlight.js/lib/common")),
);

export const yaml = once<typeof import("yaml")>(() => (installed ? installed("yaml") : require("yaml")));

export const diff = once<typeof import("diff")>(() => (installed ? installed("diff") : require("diff")));

export const typeboxValue = once<typeof import("typebox/value")>(() =>
  installed ? installed("typebox/value") : require("typebox/value"),
);

export const typeboxCompile = once<typeof import("typebox/compile")>(() =>
  installed ? installed("typebox/compile") : require("typebox/compile"),
);

function once<T>(load: () => T): () => T {
  let loaded: { value: T } | undefined;
  return () => {
    loaded ??= { value: load() };
    return loaded.value;
  };
}

/** A module whose default export is wanted, whether it was written as CommonJS or not. */
function defaultOf<T>(module: T | { default: T }): T {
  return typeof module === "object" && module !== null && "default" in module ? module.default : (module as T);
}
