// Coercion by plain JSON Schema, for parameters that were not made with the schema library: "5" → 5, a lone value → a list of one.

interface PlainSchema {
  type?: unknown;
  properties?: Record<string, PlainSchema>;
  required?: unknown;
  items?: PlainSchema;
}

/** A copy of a value, changed where the schema names one type and the meaning is plain; everything else as it was. */
export function convertPlain(schema: PlainSchema | undefined, value: unknown): unknown {
  switch (schema?.type) {
    case "number":
    case "integer":
      return typeof value === "string" && numeral.test(value.trim()) ? Number(value) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
    case "string":
      return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
    case "array": {
      if (value === undefined || value === null) return value;
      return (Array.isArray(value) ? value : [value]).map((item) => convertPlain(schema.items, item));
    }
    case "object":
      return convertObject(schema, value);
    default:
      return value;
  }
}

const numeral = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

function convertObject({ properties = {}, required }: PlainSchema, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const known = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => inner !== null || isRequired(name))
      .map(([name, inner]) => [name, convertPlain(known(name), inner)]),
  );
}
