// The command line's session: arguments → store, directory, model and runtime.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ThinkingLevel, thinkingLevels } from "@earendil-works/pi-ai";
import { type ExtensionFlag, type ParsedArgs, parseCommandLine } from "./args.js";
import { openChosenSession, type Terminal } from "./chosen-session.js";
import {
  createRuntime,
  type DirectoryResources,
  extensionCommands,
  type SessionOptions,
} from "./core/create-session.js";
import type { SessionRuntime } from "./core/session-runtime.js";
import { StoredSessions } from "./core/stored-sessions.js";
import { unknownTools } from "./core/tool-selection.js";
import type { ExtensionRunner } from "./extensions/runner.js";
import { expandHome } from "./lib/agent-directory.js";
import { textOf } from "./lib/error-text.js";
import { readRegularFile } from "./lib/read-regular-file.js";
import type { LoadedDirectory } from "./load-directory.js";
import type { ModeInput } from "./modes/index.js";
import { capabilities } from "./modes/rpc/capabilities.js";
import type { Diagnostic, SlashCommand } from "./modes/rpc/rpc-types.js";
import type { Resources } from "./resources/load.js";
import { chooseModel, type ModelArguments } from "./resources/model-choice.js";
import type { SessionDirectories } from "./session-directories.js";
import { sessionName } from "./sessions/session-name.js";
import { toolNames } from "./tools/index.js";

export interface OpenOptions {
  /** Where the program was started. */
  cwd: string;
  directories: SessionDirectories;
  terminal?: Terminal | undefined;
  /** Told what may be why opening fails, before it does. */
  tell: (diagnostic: Diagnostic) => void;
  /** Told of bugs that end nothing. */
  fault: (error: unknown) => void;
  /** A session that replaces this one has extensions. */
  replacedWithExtensions?: () => void;
  /** Of the program. */
  version: string;
}

export interface OpenedSession {
  /** With the values of extensions' options. */
  args: ParsedArgs;
  runtime: SessionRuntime;
  hasModel: boolean;
  /** For the mode, which has its prompts from elsewhere. */
  input: Omit<ModeInput, "prompts">;
}

/**
 * Opens the session that the command line asks for, in its own directory, with what that directory brings along. Resolves
 * with what is wrong with the options, now that those of extensions are known, instead; throws what else is wrong.
 */
export async function openSession(argv: readonly string[], options: OpenOptions): Promise<OpenedSession | string[]> {
  const { loader, theme } = options.directories;
  const atStart = loader.resourcesOf(options.cwd);
  const first = parseCommandLine(argv);
  const store = await openChosenSession(first, options.cwd, atStart.sessionDir, options.terminal);
  let directory = await loader.open(store.getCwd());
  const { runner } = directory.extensions;
  // Options of extensions are known now, and which words are their values.
  const brought = flagsOf(runner);
  const args = brought.size > 0 ? parseCommandLine(argv, brought) : first;
  const faults = [...args.errors, ...args.unknown.map((name) => `Unknown option: ${name}`)];
  if (faults.length > 0) return faults;
  loader.setFlags(args.extensionFlags);
  const { resources } = directory;
  const resumed = store.getEntries().length > 0 ? store.buildSessionContext() : undefined;
  const choice = await chooseModel(resources.models, modelArguments(args), resources.settings, resumed).catch(
    (error) => {
      // What is wrong in a file may be why the model is not there.
      for (const diagnostic of directory.diagnostics()) options.tell(diagnostic);
      throw error;
    },
  );
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
      ...sessionOptions(args, resources),
      fault: options.fault,
      ...directory.forSession(),
      resourcesFor: async (cwd, isReload) => {
        if (isReload) loader.forget();
        directory = await loader.open(cwd, { isLenient: true });
        if (directory.extensions.runner) options.replacedWithExtensions?.();
        return directory.forSession();
      },
    },
    { store, model: choice.model, thinkingLevel: choice.thinkingLevel, scopedModels: choice.scoped },
  );
  const notices = choice.warnings.map(warning);
  if (name !== undefined) notices.push(...nameSession(runtime, name));
  const rpc: ModeInput["rpc"] = {
    stored: new StoredSessions({
      agentDir: resources.agentDir,
      sessionDir: resources.sessionDir,
      openFile: () => runtime.session.store.getSessionFile(),
    }),
    diagnostics: () => [
      ...directory.diagnostics(),
      ...storeDiagnostics(runtime),
      ...unknownDefaultTools(directory),
      ...notices,
    ],
    commands: () => commandsOf(runtime, directory),
    capabilities: () => capabilities(options.version),
  };
  return { args, runtime, hasModel: choice.model !== null, input: { theme, rpc } };
}

/** The options extensions bring. */
function flagsOf(runner: ExtensionRunner | undefined): Map<string, ExtensionFlag> {
  return new Map(runner?.extensions.flatMap(({ flags }) => [...flags]));
}

/** Commands of extensions, templates and skills. */
function commandsOf({ session: { runner } }: SessionRuntime, { extensions }: LoadedDirectory): SlashCommand[] {
  return [...(runner ? extensionCommands(runner) : []), ...extensions.commands()];
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

function sessionOptions(args: ParsedArgs, { agentDir }: Resources): Omit<SessionOptions, keyof DirectoryResources> {
  const { values, lists } = args;
  const list = (given: string | undefined) => (given === undefined ? undefined : listOf(given));
  return {
    agentDir,
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
  };
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
