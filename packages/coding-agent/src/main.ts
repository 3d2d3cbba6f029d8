// Arguments → session → mode.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ThinkingLevel, thinkingLevels } from "@earendil-works/pi-ai";
import { helpText, type ParsedArgs, parseCommandLine } from "./args.js";
import { openChosenSession, type Terminal } from "./chosen-session.js";
import { createRuntime, type SessionOptions } from "./core/create-session.js";
import { noModelText } from "./core/models.js";
import type { SessionRuntime } from "./core/session-runtime.js";
import { StoredSessions } from "./core/stored-sessions.js";
import { unknownTools } from "./core/tool-selection.js";
import { expandHome } from "./lib/agent-directory.js";
import { readRegularFile } from "./lib/read-regular-file.js";
import { processGroups } from "./lib/shell.js";
import { type ModeName, modes } from "./modes/index.js";
import { type ModeIo, processIo } from "./modes/io.js";
import { capabilities } from "./modes/rpc/capabilities.js";
import type { Diagnostic } from "./modes/rpc/rpc-types.js";
import type { AuthStorage } from "./resources/auth.js";
import { loadResources, type Resources } from "./resources/load.js";
import { chooseModel, type ModelArguments } from "./resources/model-choice.js";
import { isProjectTrusted } from "./resources/trust.js";
import { sessionName } from "./sessions/session-name.js";
import { toolNames } from "./tools/index.js";

/** Runs the command line; resolves with the exit code when everything has been written. */
export async function main(argv: readonly string[]): Promise<number> {
  const io = processIo();
  if (argv[0] === "auth") {
    const { authCommand } = await import("./auth-command.js");
    return authCommand(argv.slice(1), {
      io,
      stdin: process.stdin,
      resources: loadResources({ cwd: workingDirectory(), env: process.env, isTrusted: () => false }),
    });
  }
  const args = parseCommandLine(argv);
  if (args.values.help) return say(io, helpText());
  if (args.values.version) return say(io, `${PI_VERSION}\n`);
  if (args.errors.length > 0) return fail(io, args.errors);
  if (process.platform === "win32")
    return fail(io, ["Windows is not supported: process groups and a POSIX shell are missing"]);
  try {
    return await start(args, io);
  } catch (error) {
    return fail(io, [error instanceof Error ? error.message : String(error)]);
  }
}

async function start(args: ParsedArgs, io: ModeIo): Promise<number> {
  const mode = modeOf(args);
  const startDirectory = workingDirectory();
  if (typeof args.values.export === "string") {
    const { exportFile } = await import("./export-file.js");
    return say(io, `${await exportFile(args.values.export, args, startDirectory)}\n`);
  }
  const first = load(args, startDirectory);
  if (args.values["list-models"]) {
    const { listModels } = await import("./list-models.js");
    await first.models.discover();
    for (const diagnostic of first.models.diagnostics) io.log(`pi: ${describe(diagnostic)}`);
    return say(io, listModels(first.models, args.values["list-models"]));
  }
  const store = await openChosenSession(args, startDirectory, first.sessionDir, terminalOf(io));
  // A session runs in its own directory, with what that directory brings along.
  const atHand = new Map<string, Resources>([[startDirectory, first]]);
  const resourcesOf = (cwd: string): Resources => {
    // Keys are the user's, and those of the command line hold for the process.
    const known = atHand.get(cwd) ?? load(args, cwd, first.auth);
    atHand.set(cwd, known);
    return known;
  };
  const resources = resourcesOf(store.getCwd());
  const { models, settings } = resources;
  const resourcesFor = (cwd: string) => {
    const found = resourcesOf(cwd);
    return { models: found.models, settings: found.settings, env: found.shellEnvironment() };
  };
  const resumed = store.getEntries().length > 0 ? store.buildSessionContext() : undefined;
  const choice = await chooseModel(models, modelArguments(args), settings, resumed).catch((error) => {
    // What is wrong in a file may be why the model is not there.
    for (const diagnostic of resources.diagnostics()) io.log(`pi: ${describe(diagnostic)}`);
    throw error;
  });
  const apiKey = text(args, "api-key");
  if (apiKey !== undefined) {
    if (!choice.model) throw new Error("--api-key needs a model: choose one with --model");
    resources.auth.setRuntimeKey(choice.model.provider, apiKey);
  }
  const asked = text(args, "name");
  const name = asked === undefined ? undefined : sessionName(asked);
  if (name === "") throw new Error("Session name cannot be empty");
  const runtime = createRuntime(
    { ...sessionOptions(args, io, resources), resourcesFor },
    {
      store,
      model: choice.model,
      thinkingLevel: choice.thinkingLevel,
      scopedModels: choice.scoped,
    },
  );
  const notices = choice.warnings.map(warning);
  if (name !== undefined) notices.push(...nameSession(runtime, name));
  const diagnostics = () => [
    ...resourcesOf(runtime.session.store.getCwd()).diagnostics(),
    ...storeDiagnostics(runtime),
    ...unknownDefaultTools(resourcesOf(runtime.session.store.getCwd())),
    ...notices,
  ];
  for (const diagnostic of diagnostics()) io.log(`pi: ${describe(diagnostic)}`);
  const prompts = mode === "rpc" ? [] : await promptsOf(args, io, startDirectory);
  if (mode !== "rpc" && prompts.length > 0 && !choice.model) throw new Error(noModelText);
  const stored = new StoredSessions({
    agentDir: resources.agentDir,
    sessionDir: resources.sessionDir,
    openFile: () => runtime.session.store.getSessionFile(),
  });
  process.on("exit", () => processGroups.endAll()); // whichever way it ends, nothing of ours stays behind
  return modes[mode](runtime, io, {
    prompts,
    rpc: { stored, diagnostics, commands: () => [], capabilities: () => capabilities(PI_VERSION) },
  });
}

/** Opening never fails because of another writer; the name is then not set, and said so. */
function nameSession({ session: { store } }: SessionRuntime, name: string): Diagnostic[] {
  try {
    store.appendSessionInfo(name);
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ severity: "warning", source: "session", message: `Cannot name the session: ${reason}` }];
  }
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Error("Cannot start: the working directory is gone");
  }
}

function modelArguments(args: ParsedArgs): ModelArguments {
  const [provider, model, models, thinking] = (["provider", "model", "models", "thinking"] as const).map((name) =>
    text(args, name),
  );
  if (thinking !== undefined && !isThinkingLevel(thinking))
    throw new Error(`Unknown thinking level "${thinking}": use ${thinkingLevels.join(", ")}`);
  return {
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(models !== undefined && { models: listOf(models) }),
    ...(thinking !== undefined && { thinking }),
  };
}

function isThinkingLevel(level: string): level is ThinkingLevel {
  return (thinkingLevels as readonly string[]).includes(level);
}

function listOf(given: string): string[] {
  return given.split(",").map((entry) => entry.trim());
}

/** Questions go to stderr: stdout may be piped. */
function terminalOf(io: ModeIo): Terminal | undefined {
  if (!io.isTerminal.stdin) return undefined;
  return {
    say: (line) => io.log(line),
    ask: async (question) => {
      const { createInterface } = await import("node:readline/promises");
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
      }
    },
  };
}

function modeOf({ values }: ParsedArgs): ModeName {
  if (values.mode === "rpc" || values.mode === "json") return values.mode;
  return "text";
}

function load(args: ParsedArgs, cwd: string, auth?: AuthStorage): Resources & { sessionDir: string | undefined } {
  const { approve, "no-approve": noApprove } = args.values;
  return loadResources({
    cwd,
    ...(auth && { auth }),
    env: process.env,
    sessionDir: text(args, "session-dir"),
    isTrusted: ({ defaultProjectTrust }) =>
      isProjectTrusted({ ...((approve || noApprove) && { approve: !noApprove }), defaultProjectTrust }),
  });
}

function sessionOptions(args: ParsedArgs, io: ModeIo, resources: Resources): SessionOptions {
  const { values, lists } = args;
  const list = (given: string | undefined) => (given === undefined ? undefined : listOf(given));
  return {
    agentDir: resources.agentDir,
    models: resources.models,
    settings: resources.settings,
    toolSelection: {
      tools: list(text(args, "tools")),
      exclude: list(text(args, "exclude-tools")),
      none: values["no-tools"] === true,
      noBuiltin: values["no-builtin-tools"] === true,
    },
    systemPrompt: textOrFile("system-prompt", text(args, "system-prompt")),
    appendSystemPrompt: lists["append-system-prompt"]?.map(
      (entry) => textOrFile("append-system-prompt", entry) as string,
    ),
    noContextFiles: values["no-context-files"] === true,
    env: resources.shellEnvironment(),
    fault: (error) => io.log(`pi: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
  };
}

async function promptsOf(args: ParsedArgs, io: ModeIo, cwd: string) {
  if (args.messages.length === 0 && args.files.length === 0 && io.isTerminal.stdin) return [];
  const { commandLinePrompts, readAll } = await import("./command-line-prompts.js");
  const piped = io.isTerminal.stdin ? "" : await readAll(process.stdin);
  return commandLinePrompts(args, cwd, piped);
}

function text({ values }: ParsedArgs, name: keyof ParsedArgs["values"]): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

/** The contents of the file when there is one by that name, else the text itself. */
function textOrFile(option: string, given: string | undefined): string | undefined {
  if (!given || given.includes("\n")) return given;
  const path = resolve(expandHome(given));
  if (!existsSync(path)) return given;
  try {
    return readRegularFile(path).toString("utf8");
  } catch (error) {
    throw new Error(`Cannot read "${path}" for --${option}: ${(error as Error).message}`);
  }
}

function storeDiagnostics({ session: { store } }: SessionRuntime): Diagnostic[] {
  const path = store.getSessionFile();
  return store.diagnostics.map(({ message, line }) => ({
    severity: "warning",
    source: "session",
    message,
    ...(path && { path }),
    ...(line !== undefined && { line }),
  }));
}

/** Names in the settings that are no tool; the command line's own are refused at once. */
function unknownDefaultTools({ settings }: Resources): Diagnostic[] {
  return unknownTools(settings.defaultTools ?? [], toolNames).map((name) => ({
    severity: "warning",
    source: "settings",
    message: `"defaultTools" names no tool: "${name}"`,
  }));
}

const warning = (message: string): Diagnostic => ({ severity: "warning", source: "models", message });

function describe({ message, path, line, column }: Diagnostic): string {
  const place = [path, line, column].filter((part) => part !== undefined).join(":");
  return place ? `${place}: ${message}` : message;
}

async function say(io: ModeIo, output: string): Promise<number> {
  io.writeText(output);
  await io.drained();
  return io.failed ? 1 : 0;
}

function fail(io: ModeIo, reasons: readonly string[]): number {
  for (const reason of reasons) io.log(`pi: ${reason}`);
  return 1;
}
