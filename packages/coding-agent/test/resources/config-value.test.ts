import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ConfigValueError,
  literalValue,
  missingVariables,
  resolveConfigValue,
} from "../../src/resources/config-value.js";

const braced = ["$", "{NAME}"].join("");
const env = { NAME: "value", EMPTY: "", PATH: process.env.PATH };

describe("resolveConfigValue", () => {
  test("a command that takes too long is given up", async () => {
    const late = new ConfigValueError("its command took longer than 0.3 s");
    await expect(resolveConfigValue("!sleep 30", env, 300)).rejects.toEqual(late);
    await expect(resolveConfigValue("!setsid sleep 30 & sleep 30", env, 300)).rejects.toEqual(late);
  });

  test.each(["!sleep 30 & echo key", "!setsid sleep 30 & echo key"])(
    "%j is answered when the shell has ended",
    async (value) => {
      expect(await resolveConfigValue(value, env)).toBe("key");
    },
  );

  test.each([
    ["literal", "literal"],
    ["$NAME", "value"],
    [braced, "value"],
    ["Bearer $NAME!", "Bearer value!"],
    [`a${braced}b$NAME`, "avaluebvalue"],
    ["$$NAME", "$NAME"],
    ["$!command", "!command"],
    ["costs 5$", "costs 5$"],
    ["", ""],
  ])("%j stands for %j", async (value, expected) => {
    expect(await resolveConfigValue(value, env)).toBe(expected);
  });

  test.each(["$MISSING", `x${braced.replace("NAME", "MISSING")}`, "$EMPTY"])(
    "%j does not resolve without its variable",
    async (value) => {
      expect(missingVariables(value, env)).toHaveLength(1);
      await expect(resolveConfigValue(value, env)).rejects.toThrow(/^the variable (MISSING|EMPTY) is not set$/);
    },
  );

  test("a command's output without its line end", async () => {
    expect(await resolveConfigValue('!echo "key of $NAME"; echo noise >&2', env)).toBe("key of value");
  });

  test.each([
    ["!echo secret; exit 3", "its command failed with exit code 3"],
    ["!kill -9 $$", "its command was ended"],
    ["!true", "its command gave no output"],
    ["!head -c 200000 /dev/zero", "its command gave more than 65536 bytes"],
    // It ends well by itself as soon as its last byte is in the pipe: too late for a signal, and cut all the same.
    ["!head -c 65537 /dev/zero", "its command gave more than 65536 bytes"],
  ])("%j is an error that holds no output", async (value, message) => {
    await expect(resolveConfigValue(value, env)).rejects.toEqual(new ConfigValueError(message));
  });
});

test("literalValue is undone by resolveConfigValue, whatever the text", async () => {
  const texts = fc.string({ unit: fc.constantFrom("$", "!", "{", "}", "A", "_", "é", "\\") });
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      expect(missingVariables(literalValue(text), {})).toEqual([]);
      expect(await resolveConfigValue(literalValue(text), { A: "wrong" })).toBe(text);
    }),
    { seed: 7, numRuns: 300 },
  );
});
