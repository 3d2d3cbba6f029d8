// What is installed of a package, as far as its folder tells.

import { kindOf } from "../folder.js";
import { readPackageFile } from "../manifest.js";
import type { PackageSource } from "./source.js";

/** Whether a package's folder is missing, or holds another version than the one the settings name. */
export function needsInstall(source: PackageSource, root: string): boolean {
  if (source.type === "local") return false;
  if (kindOf(root) !== "folder") return true;
  if (source.type === "git" || source.pinned === undefined) return false;
  return readPackageFile(root)?.version !== source.pinned.replace(/^v/, "");
}

/** Why a package that is not there is not fetched either. */
export const notInstalledText = "it is not installed, and nothing is fetched offline";
