// Checks a value against one of our own file schemas, telling what is wrong where.
//
// The schema library could do it, but loading its checker costs 7 ms (measured, bundled, Node 20) at every start that
// finds a settings or models file, and it does not say which member of a choice of constants was meant. This knows only
// the keywords those schemas use; a test holds it against the library.

import type { TSchema } from "typebox";

/** What is wrong at `path` of the value: `expected` says what belongs there, as in `must be a number from 0`. */
export interface ValueProblem {
  path: (string | number)[];
  expected: string;
}

interface Schema {
  type?: string;
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
}

/** The problems of a value, empty when it fits. With `partial` nothing is required at the first level of nesting down. */
export function checkValue(schema: TSchema, value: unknown, options: { partial?: boolean } = {}): ValueProblem[] {
  return check(schema as Schema, value, [], options.partial ?? false);
}

function check(schema: Schema, value: unknown, path: (string | number)[], partial: boolean): ValueProblem[] {
  const wrong = [{ path, expected: `must be ${describe(schema)}` }];
  if ("const" in schema) return value === schema.const ? [] : wrong;
  if (schema.anyOf) return checkAnyOf(schema.anyOf, value, path, partial) ?? wrong;
  if (!hasType(schema.type, value)) return wrong;
  switch (schema.type) {
    case "number":
    case "integer":
      return isInRange(schema, value as number) ? [] : wrong;
    case "string":
      return (value as string).length >= (schema.minLength ?? 0) ? [] : wrong;
    case "array":
      return (value as unknown[]).flatMap((item, index) =>
        schema.items ? check(schema.items, item, [...path, index], partial) : [],
      );
    case "object":
      return checkObject(schema, value as Record<string, unknown>, path, partial);
    default:
      return [];
  }
}

function checkObject(
  schema: Schema,
  value: Record<string, unknown>,
  path: (string | number)[],
  partial: boolean,
): ValueProblem[] {
  const problems: ValueProblem[] = [];
  const rest = Object.values(schema.patternProperties ?? {})[0];
  if (!partial)
    for (const key of schema.required ?? [])
      if (!Object.hasOwn(value, key)) problems.push({ path, expected: `must have "${key}"` });
  for (const [key, member] of Object.entries(value)) {
    const properties = schema.properties ?? {};
    const memberSchema = Object.hasOwn(properties, key) ? properties[key] : rest;
    if (memberSchema) problems.push(...check(memberSchema, member, [...path, key], partial));
  }
  return problems;
}

/** Empty when a branch fits; the problems of the branch of the value's type when there is just one; else undefined. */
function checkAnyOf(
  branches: Schema[],
  value: unknown,
  path: (string | number)[],
  partial: boolean,
): ValueProblem[] | undefined {
  const results = branches.map((branch) => check(branch, value, path, partial));
  if (results.some((problems) => problems.length === 0)) return [];
  const deeper = results.filter((_, index) => {
    const { type } = branches[index]!;
    return (type === "object" || type === "array") && hasType(type, value);
  });
  return deeper.length === 1 ? deeper[0] : undefined;
}

function hasType(type: string | undefined, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function isInRange({ minimum, maximum, exclusiveMinimum }: Schema, value: number): boolean {
  return (
    (minimum === undefined || value >= minimum) &&
    (maximum === undefined || value <= maximum) &&
    (exclusiveMinimum === undefined || value > exclusiveMinimum)
  );
}

function describe(schema: Schema): string {
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(describe).join(" or ");
  const names: Record<string, string> = {
    array: schema.items ? `a list of ${plural(schema.items)}` : "a list",
    integer: "a whole number",
    object: "an object",
    string: schema.minLength ? "a string that is not empty" : "a string",
    boolean: "true or false",
    null: "null",
    number: "a number",
  };
  const from = schema.minimum === undefined ? "" : ` from ${schema.minimum}`;
  const to = schema.maximum === undefined ? "" : ` to ${schema.maximum}`;
  return `${names[schema.type ?? ""] ?? "anything"}${from}${to}`;
}

function plural(schema: Schema): string {
  return schema.type === "string" ? "strings" : schema.type === "object" ? "objects" : "values";
}
