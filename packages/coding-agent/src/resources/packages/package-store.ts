// Installs, updates and removes packages on disk; the settings are somebody else's.

import { readdirSync } from "node:fs";
import { rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import lockfile from "proper-lockfile";
import { makeFolders } from "../../lib/make-folders.js";
import { kindOf } from "../folder.js";
import { readPackageFile } from "../manifest.js";
import { hideFromGit, reconcileGit } from "./git-package.js";
import { needsInstall, notInstalledText } from "./installed.js";
import { npmRoot, type PackageScope, packageRoot, scopeDirectory } from "./locations.js";
import { runProgram } from "./run-program.js";
import { type GitSource, type NpmSource, type PackageSource, parseSource } from "./source.js";

export interface PackageStoreOptions {
  cwd: string;
  agentDir: string;
  /** Used in place of `npm`. */
  npmCommand?: readonly string[] | undefined;
  env?: Record<string, string | undefined> | undefined;
}

export type UpdateResult = "updated" | "unchanged" | "pinned" | "local";

/** Scripts of packages never run, and what the host provides or only developers need is not installed. */
const npmOptions = [
  "--ignore-scripts",
  "--omit=peer",
  "--omit=dev",
  "--legacy-peer-deps",
  "--no-audit",
  "--no-fund",
  "--no-progress",
  "--no-update-notifier",
  "--loglevel=error",
];

export class PackageStore {
  readonly #options: PackageStoreOptions;

  constructor(options: PackageStoreOptions) {
    this.#options = options;
  }

  /** The folder (or file) a source is used from. Throws when it is written wrongly. */
  rootOf(source: string, scope: PackageScope): string {
    return packageRoot(parseSource(source), scope, this.#options);
  }

  /** The package's folder, installed when it is not there. Throws when it is not and cannot be. */
  async ensure(source: string, scope: PackageScope, { isOffline }: { isOffline: boolean }): Promise<string> {
    const parsed = parseSource(source);
    const root = packageRoot(parsed, scope, this.#options);
    if (!needsInstall(parsed, root)) return root;
    if (isOffline) throw new Error(notInstalledText);
    await this.install(source, scope);
    return root;
  }

  /** Throws, leaving what was there, when it cannot be done. A local source only has to be there. */
  async install(source: string, scope: PackageScope): Promise<void> {
    const parsed = parseSource(source);
    if (parsed.type === "local") {
      const root = packageRoot(parsed, scope, this.#options);
      if (kindOf(root) === undefined) throw new Error(`nothing is at "${root}"`);
      return;
    }
    await this.#alone(parsed, scope, () => this.#fetch(parsed, scope));
  }

  async update(source: string, scope: PackageScope): Promise<UpdateResult> {
    const parsed = parseSource(source);
    if (parsed.type === "local") return "local";
    const root = packageRoot(parsed, scope, this.#options);
    if (parsed.type === "npm" && parsed.pinned !== undefined && !needsInstall(parsed, root)) return "pinned";
    const before = readPackageFile(root)?.version;
    const isChanged = await this.#alone(parsed, scope, () => this.#fetch(parsed, scope));
    if (parsed.type === "npm") return readPackageFile(root)?.version === before ? "unchanged" : "updated";
    return isChanged ? "updated" : parsed.ref === undefined ? "unchanged" : "pinned";
  }

  /** Nothing is removed of a local source. */
  async remove(source: string, scope: PackageScope): Promise<void> {
    const parsed = parseSource(source);
    const root = packageRoot(parsed, scope, this.#options);
    if (parsed.type === "local" || kindOf(root) === undefined) return;
    await this.#alone(parsed, scope, async () => {
      if (parsed.type === "npm") await this.#npm(["uninstall", parsed.name], npmRoot(parsed, scope, this.#options));
      await rm(root, { recursive: true, force: true });
      await removeEmptyFolders(dirname(root), scopeDirectory(scope, this.#options));
    });
  }

  async #fetch(source: NpmSource | GitSource, scope: PackageScope): Promise<boolean> {
    if (source.type === "npm") {
      await this.#npm(["install", source.spec], npmRoot(source, scope, this.#options));
      return true;
    }
    return reconcileGit(source, packageRoot(source, scope, this.#options), {
      ...(this.#options.env && { env: this.#options.env }),
      npm: (args, cwd) => this.#run(args, cwd),
    });
  }

  async #npm(args: readonly string[], prefix: string): Promise<void> {
    makeFolders(prefix);
    const file = join(prefix, "package.json");
    if (kindOf(file) === undefined)
      await writeFile(file, `${JSON.stringify({ name: "pi-packages", private: true })}\n`);
    await this.#run([...args, "--prefix", prefix], prefix);
  }

  async #run(args: readonly string[], cwd: string): Promise<void> {
    const [command = "npm", ...first] = this.#options.npmCommand ?? ["npm"];
    const { env } = this.#options;
    await runProgram(command, [...first, ...args, ...npmOptions], { cwd, ...(env && { env }) });
  }

  /** One process at a time works in the folder of a scope's npm or git packages. */
  async #alone<T>(source: PackageSource, scope: PackageScope, work: () => Promise<T>): Promise<T> {
    const folder = join(scopeDirectory(scope, this.#options), source.type);
    await hideFromGit(folder);
    const release = await lockfile.lock(folder, {
      realpath: false,
      retries: { retries: 600, factor: 1, minTimeout: 500, maxTimeout: 500 },
    });
    try {
      return await work();
    } finally {
      await release();
    }
  }
}

/** The folders of a host and a user, when nothing is left in them. */
async function removeEmptyFolders(from: string, end: string): Promise<void> {
  for (let at = from; at.startsWith(`${end}/`) && kindOf(at) === "folder"; at = dirname(at)) {
    if (readdirSync(at).length > 0) return;
    await rmdir(at);
  }
}
