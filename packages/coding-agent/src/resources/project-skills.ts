// The folders of skills that are shared between agents: `.agents/skills` of the user, of the project and of the folders above.

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

const place = [".agents", "skills"] as const;

export function userSkillsFolder(home: string = homedir()): string {
  return join(home, ...place);
}

/**
 * From the working directory upwards to the root of its repository, or to the file system's when there is none; those that
 * are there. The user's own is not among them.
 */
export function projectSkillsFolders(cwd: string, home: string = homedir()): string[] {
  const folders: string[] = [];
  const own = userSkillsFolder(home);
  for (let at = resolve(cwd); ; at = dirname(at)) {
    const folder = join(at, ...place);
    if (folder !== own && existsSync(folder)) folders.push(folder);
    if (dirname(at) === at || existsSync(join(at, ".git"))) return folders;
  }
}
