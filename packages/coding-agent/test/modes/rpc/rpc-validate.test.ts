import fc from "fast-check";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { beforeAll, describe, expect, test } from "vitest";
import { CommandError } from "../../../src/core/errors.js";
import { type RpcCommandName, RpcFailure, rpcCommands } from "../../../src/modes/rpc/rpc-types.js";
import { checkParams, isCheckable, prepareCheck, receive } from "../../../src/modes/rpc/rpc-validate.js";

const names = Object.keys(rpcCommands) as RpcCommandName[];
beforeAll(async () => void (await Promise.all(names.map(prepareCheck))));

/** The refusal of a command, or its parameters. */
function check(record: Record<string, unknown>) {
  const received = receive(JSON.stringify(record));
  if (received.kind !== "command") throw new Error("Not a command");
  try {
    return checkParams(received.command);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [error.code, error.field, error.message];
  }
}

describe("receive", () => {
  test("the name of an unknown command comes back in part only", () => {
    const cut = `${"x".repeat(200)}…`;
    expect(receive(JSON.stringify({ type: "x".repeat(5000), id: 1 }))).toEqual({
      kind: "refused",
      failure: {
        id: 1,
        type: "response",
        command: cut,
        success: false,
        code: "unknown_command",
        error: `Unknown command: ${cut}`,
      },
    });
  });

  const failure = (facts: object) => ({
    kind: "refused",
    failure: { type: "response", command: "parse", success: false, ...facts },
  });
  const empty = failure({ code: "parse_error", error: "Failed to parse command: the line is empty" });
  const noObject = failure({
    code: "invalid_request",
    error: "Failed to parse command: a record is a JSON object",
  });
  const noType = (id?: object) =>
    failure({
      ...id,
      code: "invalid_request",
      error: 'Failed to parse command: "type" is missing or not a string',
    });

  test.each([
    ["", empty],
    ["   ", empty],
    ["\t", empty],
    ["null", noObject],
    ["5", noObject],
    ['"get_state"', noObject],
    ["[]", noObject],
    ['[{"type":"get_state"}]', noObject],
    ["{}", noType()],
    ['{"id":"a"}', noType({ id: "a" })],
    ['{"id":null,"type":5}', noType({ id: null })],
    ['{"type":null}', noType()],
  ])("%j is refused as no command", (line, refused) => {
    expect(receive(line)).toEqual(refused);
  });

  test("what is no JSON is refused as such", () => {
    const received = receive('{"type":');
    expect(received).toEqual(
      failure({ code: "parse_error", error: expect.stringMatching(/^Failed to parse command: ./) }),
    );
  });

  test.each(["foobar", "__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "", "Prompt", "prompt "])(
    "%j is an unknown command, its id echoed",
    (type) => {
      expect(receive(JSON.stringify({ id: "t", type }))).toEqual({
        kind: "refused",
        failure: {
          id: "t",
          type: "response",
          command: type,
          success: false,
          error: `Unknown command: ${type}`,
          code: "unknown_command",
        },
      });
    },
  );

  test("an answer to a dialog is no command", () => {
    const record = { type: "extension_ui_response", id: "1", confirmed: true };
    expect(receive(JSON.stringify(record))).toEqual({ kind: "uiResponse", record });
  });

  test("a command keeps its record, unknown fields and all", () => {
    const record = { type: "get_state", id: { a: [1] }, extra: true };
    expect(receive(JSON.stringify(record))).toEqual({ kind: "command", command: { name: "get_state", record } });
  });

  test("any line gives a command, a dialog's answer, or a refusal that fits its schema; any id comes back as it was", () => {
    const schema = Type.Object({ ...RpcFailure.properties, id: Type.Optional(Type.Unknown()) });
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ id: fc.jsonValue(), type: fc.oneof(fc.string(), fc.constantFrom(...names)) })
        .map((r) => JSON.stringify(r)),
    );
    fc.assert(
      fc.property(line, (text) => {
        const received = receive(text);
        if (received.kind !== "refused") return;
        expect(Value.Errors(schema, received.failure)).toEqual([]);
        let id: unknown;
        let hasId = false;
        try {
          const record = JSON.parse(text);
          hasId =
            typeof record === "object" && record !== null && !Array.isArray(record) && Object.hasOwn(record, "id");
          if (hasId) id = record.id;
        } catch {
          // No JSON has no id.
        }
        expect([Object.hasOwn(received.failure, "id"), received.failure.id]).toEqual([hasId, id]);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

describe("checkParams", () => {
  test.each<[object, string, string]>([
    [{ type: "prompt" }, "message", '"message" is missing'],
    [{ type: "prompt", message: null }, "message", '"message" must be string'],
    [{ type: "prompt", message: 5 }, "message", '"message" must be string'],
    [{ type: "prompt", message: "x", images: "no" }, "images", '"images" must be array'],
    [{ type: "prompt", message: "x", images: [null] }, "images[0]", '"images[0]" must be object'],
    [
      { type: "prompt", message: "x", images: [{ type: "image", data: "AA==" }] },
      "images[0].mimeType",
      '"images[0].mimeType" is missing',
    ],
    [
      {
        type: "prompt",
        message: "x",
        images: [
          { type: "image", data: "AA==", mimeType: "image/png" },
          { type: "image", data: 1, mimeType: "image/png" },
        ],
      },
      "images[1].data",
      '"images[1].data" must be string',
    ],
    [
      { type: "prompt", message: "x", images: [{ type: "picture", data: "AA==", mimeType: "image/png" }] },
      "images[0].type",
      '"images[0].type" must be "image"',
    ],
    [
      { type: "prompt", message: "x", streamingBehavior: "now" },
      "streamingBehavior",
      '"streamingBehavior" must be one of steer, followUp',
    ],
    [{ type: "steer" }, "message", '"message" is missing'],
    [{ type: "follow_up", message: [] }, "message", '"message" must be string'],
    [{ type: "bash" }, "command", '"command" is missing'],
    [
      { type: "bash", command: "ls", excludeFromContext: "yes" },
      "excludeFromContext",
      '"excludeFromContext" must be boolean',
    ],
    [
      { type: "set_thinking_level", level: "bogus" },
      "level",
      '"level" must be one of off, minimal, low, medium, high, xhigh, max',
    ],
    [
      { type: "set_thinking_level", level: 3 },
      "level",
      '"level" must be one of off, minimal, low, medium, high, xhigh, max',
    ],
    [{ type: "set_steering_mode", mode: "zzz" }, "mode", '"mode" must be one of all, one-at-a-time'],
    [{ type: "set_follow_up_mode", mode: null }, "mode", '"mode" must be one of all, one-at-a-time'],
    [{ type: "set_auto_retry" }, "enabled", '"enabled" is missing'],
    [{ type: "set_auto_retry", enabled: "true" }, "enabled", '"enabled" must be boolean'],
    [{ type: "set_model", provider: "p" }, "modelId", '"modelId" is missing'],
  ])("%j is refused by field", (record, field, message) => {
    expect(check(record as Record<string, unknown>)).toEqual(["invalid_params", field, message]);
  });

  test("null in an optional field counts as absent, unknown fields are left out", () => {
    expect(check({ type: "prompt", message: "x", images: null, streamingBehavior: null, extra: 1 })).toEqual({
      message: "x",
    });
    expect(check({ type: "new_session", parentSession: null })).toEqual({});
    expect(check({ type: "get_state", anything: {} })).toEqual({});
  });

  test("a field named like something every object has is no parameter", () => {
    expect(check({ type: "get_state", constructor: 1, toString: 2 })).toEqual({});
    const received = receive('{"type":"bash","__proto__":{"command":"ls"}}');
    if (received.kind !== "command") throw new Error("Not a command");
    expect(() => checkParams(received.command)).toThrow('"command" is missing');
  });

  test.each(names)("%s: each parameter left out or of a wrong type is refused by its name", (name) => {
    const schemas = rpcCommands[name].params as Record<string, object>;
    const required = Object.keys(schemas).filter((key) => !Value.Check(Type.Object({ [key]: schemas[key]! }), {}));
    const whole: Record<string, unknown> = { type: name };
    for (const key of required) whole[key] = sample(schemas[key] as SampleSchema);
    expect(check(whole)).toEqual(Object.fromEntries(required.map((key) => [key, whole[key]])));
    for (const key of required) {
      const { [key]: _, ...without } = whole;
      expect(check(without)).toEqual(["invalid_params", key, `"${key}" is missing`]);
    }
    for (const key of Object.keys(schemas)) {
      for (const wrong of [{}, [[]], (schemas[key] as SampleSchema).type === "integer" ? 1.5 : 5]) {
        const [code, field, message] = check({ ...whole, [key]: wrong }) as string[];
        expect([code, field?.replace(/\[.*/, "")]).toEqual(["invalid_params", key]);
        expect(message).toMatch(/^"[\w.[\]]+" (is missing|must )/);
      }
    }
  });

  test("whatever is in a record: parameters that fit, or a refusal that names a field", () => {
    const keys = [...new Set(names.flatMap((name) => Object.keys(rpcCommands[name].params)))];
    const record = fc
      .tuple(fc.constantFrom(...names), fc.dictionary(fc.constantFrom(...keys, "__proto__", "id"), fc.jsonValue()))
      .map(([type, fields]) => ({ ...fields, type }));
    fc.assert(
      fc.property(record, (fields) => {
        const result = check(fields);
        const schema = Type.Object(rpcCommands[fields.type].params);
        if (Array.isArray(result))
          expect([result[0], keys.includes(String(result[1]).split(/[.[]/)[0]!)]).toEqual(["invalid_params", true]);
        else expect(Value.Check(schema, result)).toBe(true);
      }),
      { seed: 2, numRuns: 1000 },
    );
  });
});

describe("prepareCheck", () => {
  test("a command without parameters needs no preparation", () => {
    expect(isCheckable("get_state")).toBe(true);
  });
});

type SampleSchema = { type?: string; anyOf?: { const: unknown }[] };

function sample({ type, anyOf }: SampleSchema): unknown {
  if (anyOf) return anyOf[0]?.const;
  return type === "boolean" ? true : "text";
}
