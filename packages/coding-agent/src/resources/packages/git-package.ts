// A package from git: clones it, and moves the clone to the reference that was asked for.

import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolders } from "../../lib/make-folders.js";
import { kindOf } from "../folder.js";
import { readPackageFile } from "../manifest.js";
import { runProgram } from "./run-program.js";
import type { GitSource } from "./source.js";

export interface GitContext {
  env?: Record<string, string | undefined>;
  /** npm and the arguments that install what package.json of a folder names. */
  npm: (args: readonly string[], cwd: string) => Promise<void>;
}

/** Makes `folder` the package at its reference; throws, leaving what was there, when that fails. True when it changed. */
export async function reconcileGit(source: GitSource, folder: string, context: GitContext): Promise<boolean> {
  const git = (args: readonly string[], cwd: string) =>
    runProgram("git", ["-c", "advice.detachedHead=false", ...args], { cwd, ...(context.env && { env: context.env }) });
  if (kindOf(join(folder, ".git")) === undefined) {
    makeFolders(dirname(folder));
    const fresh = `${folder}.${randomBytes(6).toString("hex")}.tmp`;
    try {
      await git(["clone", "--quiet", "--", source.url, fresh], dirname(folder));
      if (source.ref !== undefined) await checkOut(source.ref, fresh, git);
      await installDependencies(fresh, context);
      await rm(folder, { recursive: true, force: true }); // a folder without a repository is no package
      await rename(fresh, folder);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      throw error;
    }
    return true;
  }
  const before = await headOf(folder, git);
  if (source.ref !== undefined && (await isAt(source.ref, before, folder, git))) return false;
  await git(["remote", "set-url", "origin", source.url], folder);
  await git(["fetch", "--quiet", "--prune", "--tags", "--force", "origin"], folder);
  await checkOut(source.ref ?? (await defaultBranch(folder, git)), folder, git);
  const isChanged = (await headOf(folder, git)) !== before;
  if (isChanged) {
    try {
      await installDependencies(folder, context);
    } catch (error) {
      await git(["checkout", "--quiet", "--force", "--detach", before], folder);
      throw error;
    }
  }
  return isChanged;
}

type Git = (args: readonly string[], cwd: string) => Promise<string>;

async function headOf(folder: string, git: Git): Promise<string> {
  return (await git(["rev-parse", "HEAD"], folder)).trim();
}

/** Whether the clone stands at a tag or commit already; a branch may have moved on. */
async function isAt(ref: string, head: string, folder: string, git: Git): Promise<boolean> {
  if ((await resolveRef(`refs/remotes/origin/${ref}`, folder, git)) !== undefined) return false;
  return (await resolveRef(ref, folder, git)) === head;
}

async function checkOut(ref: string, folder: string, git: Git): Promise<void> {
  const commit = (await resolveRef(`refs/remotes/origin/${ref}`, folder, git)) ?? (await resolveRef(ref, folder, git));
  if (commit === undefined) throw new Error(`there is no branch, tag or commit "${ref}"`);
  await git(["checkout", "--quiet", "--force", "--detach", commit], folder);
}

async function resolveRef(ref: string, folder: string, git: Git): Promise<string | undefined> {
  return git(["rev-parse", "--quiet", "--verify", "--end-of-options", `${ref}^{commit}`], folder).then(
    (commit) => commit.trim(),
    () => undefined,
  );
}

async function defaultBranch(folder: string, git: Git): Promise<string> {
  await git(["remote", "set-head", "origin", "--auto"], folder);
  const name = await git(["symbolic-ref", "refs/remotes/origin/HEAD"], folder);
  return name.trim().replace("refs/remotes/origin/", "");
}

async function installDependencies(folder: string, { npm }: GitContext): Promise<void> {
  if (Object.keys(readPackageFile(folder)?.dependencies ?? {}).length === 0) return;
  await npm(["install", "--no-save", "--no-package-lock"], folder);
}

/** Keeps what is installed out of a project's own repository. */
export async function hideFromGit(folder: string): Promise<void> {
  makeFolders(folder);
  const path = join(folder, ".gitignore");
  if (kindOf(path) === undefined) await writeFile(path, "*\n");
}
