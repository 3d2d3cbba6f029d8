// What the demo model understands: sentences to requests, requests to calls of the tools it is offered.

/** Something a sentence asks for. Paths are as the user wrote them; `.` is the working directory. */
export type Request =
  | { kind: "list"; path: string }
  | { kind: "read"; path: string }
  | { kind: "search"; text: string; path: string }
  | { kind: "run"; command: string }
  | { kind: "create"; path: string; content: string }
  | { kind: "replace"; oldText: string; newText: string; path: string };

/** The requests of a text, in the order they are made. */
export function findRequests(text: string): Request[] {
  const quotes: string[] = [];
  // Quoted text is taken out first: words in it are content, not requests.
  let rest = text.slice(0, longestText).replace(quoted, (...match) => {
    quotes.push(match.slice(1, 5).find((group) => group !== undefined) as string);
    return `\ue000${quotes.length - 1}\ue001`;
  });
  const unquote = (part: string) => part.replace(/\ue000(\d+)\ue001/g, (_, index) => quotes[Number(index)]!);
  const found: { at: number; request: Request }[] = [];
  for (const { pattern, make } of rules)
    rest = rest.replace(pattern, (...match) => {
      const at = match.find((group) => typeof group === "number") as number;
      const groups = (match.at(-1) as Record<string, string | undefined>) ?? {};
      const values = Object.fromEntries(Object.entries(groups).map(([key, value]) => [key, value && unquote(value)]));
      for (const request of make(values)) found.push({ at, request });
      // Blanks keep the places of what follows, and no other rule reads this again.
      return " ".repeat((match[0] as string).length);
    });
  return found.sort((a, b) => a.at - b.at).map(({ request }) => request);
}

/** The call that fulfils a request with one of the offered tools; undefined when none can. */
export function toToolCall(
  request: Request,
  offered: ReadonlySet<string>,
): { name: string; arguments: Record<string, unknown> } | undefined {
  const bash = (command: string) => (offered.has("bash") ? { name: "bash", arguments: { command } } : undefined);
  switch (request.kind) {
    case "list":
      if (offered.has("ls")) return { name: "ls", arguments: request.path === "." ? {} : { path: request.path } };
      return bash(request.path === "." ? "ls -la" : `ls -la -- ${shellQuote(request.path)}`);
    case "read":
      if (offered.has("read")) return { name: "read", arguments: { path: request.path } };
      return bash(`cat -- ${shellQuote(request.path)}`);
    case "search":
      if (offered.has("grep"))
        return { name: "grep", arguments: { pattern: request.text, path: request.path, literal: true } };
      return bash(`grep -rnF -e ${shellQuote(request.text)} -- ${shellQuote(request.path)}`);
    case "run":
      return bash(request.command);
    case "create":
      if (!offered.has("write")) return undefined;
      return { name: "write", arguments: { path: request.path, content: request.content } };
    case "replace": {
      if (!offered.has("edit")) return undefined;
      const { path, oldText, newText } = request;
      return { name: "edit", arguments: { path, edits: [{ oldText, newText }] } };
    }
  }
}

/** Characters that are looked at: nobody gives a demo model a longer task. */
const longestText = 4000;

/** Backticks and double quotes anywhere; single quotes only around words, so that apostrophes stay letters. */
const quoted = /`([^`\n]+)`|"([^"]*)"|\u201c([^\u201d]*)\u201d|(?<![\w'])'((?:[^'\n]|(?<=\w)'(?=\w))+)'(?![\w'])/g;

const quote = "\ue000\\d+\ue001";
/** A quoted name, one with a dot or a slash inside, or one that everybody knows. */
const path = `(?:${quote}|~?[\\w@.-]*/(?:[\\w@./-]*[\\w/])?|~?[\\w@.-]*\\.[\\w@./-]*[\\w/]|README|LICENSE|Makefile|Dockerfile)`;
const folder = `(?!(?:this|the|a|an|all|any|every|each|current|here|it|there|please|now|files?)\\b)(?:${quote}|[\\w@./~-]*[\\w/~])`;
const article = "(?:(?:the|a|an|my|our|this)\\s+)?";
const fileWord = "(?:(?:new\\s+|empty\\s+)?files?\\s+)?(?:(?:called|named)\\s+)?";
const inFile = `(?:in|inside|within|of)\\s+${article}${fileWord}`;

interface Rule {
  pattern: RegExp;
  make: (groups: Record<string, string | undefined>) => Request[];
}

function rule(source: string, make: Rule["make"]): Rule {
  return { pattern: new RegExp(source, "gi"), make };
}

/** Rules take their text away from those after them, so the more exact ones come first. */
const rules: readonly Rule[] = [
  rule(
    `\\b(?:replace|change|substitute)\\s+(?:the\\s+(?:word|text)\\s+)?(?<old>${quote})\\s+(?:with|by|to|for|into)\\s+(?<new>${quote})\\s+${inFile}(?<path>${path})`,
    (found) => [{ kind: "replace", oldText: found.old!, newText: found.new!, path: found.path! }],
  ),
  rule(
    `\\bin\\s+${article}${fileWord}(?<path>${path}),?\\s+(?:please\\s+)?(?:replace|change)\\s+(?<old>${quote})\\s+(?:with|by|to|into)\\s+(?<new>${quote})`,
    (found) => [{ kind: "replace", oldText: found.old!, newText: found.new!, path: found.path! }],
  ),
  rule(
    `\\b(?:create|write|make|add)\\s+${article}${fileWord}(?<path>${path})\\s+(?:with|containing|that\\s+(?:says|contains)|saying)\\s+(?:${article}(?:content|contents|text|line|words?)\\s*:?\\s+)?(?<content>${quote})`,
    (found) => [{ kind: "create", path: found.path!, content: found.content! }],
  ),
  rule(
    `\\b(?:write|put|save)\\s+(?:${article}(?:text|line|words?)\\s+)?(?<content>${quote})\\s+(?:in|into|to)\\s+${article}${fileWord}(?<path>${path})`,
    (found) => [{ kind: "create", path: found.path!, content: found.content! }],
  ),
  rule(
    `\\b(?:create|make)\\s+${article}(?:new\\s+)?empty\\s+file\\s+(?:(?:called|named)\\s+)?(?<path>${path})`,
    (found) => [{ kind: "create", path: found.path!, content: "" }],
  ),
  rule(`\\b(?:run|execute)\\s+(?:${article}(?:shell\\s+)?command:?\\s+)?(?<command>${quote})`, (found) => [
    { kind: "run", command: found.command! },
  ]),
  rule(`^\\s*(?<command>${quote})\\s*$`, (found) => [{ kind: "run", command: found.command! }]),
  rule(
    `\\b(?:search|grep|look|find|where)\\b[^\\ue000.?!\\n]*?(?<text>${quote})(?:[^\\ue000.?!\\n]*?\\bin\\s+(?:the\\s+)?(?:files?\\s+|folder\\s+|directory\\s+)?(?<path>${folder}))?`,
    (found) => [{ kind: "search", text: found.text!, path: found.path ?? "." }],
  ),
  rule(
    `\\b(?:read|show|list|open|print|cat|display|look\\s+at|what(?:'s|\\s+is)\\s+in|what\\s+does|summari[sz]e|explain)\\s+(?:me\\s+)?(?:${article}(?:first\\s+lines?|contents?)\\s+of\\s+)?${article}${fileWord}(?<paths>${path}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+)${path})*)(?!\\s+(?:folder|directory))`,
    (found) =>
      found.paths!.split(/\s*,\s*(?:and\s+)?|\s+and\s+/).map((name): Request => {
        const isFolder = name.endsWith("/");
        return isFolder ? { kind: "list", path: name } : { kind: "read", path: name };
      }),
  ),
  rule(
    `\\b(?:list|show|which|what|see|ls)\\b[^.?!\\n]*?\\b(?:files?|folders?|director(?:y|ies)|entries)\\b(?:[^.?!,\\n]*?\\b(?:in|of|under)\\s+(?:the\\s+)?(?:(?:folder|directory)\\s+)?(?<path>${folder})(?:\\s+(?:folder|directory))?|[^.?!,\\n]*?\\b(?:this|current|working)\\s+(?:working\\s+)?(?:folder|directory)|\\s+(?<named>${folder})(?=\\s*(?:[.?!]|$)))?`,
    (found) => [{ kind: "list", path: found.path ?? found.named ?? "." }],
  ),
  rule(`^\\s*ls\\s*$`, () => [{ kind: "list", path: "." }]),
];

function shellQuote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
