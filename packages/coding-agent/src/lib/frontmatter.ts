// Takes the front matter off a Markdown text: the YAML between two `---` lines at its very beginning.

type YamlLibrary = Pick<typeof import("yaml"), "parseDocument">;

export interface MarkdownParts {
  frontmatter: Record<string, unknown>;
  /** The text behind the front matter, without blank ends. */
  body: string;
}

/** Front matter that is no YAML; `line` counts from 1 in the whole text. */
export class FrontmatterError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(message: string, line?: number, column?: number) {
    super(message);
    this.name = "FrontmatterError";
    this.line = line;
    this.column = column;
  }
}

/**
 * The YAML between the marks, and what follows without blank ends; without front matter `yaml` is absent and `body` the
 * whole text as it is. Line ends are LF.
 */
export function splitFrontmatter(text: string): { yaml?: string; body: string } {
  const plain = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const opened = /^---[ \t]*\n/.exec(plain);
  if (!opened) return { body: plain };
  const rest = plain.slice(opened[0].length - 1); // from the line end, so that empty front matter closes too
  const closed = /\n---[ \t]*(?:\n|$)/.exec(rest);
  if (!closed) return { body: plain };
  return { yaml: rest.slice(1, closed.index + 1), body: rest.slice(closed.index + closed[0].length).trim() };
}

/** The text without its front matter. */
export function stripFrontmatter(text: string): string {
  return splitFrontmatter(text).body.trim();
}

/** A text taken apart. Throws a `FrontmatterError`; front matter that is no mapping counts as empty. */
export async function readFrontmatter(text: string): Promise<MarkdownParts> {
  const { yaml: source, body } = splitFrontmatter(text);
  if (source === undefined) return { frontmatter: {}, body: body.trim() };
  const plain = readPlainLines(source);
  if (plain) return { frontmatter: plain, body };
  const { default: yaml } = await import("yaml"); // CommonJS: bundled, it has no other export
  return { frontmatter: readYaml(source, yaml), body };
}

/**
 * The same at once, for those who do not wait: they bring the YAML library, which is asked for when it is needed. A text
 * without front matter stays as it is. Throws like `readFrontmatter`.
 */
export function readFrontmatterNow(text: string, yaml: () => YamlLibrary): MarkdownParts {
  const { yaml: source, body } = splitFrontmatter(text);
  if (source === undefined) return { frontmatter: {}, body };
  return { frontmatter: readPlainLines(source) ?? readYaml(source, yaml()), body };
}

/**
 * Front matter whose every line is `key: value` with a value that YAML takes as it stands; undefined when there is anything
 * else in it. Nearly all front matter is like that, and the YAML library costs 45 ms to load (measured, bundled, Node 20); a
 * test holds the two against each other.
 */
export function readPlainLines(source: string): Record<string, unknown> | undefined {
  const found = new Map<string, unknown>();
  for (const line of source.split("\n")) {
    if (line === "") continue;
    const [, key, value] = /^([A-Za-z][\w-]*): +(\S.*)$/.exec(line.trimEnd()) ?? [];
    if (key === undefined || value === undefined || found.has(key)) return undefined;
    if (specialWord.test(key) || /[^\x20-\x7e\u00a1-\u1fff\u2030-\ud7ff]/.test(value)) return undefined;
    const quoted = /^"([^"\\]*)"$|^'([^']*)'$/.exec(value);
    if (quoted) found.set(key, quoted[1] ?? quoted[2]);
    else if (value === "true" || value === "false") found.set(key, value === "true");
    else if (!/^[A-Za-z]/.test(value) || specialWord.test(value) || /:(?: |$)| #/.test(value)) return undefined;
    else found.set(key, value);
  }
  return Object.fromEntries(found);
}

const specialWord = /^(?:true|false|null)$/i;

function readYaml(source: string, yaml: YamlLibrary): Record<string, unknown> {
  const document = yaml.parseDocument(source, { prettyErrors: true, logLevel: "silent" });
  const [fault] = document.errors;
  if (fault) {
    const at = fault.linePos?.[0];
    throw new FrontmatterError(firstLineOf(fault.message), at && at.line + 1, at?.col);
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    throw new FrontmatterError(firstLineOf((error as Error).message)); // aliases without end
  }
  return isMapping(value) ? value : {};
}

function firstLineOf(message: string): string {
  return (message.split("\n")[0] as string).replace(/ at line \d+, column \d+:?$/, "");
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
