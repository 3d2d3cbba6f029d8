// A line of stdin → a command that fits its schema, or the answer that says why it does not.

import { excerpt } from "@earendil-works/pi-ai";
import type { TObject, TSchema } from "typebox";
import * as Type from "typebox";
import { CommandError } from "../../core/errors.js";
import { type RpcCommandName, type RpcFailure, rpcCommands } from "./rpc-types.js";

/** A record that is a command by name; its parameters are not checked yet. */
export interface ReceivedCommand {
  name: RpcCommandName;
  record: Record<string, unknown>;
}

/** A record of stdin: a command, an answer to a dialog, or a refusal to send back. */
export type Received =
  | { kind: "command"; command: ReceivedCommand }
  | { kind: "uiResponse"; record: Record<string, unknown> }
  | { kind: "refused"; failure: RpcFailure };

export function receive(line: string): Received {
  let record: unknown;
  try {
    if (!line.trim()) throw new Error("the line is empty");
    record = JSON.parse(line);
  } catch (error) {
    return refuse("parse", "parse_error", `Failed to parse command: ${(error as Error).message}`);
  }
  if (typeof record !== "object" || record === null || Array.isArray(record))
    return refuse("parse", "invalid_request", "Failed to parse command: a record is a JSON object");
  const fields = record as Record<string, unknown>;
  const { type } = fields;
  if (typeof type !== "string")
    return refuse("parse", "invalid_request", 'Failed to parse command: "type" is missing or not a string', fields);
  if (type === "extension_ui_response") return { kind: "uiResponse", record: fields };
  if (!Object.hasOwn(rpcCommands, type))
    return refuse(excerpt(type), "unknown_command", `Unknown command: ${excerpt(type)}`, fields);
  return { kind: "command", command: { name: type as RpcCommandName, record: fields } };
}

function refuse(
  command: string,
  code: RpcFailure["code"],
  error: string,
  record?: Record<string, unknown>,
): Extract<Received, { kind: "refused" }> {
  return { kind: "refused", failure: { ...idOf(record), type: "response", command, success: false, error, code } };
}

/** The id to echo: as it came, null included, absent when there was none. */
export function idOf(record: Record<string, unknown> | undefined): { id?: unknown } {
  return record && "id" in record ? { id: record.id } : {};
}

interface Checker {
  Check(value: unknown): boolean;
  Errors(value: unknown): { instancePath: string; keyword: string; message: string; params: object }[];
}

const checkers = new Map<RpcCommandName, Checker>();

/** Whether a command's parameters can be checked without loading anything. */
export function isCheckable(name: RpcCommandName): boolean {
  return checkers.has(name) || Object.keys(rpcCommands[name].params).length === 0;
}

/** Loads and compiles the check of one command, on its first use: compiling all would cost the start 100 ms. */
export async function prepareCheck(name: RpcCommandName): Promise<void> {
  if (isCheckable(name)) return;
  const { Compile } = await import("typebox/compile");
  checkers.set(name, Compile(Type.Object(rpcCommands[name].params)) as unknown as Checker);
}

/**
 * The parameters of a command: unknown fields are left out, `null` in an optional field counts as absent. Throws
 * CommandError `invalid_params` that names the field. The command must be checkable.
 */
export function checkParams({ name, record }: ReceivedCommand): Record<string, unknown> {
  const schemas = rpcCommands[name].params as Record<string, TSchema>;
  const params: Record<string, unknown> = {};
  const required = (Type.Object(schemas) as TObject & { required?: string[] }).required ?? [];
  for (const key of Object.keys(schemas)) {
    const value = record[key];
    if (value === undefined || (value === null && !required.includes(key))) continue;
    params[key] = value;
  }
  if (Object.keys(schemas).length === 0) return params;
  const checker = checkers.get(name);
  if (!checker) throw new Error(`Cannot check "${name}": its check is not prepared`);
  if (checker.Check(params)) return params;
  throw invalidParams(schemas, params, checker);
}

function invalidParams(schemas: Record<string, TSchema>, params: object, checker: Checker): CommandError {
  const errors = checker.Errors(params);
  const missing = errors.find(({ keyword }) => keyword === "required");
  if (missing) {
    const [first] = (missing.params as { requiredProperties?: string[] }).requiredProperties ?? [];
    const field = [pathOf(missing.instancePath), first].filter(Boolean).join(".");
    return new CommandError("invalid_params", `"${field}" is missing`, field);
  }
  // Of a union the last error is the union's own; before it stand those of its members.
  const error = errors.at(-1) ?? { instancePath: "", keyword: "", message: "does not fit", params: {} };
  const field = pathOf(error.instancePath);
  const allowed = literalsOf(schemas[field]);
  const { allowedValue } = error.params as { allowedValue?: unknown };
  const constant = allowedValue === undefined ? undefined : `must be ${JSON.stringify(allowedValue)}`;
  const reason = allowed
    ? `must be one of ${allowed.join(", ")}`
    : (constant ?? stringFaults[error.keyword] ?? error.message);
  return new CommandError("invalid_params", `"${field}" ${reason}`, field);
}

/** What the constraints of the table's strings mean; the only pattern there is that of paths. */
const stringFaults: Readonly<Record<string, string>> = {
  minLength: "must not be empty",
  pattern: "cannot hold a NUL character",
};

/** `/images/0/mimeType` → `images[0].mimeType`. */
function pathOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index > 0 ? `.${part}` : part))
    .join("");
}

function literalsOf(schema: TSchema | undefined): unknown[] | undefined {
  const members = (schema as { anyOf?: { const?: unknown }[] } | undefined)?.anyOf;
  const values = members?.map((member) => member.const);
  return values && values.length > 0 && values.every((value) => value !== undefined) ? values : undefined;
}
