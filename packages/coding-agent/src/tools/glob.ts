// Filters files by a glob without overriding ignore files, which ripgrep's own --glob does.

import { refuseNul } from "../lib/nul-character.js";

/** Arguments for ripgrep that leave out most other files, and the exact test on a path relative to the searched folder. */
export interface FileFilter {
  args: string[];
  accepts: (path: string) => boolean;
}

/**
 * The filter of a glob: one without a slash is about names in any folder, one with a slash about whole paths. A file type made
 * on the spot lets ripgrep skip what has another name. Throws, naming the glob, when it is no valid one.
 */
export async function fileFilter(glob: string): Promise<FileFilter> {
  refuseNul(glob, "Cannot use glob", "a glob");
  const pattern = glob.replace(/^\.?\//, "");
  const lastName = pattern.slice(pattern.lastIndexOf("/") + 1);
  const args = isPlainName(lastName) ? [`--type-add=wanted:${lastName}`, "--type=wanted"] : [];
  if (!pattern.includes("/") && args.length > 0) return { args, accepts: () => true };
  // Saves every other start a module.
  const { default: picomatch } = await import("picomatch");
  const basename = !pattern.includes("/");
  try {
    // Without the last two a glob that is cut off matches nothing and says nothing.
    const matches = picomatch(pattern, { dot: true, basename, nonegate: true, strictBrackets: true, debug: true });
    return { args, accepts: (path) => matches(path) };
  } catch (error) {
    throw new Error(`the glob "${glob}" is not valid: ${globFault(error as Error)}`);
  }
}

/** The fault alone: without picomatch's advice, and without the regular expression it made. */
function globFault({ message }: Error): string {
  const fault = message.replace(/ - use .*$/s, "").replace(/^Invalid regular expression: .*: /s, "");
  return fault.charAt(0).toLowerCase() + fault.slice(1);
}

// What both sides read alike: names with * and ?. A name of stars alone says nothing.
function isPlainName(name: string): boolean {
  return /^[\w.*?+@ -]+$/.test(name) && !/^\*+$/.test(name) && !/[+@?*]\(/.test(name);
}
