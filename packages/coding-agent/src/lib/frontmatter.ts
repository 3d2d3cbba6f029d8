// Takes the front matter off a Markdown text: the YAML between two `---` lines at its very beginning.

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

/** The YAML between the marks and what follows; without front matter `yaml` is absent and `body` the whole text. */
export function splitFrontmatter(text: string): { yaml?: string; body: string } {
  const plain = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const opened = /^---[ \t]*\n/.exec(plain);
  if (!opened) return { body: plain.trim() };
  const rest = plain.slice(opened[0].length - 1); // from the line end, so that empty front matter closes too
  const closed = /\n---[ \t]*(?:\n|$)/.exec(rest);
  if (!closed) return { body: plain.trim() };
  return { yaml: rest.slice(1, closed.index + 1), body: rest.slice(closed.index + closed[0].length).trim() };
}

/** The text without its front matter. */
export function stripFrontmatter(text: string): string {
  return splitFrontmatter(text).body;
}

/**
 * Loads the YAML library and gives the function that takes a text apart. That function throws a `FrontmatterError`; front
 * matter that is no mapping counts as empty.
 */
export async function loadFrontmatterParser(): Promise<(text: string) => MarkdownParts> {
  // Loaded with the first text to be read: saves 15 ms at a start without skills and templates.
  const { parseDocument } = await import("yaml");
  return (text) => {
    const { yaml, body } = splitFrontmatter(text);
    if (yaml === undefined) return { frontmatter: {}, body };
    const document = parseDocument(yaml, { prettyErrors: true, logLevel: "silent" });
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
    return { frontmatter: isMapping(value) ? value : {}, body };
  };
}

function firstLineOf(message: string): string {
  return (message.split("\n")[0] as string).replace(/ at line \d+, column \d+:?$/, "");
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
