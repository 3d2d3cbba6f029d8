// A model's arguments → parameters of a tool: coerced where the meaning is plain ("5" → 5), refused by name otherwise.

import { convertPlain } from "./convert-plain.js";
import type { AnyAgentTool } from "./types.js";

interface Validator {
  Check(value: unknown): boolean;
  Errors(value: unknown): Iterable<{ instancePath: string; message: string; keyword?: string; params?: object }>;
}

const validators = new WeakMap<object, Validator>();

/**
 * Returns a copy of `args` that fits the tool's parameters. Throws an error that names the tool and the bad
 * parameters (the first eight, where the validator stops) when they do not fit.
 */
export async function coerceArguments(
  tool: Pick<AnyAgentTool, "name" | "parameters">,
  args: unknown,
): Promise<unknown> {
  const schema = tool.parameters;
  let validator = validators.get(schema);
  // Loaded and compiled on first use: saves 20 ms of a start that runs no tool.
  const [{ Compile }, { Convert }] = await Promise.all([import("typebox/compile"), import("typebox/value")]);
  if (!validator) {
    validator = Compile(schema) as unknown as Validator;
    validators.set(schema, validator);
  }
  if (validator.Check(args)) return args;
  const converted = Convert(schema, withoutNulls(structuredClone(args), schema));
  if (validator.Check(converted)) return converted;
  // The library converts only what it has made itself.
  const plain = convertPlain(schema, converted);
  if (validator.Check(plain)) return plain;
  throw new Error(describe(tool.name, validator.Errors(converted), args));
}

/** Models send `null` for parameters they mean to leave out. */
function withoutNulls(args: unknown, schema: { required?: unknown }): unknown {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return args;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(Object.entries(args).filter(([name, value]) => value !== null || required.includes(name)));
}

/** Characters of the arguments that an error repeats: enough to see what was wrong, too few to fill a context. */
const echoLimit = 2000;

function describe(name: string, errors: Iterable<{ instancePath: string; message: string }>, args: unknown): string {
  const lines: string[] = [];
  for (const { instancePath, message } of errors) {
    const place = instancePath.replace(/^\//, "").replaceAll("/", ".") || "arguments";
    const line = `- ${place}: ${message}`;
    if (!lines.includes(line)) lines.push(line);
  }
  const received = JSON.stringify(args, null, 2) ?? String(args);
  const echo = received.length > echoLimit ? `${received.slice(0, echoLimit)}…` : received;
  return `Invalid arguments for tool "${name}":\n${lines.join("\n")}\n\nReceived:\n${echo}`;
}
