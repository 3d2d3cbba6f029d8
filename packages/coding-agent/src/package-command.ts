// `pi install`, `remove`, `update` and `list`: packages of the user and of a project, on disk and in the settings.

import { parseArgs } from "node:util";
import type { ModeIo } from "./modes/io.js";
import { optionErrorText } from "./option-error.js";
import { readJsonFile } from "./resources/json-file.js";
import { agentDirectory } from "./resources/locations.js";
import { needsInstall } from "./resources/packages/installed.js";
import { PackageSettings, type SettingsScope as Scope, sourceOf } from "./resources/packages/package-settings.js";
import { PackageStore } from "./resources/packages/package-store.js";
import { hideCredentials, parseSource } from "./resources/packages/source.js";
import type { PackageEntry } from "./resources/settings.js";
import { SettingsManager } from "./resources/settings-manager.js";
import { decideTrust } from "./resources/trust.js";
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
  readonly #store: PackageStore;
  readonly #packages: PackageSettings;
  readonly #settings: SettingsManager;
  readonly #isTrusted: boolean;

  constructor({ io, cwd, env, agentDir = agentDirectory(env) }: PackageCommandContext, approve?: boolean) {
    this.#io = io;
    this.#packages = new PackageSettings({ cwd, agentDir });
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
    const source = this.#packages.asStored(given, scope);
    const shown = hideCredentials(source);
    // Before anything is installed that could not be written down.
    this.#packages.entries(scope);
    this.#io.log(`Installing ${shown} ...`);
    await this.#store.install(source, scope).catch((error: Error) => {
      throw new Error(`Cannot install "${hideCredentials(given)}": ${error.message}`);
    });
    await this.#packages.add(source, scope);
    return `Installed ${shown} in ${this.#packages.pathOf(scope)}\n`;
  }

  async remove(given: string, scope: Scope): Promise<string> {
    const found = this.#packages.find(this.#packages.asStored(given, scope), scope);
    if (!found) throw new Error(`There is no package "${hideCredentials(given)}" in ${this.#packages.pathOf(scope)}`);
    const source = sourceOf(found);
    const shown = hideCredentials(source);
    await this.#store.remove(source, scope).catch((error: Error) => {
      throw new Error(`Cannot remove "${shown}": ${error.message}`);
    });
    await this.#packages.remove(source, scope);
    return `Removed ${shown} from ${this.#packages.pathOf(scope)}\n`;
  }

  /** One line a package. Throws after the last when one could not be updated. */
  async update(given: string | undefined): Promise<string> {
    const lines: string[] = [];
    const failed: string[] = [];
    let count = 0;
    for (const scope of ["user", "project"] as const) {
      const wanted = given === undefined ? undefined : this.#packages.asStored(given, scope);
      for (const entry of this.#entries(scope)) {
        const source = sourceOf(entry);
        if (wanted !== undefined && !this.#packages.isSame(source, wanted, scope)) continue;
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
    if (!this.#isTrusted && readJsonFile(this.#packages.pathOf("project"), "settings").text !== "")
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

  #entries(scope: Scope): readonly PackageEntry[] {
    const { packages } = scope === "user" ? this.#settings.userSettings : this.#settings.projectSettings;
    return (packages as readonly PackageEntry[] | undefined) ?? [];
  }
}

const updateTexts = {
  updated: "updated",
  unchanged: "up to date",
  pinned: "pinned, left as it is",
  local: "local, nothing to update",
} as const;
