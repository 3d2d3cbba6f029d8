// Where packages lie: in the agent directory for the user, below `.pi` for a project, and in a cache for one start.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { projectDirectory, resolveHome } from "../locations.js";
import type { PackageSource } from "./source.js";

export type PackageScope = "user" | "project" | "temporary";

export interface PackagePlace {
  cwd: string;
  agentDir: string;
}

/** The folder that holds a scope's packages, and that local paths in its settings are relative to. */
export function scopeDirectory(scope: PackageScope, { cwd, agentDir }: PackagePlace): string {
  if (scope === "project") return projectDirectory(cwd);
  return scope === "user" ? agentDir : join(agentDir, "tmp", "extensions");
}

/** The folder npm installs a scope's packages into. */
export function npmRoot(source: PackageSource, scope: PackageScope, place: PackagePlace): string {
  const base = join(scopeDirectory(scope, place), "npm");
  if (scope !== "temporary" || source.type !== "npm") return base;
  // Two versions of one package may be tried one after another: each has a folder of its own.
  return join(base, createHash("sha256").update(source.spec).digest("hex").slice(0, 16));
}

/** The folder (for local sources: also the file) of a package, whether it is there or not. */
export function packageRoot(source: PackageSource, scope: PackageScope, place: PackagePlace): string {
  if (source.type === "local")
    return resolveHome(scope === "temporary" ? place.cwd : scopeDirectory(scope, place), source.path);
  if (source.type === "npm") return join(npmRoot(source, scope, place), "node_modules", ...source.name.split("/"));
  const base = join(scopeDirectory(scope, place), "git");
  const folder = join(base, source.host, ...source.path.split("/"));
  if (scope !== "temporary" || source.ref === undefined) return folder;
  return `${folder}@${createHash("sha256").update(source.ref).digest("hex").slice(0, 16)}`;
}
