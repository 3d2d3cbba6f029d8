// Every model that comes with the program, as the built program offers it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Model, providerFacts, providerIds } from "@earendil-works/pi-ai";
import { describe, expect, test } from "vitest";
import { runCli, startCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";

const directory = fileURLToPath(new URL("../../../ai/src/models", import.meta.url));
const catalogue: Model[] = readdirSync(directory)
  .filter((name) => name.endsWith(".json") && name !== "demo.json")
  .flatMap((name) => JSON.parse(readFileSync(join(directory, name), "utf8")).models);
const paid = providerIds.filter((id) => id !== "demo");

/** A made-up value for every variable that some provider needs. */
const keys = Object.fromEntries(
  paid.flatMap((id) => {
    const { env, urlEnv = [] } = providerFacts(id)!;
    return [...env, ...urlEnv].map((name) => [name, `value-of-${name}`]);
  }),
);

async function cyclesOf(args: readonly string[], count: number) {
  const cli = startCli({ place: workspace(), args: ["--mode", "rpc", "--no-session", ...args], env: keys });
  const seen: unknown[] = [];
  for (let at = 0; at < count; at += 1) {
    const { data } = await cli.ask({ type: "cycle_model" });
    const { model, thinkingLevel, isScoped } = data as unknown as {
      model: Model;
      thinkingLevel: string;
      isScoped: boolean;
    };
    seen.push(`${model.provider}/${model.id} ${thinkingLevel} ${isScoped}`);
  }
  return seen;
}

test("with keys for all providers, get_available_models gives every field of every model", async () => {
  const cli = startCli({ place: workspace(), args: ["--mode", "rpc", "--no-session"], env: keys });
  const { data } = await cli.ask({ type: "get_available_models" });
  const { models } = data as unknown as { models: Model[] };
  expect(models).toHaveLength(1523);
  const filled = (url: string) => url.replace(/\{(CLOUDFLARE_[A-Z_]+)\}/g, (_, name: string) => `value-of-${name}`);
  const expected = new Map(catalogue.map((model) => [`${model.provider}/${model.id}`, model]));
  for (const model of models) {
    const known = expected.get(`${model.provider}/${model.id}`);
    expect(model).toEqual({ ...known, baseUrl: filled(known?.baseUrl ?? "") });
  }
  expect([...new Set(models.map(({ provider }) => provider))]).toEqual(paid);
  expect(cli.stderr).toBe("");
});

describe("--model, --models and --list-models", () => {
  test.each([
    ["openrouter/anthropic/claude-opus-5.5", "openrouter", "anthropic/claude-opus-5.5"],
    ["amazon-bedrock/global.anthropic.claude-opus-5-5", "amazon-bedrock", "global.anthropic.claude-opus-5-5"],
    ["cloudflare-workers-ai/@cf/zai-org/glm-5.3", "cloudflare-workers-ai", "@cf/zai-org/glm-5.3"],
  ])("--model %s", async (pattern, provider, id) => {
    const args = ["--mode", "rpc", "--no-session", "--model", pattern];
    const cli = startCli({ place: workspace(), args, env: keys });
    const { data } = await cli.ask({ type: "get_state" });
    expect((data as unknown as { model: Model }).model).toMatchObject({ provider, id });
  });

  test("a scope of globs, with levels, is what cycle_model goes through", async () => {
    const seen = await cyclesOf(["--models", "xiaomi-token-plan-c?/*:high,groq/openai/gpt-oss-120b"], 4);
    const scope = [
      "xiaomi-token-plan-cn/mimo-v2.6-flash",
      "xiaomi-token-plan-cn/mimo-v2.6-pro",
      "groq/openai/gpt-oss-120b",
    ];
    // It starts at the first.
    expect(seen).toEqual([1, 2, 0, 1].map((at) => `${scope[at]} high true`));
  });

  test("without a scope all available models follow each other", async () => {
    const [first, second] = (await cyclesOf(["--model", `anthropic/${anthropic(0)}`], 2)) as string[];
    expect([first, second].map((line) => line?.split(" ")[0])).toEqual([
      `anthropic/${anthropic(1)}`,
      `anthropic/${anthropic(2)}`,
    ]);
    expect(first).toMatch(/ false$/);
  });

  test("--list-models finds letters that stand apart, best first", async () => {
    const cli = await runCli({ place: workspace(), args: ["--list-models", "opus 5.5"], env: keys, isText: true });
    const [head, ...rows] = cli.stdout.toString().trimEnd().split("\n");
    expect(head).toMatch(/^provider +model +context +output +thinking +images$/);
    expect(rows.length).toBeGreaterThan(5);
    expect(rows[0]).toMatch(/opus-5[-.]5/);
    for (const row of rows) expect(row).toMatch(/opus/i);
    const loose = await runCli({ place: workspace(), args: ["--list-models", "cldopus"], env: keys, isText: true });
    expect(loose.stdout.toString()).toMatch(/claude-opus/);
    const none = await runCli({ place: workspace(), args: ["--list-models", "zzzz"], env: keys, isText: true });
    expect(none.stdout.toString()).toBe('No model matches "zzzz".\n');
  });
});

function anthropic(at: number): string {
  return catalogue.filter(({ provider }) => provider === "anthropic")[at]?.id as string;
}
