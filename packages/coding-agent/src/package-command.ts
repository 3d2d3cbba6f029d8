// `pi install`, `remove`, `update` and `list`: packages of the user and of a project, on disk and in the settings.

import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { expandHome } from "./lib/agent-directory.js";
import { makeFolders } from "./lib/make-folders.js";
import type { ModeIo } from "./modes/io.js";
import { optionErrorText } from "./option-error.js";
import { kindOf } from "./resources/folder.js";
import { type JsonObject, readJsonFile } from "./resources/json-file.js";
import { agentDirectory } from "./resources/locations.js";
import { sourceOf } from "./resources/package-discovery.js";
import { needsInstall } from "./resources/packages/installed.js";
import { type PackageScope, scopeDirectory } from "./resources/packages/locations.js";
import { PackageStore } from "./resources/packages/package-store.js";
import { hideCredentials, identityOf, parseSource } from "./resources/packages/source.js";
import type { PackageEntry } from "./resources/settings.js";
import { SettingsManager } from "./resources/settings-manager.js";
import { decideTrust } from "./resources/trust.js";
import { updateJsonFile } from "./resources/update-json-file.js";
import { say } from "./say.js";

export interface PackageCommandContext {
  io: Pick<ModeIo, "writeText" | "drained" | "log" | "failed">;
  cwd: string;
  env: Record<string, string | undefined>;
  /** Absent: as the environment says. */
  agentDir?: string;
}

const usage = [
  "Usage:",
  "  pi install <source> [-l]       Install a package and add it to the settings",
  "  pi remove <source> [-l]        Remove a package and its entry in the settings; also: uninstall",
  "  pi update [source]             Update one package, or all that are not pinned; also: --extension <source>",
  "  pi list                        List the packages of the user and of the project",
  "",
  "Sources: npm:name@version, git:host/path@ref, a URL of a git repository, or a path",
  "",
  "Options:",
  "  --local, -l          Work on the project's packages (.pi/settings.json)",
  "  --approve, -a        Trust this project for this command",
  "  --no-approve, -na    Do not use this project's settings",
  "  --extensions, --all  With update: all packages; what it does without a source, for scripts that say so",
  "",
].join("\n");

type Scope = Exclude<PackageScope, "temporary">;

/** The words from `install`, `remove`, … on; resolves with the exit code. */
export async function packageCommand(words: readonly string[], context: PackageCommandContext): Promise<number> {
  const { io } = context;
  try {
    const [action, ...rest] = words.map((word) => (word === "-na" ? "--no-approve" : word));
    const { values, positionals } = parseArgs({
      args: rest,
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        local: { type: "boolean", short: "l" },
        approve: { type: "boolean", short: "a" },
        "no-approve": { type: "boolean" },
        extensions: { type: "boolean" },
        all: { type: "boolean" },
        extension: { type: "string" },
      },
    });
    if (values.help) return await say(io, usage);
    const approve = values["no-approve"] ? false : values.approve;
    const work = new PackageWork(context, approve);
    const [source = values.extension, ...more] = positionals;
    if (more.length > 0) throw new Error(`Unexpected argument "${hideCredentials(more[0] as string)}"`);
    const scope: Scope = values.local ? "project" : "user";
    if (action === "list") return await say(io, work.list());
    if (action === "update") return await say(io, await work.update(source));
    if (source === undefined || (action !== "install" && action !== "remove" && action !== "uninstall")) {
      io.log(`pi: ${usage.trimEnd()}`);
      return 1;
    }
    return await say(io, await (action === "install" ? work.install(source, scope) : work.remove(source, scope)));
  } catch (error) {
    io.log(`pi: ${hideCredentials(optionErrorText(error))}`);
    return 1;
  }
}

class PackageWork {
  readonly #io: PackageCommandContext["io"];
  readonly #place: { cwd: string; agentDir: string };
  readonly #store: PackageStore;
  readonly #settings: SettingsManager;
  readonly #isTrusted: boolean;

  constructor({ io, cwd, env, agentDir = agentDirectory(env) }: PackageCommandContext, approve?: boolean) {
    this.#io = io;
    this.#place = { cwd, agentDir };
    const { defaultProjectTrust } = SettingsManager.load({ agentDir, cwd, trusted: false }).settings;
    const choice = { cwd, agentDir, defaultProjectTrust, ...(approve !== undefined && { approve }) };
    const decision = decideTrust(choice);
    this.#isTrusted = decision.isTrusted;
    this.#settings = SettingsManager.load({ agentDir, cwd, trusted: this.#isTrusted });
    this.#store = new PackageStore({ cwd, agentDir, env, npmCommand: this.#settings.settings.npmCommand });
    for (const { message, path } of decision.diagnostics) io.log(`pi: ${path ? `${path}: ` : ""}${message}`);
  }

  /** Installed first, then written down: a failure leaves the settings as they are. */
  async install(given: string, scope: Scope): Promise<string> {
    const source = this.#asStored(given, scope);
    const shown = hideCredentials(source);
    this.#refuseBroken(scope);
    this.#io.log(`Installing ${shown} ...`);
    await this.#store.install(source, scope).catch((error: Error) => {
      throw new Error(`Cannot install "${hideCredentials(given)}": ${error.message}`);
    });
    const identity = this.#identity(source, scope);
    await this.#change(scope, (entries) => {
      const at = entries.findIndex((entry) => this.#identity(sourceOf(entry), scope) === identity);
      const before = entries[at];
      // What was chosen of the package stays chosen.
      const entry = typeof before === "object" ? { ...before, source } : source;
      return at < 0 ? [...entries, entry] : entries.map((other, index) => (index === at ? entry : other));
    });
    return `Installed ${shown} in ${this.#settingsPath(scope)}\n`;
  }

  async remove(given: string, scope: Scope): Promise<string> {
    const identity = this.#identity(this.#asStored(given, scope), scope);
    this.#refuseBroken(scope);
    const found = this.#entriesOnDisk(scope).find((entry) => this.#identity(sourceOf(entry), scope) === identity);
    if (!found) throw new Error(`There is no package "${hideCredentials(given)}" in ${this.#settingsPath(scope)}`);
    const shown = hideCredentials(sourceOf(found));
    await this.#store.remove(sourceOf(found), scope).catch((error: Error) => {
      throw new Error(`Cannot remove "${shown}": ${error.message}`);
    });
    await this.#change(scope, (entries) =>
      entries.filter((entry) => this.#identity(sourceOf(entry), scope) !== identity),
    );
    return `Removed ${shown} from ${this.#settingsPath(scope)}\n`;
  }

  /** One line a package. Throws after the last when one could not be updated. */
  async update(given: string | undefined): Promise<string> {
    const lines: string[] = [];
    const failed: string[] = [];
    let count = 0;
    for (const scope of ["user", "project"] as const) {
      const wanted = given === undefined ? undefined : this.#identity(this.#asStored(given, scope), scope);
      for (const entry of this.#entries(scope)) {
        const source = sourceOf(entry);
        if (wanted !== undefined && this.#identity(source, scope) !== wanted) continue;
        count += 1;
        const shown = hideCredentials(source);
        try {
          const result = await this.#store.update(source, scope);
          lines.push(`${shown}: ${updateTexts[result]}`);
        } catch (error) {
          failed.push(`Cannot update "${shown}": ${(error as Error).message}`);
        }
      }
    }
    if (given !== undefined && count === 0)
      throw new Error(`There is no package "${hideCredentials(given)}" in the settings`);
    for (const line of lines) this.#io.writeText(`${line}\n`);
    if (failed.length > 0) throw new Error(failed.join("\npi: "));
    return count === 0 ? "No packages are installed\n" : "";
  }

  list(): string {
    const lines: string[] = [];
    for (const scope of ["user", "project"] as const) {
      const entries = this.#entries(scope);
      if (entries.length > 0) lines.push(scope === "user" ? "User packages:" : "Project packages:");
      for (const entry of entries) lines.push(...this.#describe(entry, scope));
    }
    if (!this.#isTrusted && readJsonFile(this.#settingsPath("project"), "settings").text !== "")
      this.#io.log("pi: The project is not trusted: its packages are not listed; see --approve");
    return lines.length > 0 ? `${lines.join("\n")}\n` : "No packages are installed\n";
  }

  #describe(entry: PackageEntry, scope: Scope): string[] {
    const source = sourceOf(entry);
    const narrowed = typeof entry === "object" ? " (narrowed)" : "";
    try {
      const root = this.#store.rootOf(source, scope);
      const state = needsInstall(parseSource(source), root) ? "not installed" : root;
      return [`  ${hideCredentials(source)}${narrowed}`, `    ${state}`];
    } catch (error) {
      return [`  ${hideCredentials(source)}${narrowed}`, `    ${(error as Error).message}`];
    }
  }

  /** A local path relative to the settings file it will stand in. */
  #asStored(given: string, scope: Scope): string {
    const source = parseSource(given);
    if (source.type !== "local") return given.trim();
    const path = expandHome(source.path);
    if (isAbsolute(path)) return path;
    const stored = relative(scopeDirectory(scope, this.#place), resolve(this.#place.cwd, path));
    return stored.startsWith(".") ? stored : `./${stored}`;
  }

  /** A source that is written wrongly is only itself. */
  #identity(source: string, scope: Scope): string {
    try {
      return identityOf(parseSource(source), scopeDirectory(scope, this.#place));
    } catch {
      return source;
    }
  }

  #entries(scope: Scope): readonly PackageEntry[] {
    const { packages } = scope === "user" ? this.#settings.userSettings : this.#settings.projectSettings;
    return (packages as readonly PackageEntry[] | undefined) ?? [];
  }

  /** Also of a project that is not trusted: what is removed is not used. */
  #entriesOnDisk(scope: Scope): readonly PackageEntry[] {
    return listOf(readJsonFile(this.#settingsPath(scope), "settings").value?.packages);
  }

  #settingsPath(scope: Scope): string {
    return join(scopeDirectory(scope, this.#place), "settings.json");
  }

  /** Before anything is installed that could not be written down. */
  #refuseBroken(scope: Scope): void {
    const file = readJsonFile(this.#settingsPath(scope), "settings");
    const [fault] = file.diagnostics;
    if (fault) throw new Error(`Cannot change "${file.path}": ${fault.message}`);
    listOf(file.value?.packages);
  }

  async #change(scope: Scope, change: (entries: readonly PackageEntry[]) => PackageEntry[]): Promise<void> {
    const path = this.#settingsPath(scope);
    // A project's file is for everybody who works on it.
    const isNewProject = scope === "project" && kindOf(path) === undefined;
    if (isNewProject) makeFolders(dirname(path));
    const apply = (file: JsonObject) => {
      file.packages = change(listOf(file.packages));
    };
    await updateJsonFile(path, "settings", apply, isNewProject ? { mode: 0o644 } : {});
  }
}

const updateTexts = {
  updated: "updated",
  unchanged: "up to date",
  pinned: "pinned, left as it is",
  local: "local, nothing to update",
} as const;

/** Throws when the settings hold something else than a list. */
function listOf(value: unknown): PackageEntry[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error('Cannot change the settings: "packages" must be a list');
  return value as PackageEntry[];
}
