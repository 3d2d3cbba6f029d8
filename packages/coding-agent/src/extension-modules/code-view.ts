// Source code and changes in colour.

import { highlighter } from "./lazy-libraries.js";
import { defaultTheme, type ThemeColor } from "./theme.js";

/** The lines of a code in the theme's colours; in one colour when the language is unknown. Never throws. */
export function highlightCode(code: string, language?: string): string[] {
  const theme = defaultTheme();
  const known = language !== undefined && highlighter().getLanguage(language) !== undefined;
  if (!known) return code.split("\n").map((line) => theme.fg("mdCodeBlock", line));
  const { value } = highlighter().highlight(code, { language, ignoreIllegals: true });
  return colouredLines(value);
}

/** Highlighted HTML is spans around escaped text, nothing else; each line carries its own colours. */
function colouredLines(html: string): string[] {
  const theme = defaultTheme();
  const colours: (ThemeColor | undefined)[] = [];
  const lines = [""];
  for (const [, open, close, text] of html.matchAll(/<span class="([^"]*)">|(<\/span>)|([^<]+)/g)) {
    if (open !== undefined) colours.push(colourOf(open) ?? colours.at(-1));
    else if (close !== undefined) colours.pop();
    else {
      const colour = colours.at(-1);
      for (const [index, part] of unescaped(text as string)
        .split("\n")
        .entries()) {
        if (index > 0) lines.push("");
        if (part !== "") lines[lines.length - 1] += colour ? theme.fg(colour, part) : part;
      }
    }
  }
  return lines;
}

function colourOf(classes: string): ThemeColor | undefined {
  const [name] = /(?<=hljs-)[a-z-]+/.exec(classes) ?? [];
  return name === undefined ? undefined : colourByClass[name];
}

const colourByClass: Readonly<Record<string, ThemeColor>> = {
  comment: "syntaxComment",
  quote: "syntaxComment",
  keyword: "syntaxKeyword",
  literal: "syntaxKeyword",
  built: "syntaxType",
  type: "syntaxType",
  class: "syntaxType",
  title: "syntaxFunction",
  function: "syntaxFunction",
  variable: "syntaxVariable",
  attr: "syntaxVariable",
  attribute: "syntaxVariable",
  property: "syntaxVariable",
  params: "syntaxVariable",
  string: "syntaxString",
  regexp: "syntaxString",
  number: "syntaxNumber",
  operator: "syntaxOperator",
  punctuation: "syntaxPunctuation",
  tag: "syntaxKeyword",
  name: "syntaxKeyword",
  meta: "syntaxComment",
};

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|amp|#x27);/g, (_, name: string) => characters[name] as string);
}

const characters: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&", "#x27": "'" };

/** The language of a file by its name; undefined for one nobody knows. */
export function getLanguageFromPath(path: string): string | undefined {
  const name = path.split(/[\\/]/).at(-1)?.toLowerCase() ?? "";
  const ending = name.includes(".", 1) ? name.slice(name.lastIndexOf(".") + 1) : "";
  return languages.get(name) ?? languages.get(`.${ending}`);
}

const endings: Readonly<Record<string, string>> = {
  typescript: ".ts .tsx .mts .cts",
  javascript: ".js .jsx .mjs .cjs",
  python: ".py .pyi",
  ruby: ".rb",
  rust: ".rs",
  go: ".go",
  java: ".java",
  kotlin: ".kt .kts",
  swift: ".swift",
  c: ".c .h",
  cpp: ".cpp .cc .cxx .hpp .hh",
  csharp: ".cs",
  php: ".php",
  bash: ".sh .bash .zsh",
  powershell: ".ps1",
  sql: ".sql",
  html: ".html .htm",
  css: ".css",
  scss: ".scss",
  less: ".less",
  json: ".json .jsonc",
  yaml: ".yml .yaml",
  toml: ".toml",
  xml: ".xml .svg",
  markdown: ".md .markdown",
  dockerfile: "dockerfile .dockerfile",
  makefile: "makefile gnumakefile .mk",
  lua: ".lua",
  perl: ".pl .pm",
  r: ".r",
  scala: ".scala",
  graphql: ".graphql .gql",
  ini: ".ini .cfg .conf",
  diff: ".diff .patch",
  dart: ".dart",
  elixir: ".ex .exs",
  haskell: ".hs",
  vim: ".vim",
};

const languages = new Map(
  Object.entries(endings).flatMap(([language, names]) => names.split(" ").map((name) => [name, language] as const)),
);

/** A diff of numbered lines, as `generateDiffString` makes it, in the theme's colours. */
export function renderDiff(diff: string, _options?: unknown): string {
  const theme = defaultTheme();
  return diff
    .split("\n")
    .map((line) => {
      if (line.startsWith("+")) return theme.fg("toolDiffAdded", line);
      return theme.fg(line.startsWith("-") ? "toolDiffRemoved" : "toolDiffContext", line);
    })
    .join("\n");
}
