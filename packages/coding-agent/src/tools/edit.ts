// The edit tool: replaces pieces of a text file and leaves every other byte as it is.

import * as Type from "typebox";
import { writeFileAtomic } from "../lib/atomic-write.js";
import { readRegularFileWithin } from "../lib/open-regular-file.js";
import { applyEdits, type Edit } from "./edit-matching.js";
import { withFileMutationQueue } from "./file-queue.js";
import type { EditOperations } from "./operations.js";
import { resolveExistingPath, resolvePath } from "./paths.js";
import { type BuiltInTool, checkAborted, systemReason, type ToolOptions } from "./tool.js";
import { formatSize } from "./truncate.js";

export const editParameters = Type.Object({
  path: Type.String({ description: "The file, relative to the working directory or absolute" }),
  edits: Type.Array(
    Type.Object({
      oldText: Type.String({ description: "The text to replace, as it is in the file; it must occur there once" }),
      newText: Type.String({ description: "What to put in its place; empty to delete" }),
    }),
    { minItems: 1, description: "Replacements in the file as it is now; they must not overlap" },
  ),
});

/** `diff` is a unified diff, empty when the files are too different to tell in time; `firstChangedLine` counts from 1. */
export interface EditDetails {
  diff: string;
  firstChangedLine: number;
}

/** Bytes of a file above which it is not edited: 50 MB. Matching takes several times as much memory. */
export const maxEditBytes = 50 * 1024 * 1024;

/** Milliseconds after which a diff is given up; it is for people only. */
const diffTimeout = 1000;

/** `operations` reads and writes files in place of this machine. */
export interface EditToolOptions extends ToolOptions {
  operations?: EditOperations;
}

export function createEditTool(options: EditToolOptions): BuiltInTool<typeof editParameters, EditDetails> {
  return {
    name: "edit",
    label: "edit",
    description:
      "Replace pieces of a text file. Each oldText must occur exactly once in the file as it is now; give as many " +
      "surrounding lines as that takes, and no more. Several places of one file go into one call.",
    promptSnippet: "Change parts of a file",
    promptGuidelines: ["Put all changes to one file into one edit call, with short oldText."],
    parameters: editParameters,
    prepareArguments,
    async execute(_id, { path, edits }, signal) {
      const { operations } = options;
      const file = operations ? resolvePath(path, options.cwd) : resolveExistingPath(path, options.cwd);
      return withFileMutationQueue(file, async () => {
        checkAborted(signal);
        try {
          const { before, after, firstChangedLine } = await editFile(file, edits, signal, operations);
          const diff = await unifiedDiff(path, before, after);
          const count = edits.length === 1 ? "1 replacement" : `${edits.length} replacements`;
          const text = `Edited ${path}: ${count}, first changed line ${firstChangedLine}`;
          return { content: [{ type: "text", text }], details: { diff, firstChangedLine } };
        } catch (error) {
          checkAborted(signal);
          throw new Error(`Cannot edit "${path}": ${systemReason(error)}`);
        }
      });
    },
  };
}

/** Takes `edits` as JSON text, one edit without the list, and `oldText`/`newText` beside `path`. */
export function prepareArguments(args: unknown): unknown {
  if (!isRecord(args)) return args;
  const { oldText, newText, ...rest } = args;
  let edits = parseJson(rest.edits);
  if (isRecord(edits)) edits = [edits];
  if (edits === undefined && typeof oldText === "string" && typeof newText === "string") edits = [{ oldText, newText }];
  return edits === undefined ? args : { ...rest, edits: Array.isArray(edits) ? edits.map(parseJson) : edits };
}

async function editFile(
  file: string,
  edits: readonly Edit[],
  signal: AbortSignal | undefined,
  operations: EditOperations | undefined,
) {
  const bytes = operations
    ? await readElsewhere(file, operations)
    : await readRegularFileWithin(file, { maxBytes: maxEditBytes, tooLarge, signal });
  const before = bytes.toString("utf8");
  // Not valid UTF-8: worked on as bytes, one character each, so that what we cannot read stays as it is.
  const isText = Buffer.from(before, "utf8").equals(bytes);
  const asBytes = (text: string) => Buffer.from(text, "utf8").toString("latin1");
  const edited = isText
    ? applyEdits(before, edits)
    : applyEdits(
        bytes.toString("latin1"),
        edits.map((edit) => ({ oldText: asBytes(edit.oldText), newText: asBytes(edit.newText) })),
        { exactOnly: true },
      );
  checkAborted(signal);
  const output = Buffer.from(edited.text, isText ? "utf8" : "latin1");
  if (operations) await operations.writeFile(file, edited.text);
  else await writeFileAtomic(file, output);
  return { before, after: isText ? edited.text : output.toString("utf8"), firstChangedLine: edited.firstChangedLine };
}

/** Only text travels: what is not valid UTF-8 would come back changed. */
async function readElsewhere(file: string, operations: EditOperations): Promise<Buffer> {
  await operations.access(file);
  const bytes = Buffer.from(await operations.readFile(file));
  if (bytes.length > maxEditBytes) throw tooLarge(bytes.length);
  if (!Buffer.from(bytes.toString("utf8"), "utf8").equals(bytes)) throw new Error("it is not UTF-8 text");
  return bytes;
}

function tooLarge(bytes: number): Error {
  const size = `it has ${formatSize(bytes)}, more than the ${formatSize(maxEditBytes)} that can be edited`;
  return new Error(`${size}; change it with bash, such as sed -i`);
}

async function unifiedDiff(path: string, before: string, after: string): Promise<string> {
  // Saves 18 ms of every start without an edit.
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const options = { context: 3, timeout: diffTimeout, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(path, path, before, after, undefined, undefined, options) ?? "";
}

function parseJson(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
