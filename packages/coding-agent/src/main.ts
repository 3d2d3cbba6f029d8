// Arguments → session → mode.

import { helpText, type ParsedArgs, parseCommandLine } from "./args.js";
import type { Terminal } from "./chosen-session.js";
import { containFaults, endsInOrder, guardEnd } from "./contain-faults.js";
import { noModelText } from "./core/models.js";
import { stackOf, textOf } from "./lib/error-text.js";
import { processGroups } from "./lib/shell.js";
import { modes } from "./modes/index.js";
import { type ModeIo, processIo } from "./modes/io.js";
import type { Diagnostic } from "./modes/rpc/rpc-types.js";
import { type OpenedSession, openSession } from "./open-session.js";
import { packageCommands } from "./package-command-names.js";
import { loadResources } from "./resources/load.js";
import { say } from "./say.js";
import { modeOf, type SessionDirectories, sessionDirectories } from "./session-directories.js";

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
  } finally {
    endsInOrder();
  }
}

async function start(argv: readonly string[], first: ParsedArgs, io: ModeIo): Promise<number> {
  const mode = modeOf(first);
  const cwd = workingDirectory();
  if (typeof first.values.export === "string") {
    const { exportFile } = await import("./export-file.js");
    return say(io, `${await exportFile(first.values.export, first, cwd)}\n`);
  }
  /** The session once there is one: what extensions do at start comes before. */
  const current: { opened?: OpenedSession } = {};
  const directories: SessionDirectories = sessionDirectories(first, {
    env: process.env,
    ui: () => current.opened?.runtime.bindings.ui,
    beforeExtensions: () => guardEnd(() => directories.loader.loading, io.log, io.exit),
  });
  if (first.values["list-models"] && first.unknown.length === 0) {
    const { listModels } = await import("./list-models.js");
    const { models } = (await directories.loader.open(cwd)).resources;
    await models.discover();
    for (const diagnostic of models.diagnostics) io.log(`pi: ${describe(diagnostic)}`);
    return say(io, listModels(models, first.values["list-models"]));
  }
  const tell = (diagnostic: Diagnostic) => io.log(`pi: ${describe(diagnostic)}`);
  const contain = () => containFaults(() => current.opened?.runtime.session.runner, io.log);
  const opened = await openSession(argv, {
    cwd,
    directories,
    terminal: terminalOf(io),
    tell,
    fault: (error) => io.log(`pi: ${stackOf(error)}`),
    replacedWithExtensions: contain,
    version: PI_VERSION,
  });
  if (Array.isArray(opened)) return fail(io, opened);
  const { args, runtime, input } = opened;
  for (const diagnostic of input.rpc.diagnostics()) tell(diagnostic);
  const prompts = mode === "rpc" ? [] : await promptsOf(args, io, cwd);
  if (mode !== "rpc" && prompts.length > 0 && !opened.hasModel && !runtime.session.runner) throw new Error(noModelText);
  process.on("exit", () => processGroups.endAll()); // whichever way it ends, nothing of ours stays behind
  current.opened = opened;
  if (runtime.session.runner) contain();
  return modes[mode](runtime, io, { ...input, prompts });
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Error("Cannot start: the working directory is gone");
  }
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

async function promptsOf(args: ParsedArgs, io: ModeIo, cwd: string) {
  if (args.messages.length === 0 && args.files.length === 0 && io.isTerminal.stdin) return [];
  const { commandLinePrompts, readAll } = await import("./command-line-prompts.js");
  const piped = io.isTerminal.stdin ? "" : await readAll(process.stdin);
  return commandLinePrompts(args, cwd, piped);
}

function describe({ message, path, line, column }: Diagnostic): string {
  const place = [path, line, column].filter((part) => part !== undefined).join(":");
  return place ? `${place}: ${message}` : message;
}

function fail(io: ModeIo, reasons: readonly string[]): number {
  for (const reason of reasons) io.log(`pi: ${reason}`);
  return 1;
}
