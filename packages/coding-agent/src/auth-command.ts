// `pi auth`: stores and removes keys, and says whether a provider or a model can be used. No key is ever printed.

import { parseArgs } from "node:util";
import { providerFacts } from "@earendil-works/pi-ai";
import { readAll } from "./command-line-prompts.js";
import { readSecretLine, type TypedInput } from "./lib/secret-line.js";
import type { ModeIo } from "./modes/io.js";
import { optionErrorText } from "./option-error.js";
import type { Resources } from "./resources/load.js";
import { chooseModel } from "./resources/model-choice.js";
import { resolveModel } from "./resources/model-patterns.js";
import { say } from "./say.js";

/** What the command works with; `stdin` is where a key is typed or piped in. */
export interface AuthCommandContext {
  io: Pick<ModeIo, "writeText" | "drained" | "log" | "isTerminal" | "failed">;
  stdin: TypedInput & NodeJS.ReadableStream;
  resources: Resources;
}

/** Whether requests can be made: the answer of `pi auth check`, and its exit code. */
const exitCodes = { ready: 0, not_ready: 1, invalid: 2 } as const;
type Status = keyof typeof exitCodes;

const usage = [
  "Usage:",
  "  pi auth login <provider> [--api-key]   Store a key: typed unseen, or piped in",
  "  pi auth logout <provider>              Remove what is stored",
  "  pi auth check [--provider <provider>] [--model <model>] [--json]",
  "                                         Print ready, not_ready or invalid; exit code 0, 1 or 2",
  "",
].join("\n");

/** The words behind `auth`; resolves with the exit code. */
export async function authCommand(words: readonly string[], context: AuthCommandContext): Promise<number> {
  const { io } = context;
  const [action, ...rest] = words;
  try {
    if (action === "check") return await check(context, rest);
    const { values, positionals } = parseArgs({
      args: [...rest],
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h" }, "api-key": { type: "boolean" } },
    });
    if (values.help || action === "--help" || action === "-h") return await say(io, usage);
    const [provider, ...more] = positionals;
    if ((action !== "login" && action !== "logout") || provider === undefined || more.length > 0) {
      io.log(`pi: ${usage.trimEnd()}`);
      return 1;
    }
    return await (action === "login" ? login(context, provider) : logout(context, provider));
  } catch (error) {
    io.log(`pi: ${optionErrorText(error)}`);
    return 1;
  }
}

async function login(context: AuthCommandContext, provider: string): Promise<number> {
  const { io, resources } = context;
  const { auth, models } = resources;
  if (!models.hasProvider(provider)) throw new Error(unknownProvider(context, provider));
  if (providerFacts(provider)?.keyless) throw new Error(`Provider "${provider}" needs no key`);
  const key = await readKey(context, models.providerName(provider));
  if (key === undefined) throw new Error("Nothing was stored");
  await auth.setKey(provider, key);
  return say(io, `Stored a key for "${provider}" in ${auth.path}\n`);
}

async function readKey({ io, stdin }: AuthCommandContext, name: string): Promise<string | undefined> {
  let typed: string | undefined;
  if (io.isTerminal.stdin) {
    const line = readSecretLine(stdin); // from here on nothing is echoed
    io.log(`API key for ${name} (it is not shown):`);
    typed = await line;
  } else typed = await readAll(stdin);
  const key = typed?.trim();
  if (key === "") throw new Error("Cannot store a key: nothing was given on stdin");
  if (key && /[\x00-\x20\x7f]/.test(key))
    throw new Error("Cannot store a key: it has blanks or control characters in it");
  return key;
}

async function logout(context: AuthCommandContext, provider: string): Promise<number> {
  const { io, resources } = context;
  const { auth, models } = resources;
  const isRemoved = await auth.remove(provider);
  if (!isRemoved && !models.hasProvider(provider)) throw new Error(unknownProvider(context, provider));
  const done = isRemoved ? `Removed the key of "${provider}" from ${auth.path}` : `Nothing is stored for "${provider}"`;
  const hint =
    models.hasProvider(provider) && models.hasCredentialsFor(provider) ? "; it still has credentials elsewhere" : "";
  return say(io, `${done}${hint}\n`);
}

interface Report {
  status: Status;
  provider?: string;
  model?: string;
  reason?: string;
}

async function check(context: AuthCommandContext, words: readonly string[]): Promise<number> {
  const { io } = context;
  let isJson = words.includes("--json");
  let report: Report;
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        help: { type: "boolean", short: "h" },
        provider: { type: "string" },
        model: { type: "string" },
        json: { type: "boolean" },
      },
    });
    if (values.help) return say(io, usage);
    isJson = values.json === true;
    report = await reportOn(context, values.provider, values.model);
  } catch (error) {
    report = { status: "invalid", reason: optionErrorText(error) };
  }
  await say(io, `${isJson ? JSON.stringify(report) : report.status}\n`);
  if (!isJson && report.reason) io.log(`pi: ${report.reason}`);
  return exitCodes[report.status];
}

async function reportOn(context: AuthCommandContext, provider?: string, pattern?: string): Promise<Report> {
  const { models, settings } = context.resources;
  if (provider !== undefined && !models.hasProvider(provider))
    return { status: "invalid", provider, reason: unknownProvider(context, provider) };
  let model = provider === undefined ? undefined : models.defaultModelOf(provider);
  if (pattern !== undefined) {
    await models.discover();
    const found = resolveModel(models, pattern, provider);
    if ("error" in found) return { status: "invalid", ...(provider && { provider }), reason: found.error };
    model = found.model;
  } else if (provider === undefined) model = (await chooseModel(models, {}, settings)).model ?? undefined;
  const owner = provider ?? model?.provider;
  if (owner === undefined) return { status: "not_ready", reason: "No provider has credentials" };
  const about = { provider: owner, ...(pattern !== undefined && model && { model: model.id }) };
  if (!model) return { status: models.hasCredentialsFor(owner) ? "ready" : "not_ready", ...about };
  try {
    await models.resolveRequest(model);
    return { status: "ready", ...about };
  } catch (error) {
    return { status: "not_ready", ...about, reason: optionErrorText(error) };
  }
}

function unknownProvider({ resources: { models } }: AuthCommandContext, provider: string): string {
  return `Unknown provider "${provider}"; known are ${models.providerIds.join(", ")}`;
}
