import fc from "fast-check";
import type { TSchema } from "typebox";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import { checkValue } from "../../src/lib/check-value.js";
import { ModelConfig, ModelOverride, ProviderConfig } from "../../src/resources/models-config.js";
import { Settings } from "../../src/resources/settings.js";

interface Node {
  type?: string;
  const?: unknown;
  anyOf?: Node[];
  properties?: Record<string, Node>;
  patternProperties?: Record<string, Node>;
  items?: Node;
}

/** Values that often fit the schema and often just miss it. */
function valuesOf(schema: Node): fc.Arbitrary<unknown> {
  const odd = fc.oneof(fc.constantFrom(null, -1, 0, 1.5, "", "x", true, [], {}), fc.jsonValue({ maxDepth: 1 }));
  return fc.oneof({ weight: 6, arbitrary: fitting(schema) }, { weight: 1, arbitrary: odd });
}

function fitting(schema: Node): fc.Arbitrary<unknown> {
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valuesOf));
  if (schema.type === "array")
    return fc.array(schema.items ? valuesOf(schema.items) : fc.jsonValue(), { maxLength: 3 });
  if (schema.type === "object") {
    const rest = Object.values(schema.patternProperties ?? {})[0];
    if (rest) return fc.dictionary(fc.string({ maxLength: 4 }), valuesOf(rest), { maxKeys: 3 });
    const members = Object.entries(schema.properties ?? {}).map(([key, member]) => [key, valuesOf(member)] as const);
    return fc.record(Object.fromEntries(members), { requiredKeys: [] });
  }
  if (schema.type === "number") return fc.double({ noNaN: true, noDefaultInfinity: true });
  if (schema.type === "integer") return fc.integer();
  if (schema.type === "boolean") return fc.boolean();
  return schema.type === "null" ? fc.constant(null) : fc.string({ maxLength: 5 });
}

describe.each<[string, TSchema]>([
  ["Settings", Settings],
  ["ModelConfig", ModelConfig],
  ["ModelOverride", ModelOverride],
  ["ProviderConfig", ProviderConfig],
])("checkValue on %s", (_, schema) => {
  test("agrees with the schema library", () => {
    fc.assert(
      fc.property(valuesOf(schema as Node), (value) => {
        expect(checkValue(schema, value).length === 0).toBe(Check(schema, value));
      }),
      { seed: 20260104, numRuns: 300 },
    );
  });
});

test("checkValue says what is wrong where", () => {
  const problems = checkValue(
    Settings,
    {
      steeringMode: "some",
      compaction: { reserveTokens: -1, enabled: "yes", modelOverrides: { "a/b": { reserveTokens: 1.5 } } },
      enabledModels: ["x", 5],
      httpIdleTimeoutMs: "never",
      shellPath: "",
      unknown: {},
    },
    { partial: true },
  );
  expect(problems.map(({ path, expected }) => `${path.join(".")} ${expected}`)).toEqual([
    'steeringMode must be "one-at-a-time" or "all"',
    "compaction.reserveTokens must be a whole number from 0",
    "compaction.enabled must be true or false",
    "compaction.modelOverrides.a/b.reserveTokens must be a whole number from 0",
    "enabledModels.1 must be a string",
    'httpIdleTimeoutMs must be a number from 0 or "disabled"',
    "shellPath must be a string that is not empty",
  ]);
  expect(checkValue(ModelConfig, { name: "x" })).toEqual([{ path: [], expected: 'must have "id"' }]);
});
