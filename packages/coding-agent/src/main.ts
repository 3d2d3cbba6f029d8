// Arguments → session → mode.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ThinkingLevel, thinkingLevels } from "@earendil-works/pi-ai";
import { type ExtensionFlag, helpText, type ParsedArgs, parseCommandLine } from "./args.js";
import { openChosenSession, type Terminal } from "./chosen-session.js";
import { containFaults } from "./contain-faults.js";
import { createRuntime, extensionCommands, type SessionOptions } from "./core/create-session.js";
import { noModelText } from "./core/models.js";
import type { SessionRuntime } from "./core/session-runtime.js";
import { StoredSessions } from "./core/stored-sessions.js";
import { unknownTools } from "./core/tool-selection.js";
import type { ExtensionRunner } from "./extensions/runner.js";
import { expandHome } from "./lib/agent-directory.js";
import { isFlagSet } from "./lib/environment-flag.js";
import { stackOf, textOf } from "./lib/error-text.js";
import { readRegularFile } from "./lib/read-regular-file.js";
import { processGroups } from "./lib/shell.js";
import {
  DirectoryLoader,
  type DirectoryOptions,
  type LoadedDirectory,
  type SharedDirectory,
} from "./load-directory.js";
import { type ModeName, modes } from "./modes/index.js";
import { type ModeIo, processIo } from "./modes/io.js";
import { capabilities } from "./modes/rpc/capabilities.js";
import type { Diagnostic, SlashCommand } from "./modes/rpc/rpc-types.js";
import { packageCommands } from "./package-command-names.js";
import { loadResources, type Resources } from "./resources/load.js";
import { chooseModel, type ModelArguments } from "./resources/model-choice.js";
import { say } from "./say.js";
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
  if ((packageCommands as readonly string[]).includes(argv[0] ?? "")) {
    const { packageCommand } = await import("./package-command.js");
    return packageCommand(argv, { io, cwd: workingDirectory(), env: process.env });
  }
  const args = parseCommandLine(argv);
  if (args.values.help) return say(io, helpText());
  if (args.values.version) return say(io, `${PI_VERSION}\n`);
  if (args.errors.length > 0) return fail(io, args.errors);
  if (args.values.mode === "rpc") io.holdInput();
  if (process.platform === "win32")
    return fail(io, ["Windows is not supported: process groups and a POSIX shell are missing"]);
  try {
    return await start(argv, args, io);
  } catch (error) {
    return fail(io, [textOf(error)]);
  }
}

async function start(argv: readonly string[], first: ParsedArgs, io: ModeIo): Promise<number> {
  const mode = modeOf(first);
  const startDirectory = workingDirectory();
  if (typeof first.values.export === "string") {
    const { exportFile } = await import("./export-file.js");
    return say(io, `${await exportFile(first.values.export, first, startDirectory)}\n`);
  }
  /** The runtime once there is one: what extensions do at start comes before. */
  const current: { runtime?: SessionRuntime } = {};
  const loader: DirectoryLoader = new DirectoryLoader({
    ...directoryOptions(first, () => loader.shared),
    outside: () => ({
      mode: mode === "text" ? "print" : mode,
      ui: mode === "rpc" ? current.runtime?.bindings.ui : undefined,
    }),
  });
  const atStart = loader.resourcesOf(startDirectory);
  if (first.values["list-models"] && first.unknown.length === 0) {
    const { listModels } = await import("./list-models.js");
    const directory = await loader.open(startDirectory);
    const { models } = directory.resources;
    await models.discover();
    for (const diagnostic of models.diagnostics) io.log(`pi: ${describe(diagnostic)}`);
    return say(io, listModels(models, first.values["list-models"]));
  }
  const store = await openChosenSession(first, startDirectory, atStart.sessionDir, terminalOf(io));
  // A session runs in its own directory, with what that directory brings along.
  let directory = await loader.open(store.getCwd());
  const { runner } = directory.extensions;
  // Options of extensions are known now, and which words are their values.
  const args = parseCommandLine(argv, flagsOf(runner));
  const unknown = args.unknown.map((name) => `Unknown option: ${name}`);
  if (args.errors.length + unknown.length > 0) return fail(io, [...args.errors, ...unknown]);
  loader.setFlags(args.extensionFlags);
  const { resources } = directory;
  const { models, settings } = resources;
  const resumed = store.getEntries().length > 0 ? store.buildSessionContext() : undefined;
  const choice = await chooseModel(models, modelArguments(args), settings, resumed).catch((error) => {
    // What is wrong in a file may be why the model is not there.
    for (const diagnostic of directory.diagnostics()) io.log(`pi: ${describe(diagnostic)}`);
    throw error;
  });
  const apiKey = text(args, "api-key");
  if (apiKey !== undefined) {
    if (!choice.model) throw new Error("--api-key needs a model: choose one with --model");
    resources.auth.setRuntimeKey(choice.model.provider, apiKey);
  }
  const given = text(args, "name");
  const name = given === undefined ? undefined : sessionName(given);
  if (name === "") throw new Error("Session name cannot be empty");
  const runtime = createRuntime(
    {
      ...sessionOptions(args, io, resources),
      ...directory.forSession(),
      resourcesFor: async (cwd, isReload) => {
        if (isReload) loader.forget();
        directory = await loader.open(cwd, { isLenient: true });
        if (directory.extensions.runner) containFaults(() => current.runtime?.session.runner);
        return directory.forSession();
      },
    },
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
    ...directory.diagnostics(),
    ...storeDiagnostics(runtime),
    ...unknownDefaultTools(directory),
    ...notices,
  ];
  for (const diagnostic of diagnostics()) io.log(`pi: ${describe(diagnostic)}`);
  const prompts = mode === "rpc" ? [] : await promptsOf(args, io, startDirectory);
  if (mode !== "rpc" && prompts.length > 0 && !choice.model && !runner) throw new Error(noModelText);
  const stored = new StoredSessions({
    agentDir: resources.agentDir,
    sessionDir: resources.sessionDir,
    openFile: () => runtime.session.store.getSessionFile(),
  });
  process.on("exit", () => processGroups.endAll()); // whichever way it ends, nothing of ours stays behind
  current.runtime = runtime;
  if (runner) containFaults(() => runtime.session.runner);
  return modes[mode](runtime, io, {
    prompts,
    theme: () => theme?.(),
    rpc: {
      stored,
      diagnostics,
      commands: () => commandsOf(runtime, directory),
      capabilities: () => capabilities(PI_VERSION),
    },
  });
}

/** Commands of extensions, templates and skills. */
function commandsOf({ session: { runner } }: SessionRuntime, { extensions }: LoadedDirectory): SlashCommand[] {
  return [...(runner ? extensionCommands(runner) : []), ...extensions.commands()];
}

/** The options extensions bring. */
function flagsOf(runner: ExtensionRunner | undefined): Map<string, ExtensionFlag> {
  return new Map(runner?.extensions.flatMap(({ flags }) => [...flags]));
}

/** The colours of `ctx.ui.theme`; there once the modules extensions import are. */
let theme: (() => object) | undefined;

async function extensionModules(shared: () => SharedDirectory | undefined): Promise<Record<string, object>> {
  // Loaded with the first extension: saves a start without any 80 ms and 10 MB.
  const { hostModules, defaultTheme } = await import("./host-modules.js");
  theme = defaultTheme;
  return hostModules(shared);
}

function directoryOptions(
  { values, lists }: ParsedArgs,
  shared: () => SharedDirectory | undefined,
): Omit<DirectoryOptions, "outside"> {
  const sessionDir = values["session-dir"];
  const isOn = (name: keyof ParsedArgs["values"]) => values[name] === true;
  return {
    env: process.env,
    sessionDir: typeof sessionDir === "string" ? sessionDir : undefined,
    approve: isOn("approve") || isOn("no-approve") ? !isOn("no-approve") : undefined,
    extensions: lists.extension ?? [],
    skills: lists.skill ?? [],
    prompts: lists["prompt-template"] ?? [],
    noExtensions: isOn("no-extensions"),
    noSkills: isOn("no-skills"),
    noPrompts: isOn("no-prompt-templates"),
    isOffline: isOn("offline") || isFlagSet(process.env.PI_OFFLINE),
    modules: () => extensionModules(shared),
  };
}

/** Opening never fails because of another writer; the name is then not set, and said so. */
function nameSession({ session: { store } }: SessionRuntime, name: string): Diagnostic[] {
  try {
    store.appendSessionInfo(name);
    return [];
  } catch (error) {
    const reason = textOf(error);
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
    fault: (error) => io.log(`pi: ${stackOf(error)}`),
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
function unknownDefaultTools({ resources, extensions }: LoadedDirectory): Diagnostic[] {
  const brought = extensions.runner?.tools.map(({ definition }) => definition.name) ?? [];
  return unknownTools(resources.settings.defaultTools ?? [], [...toolNames, ...brought]).map((name) => ({
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

function fail(io: ModeIo, reasons: readonly string[]): number {
  for (const reason of reasons) io.log(`pi: ${reason}`);
  return 1;
}
