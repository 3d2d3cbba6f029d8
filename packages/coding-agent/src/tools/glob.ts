// Filters files by a glob without overriding ignore files, which ripgrep's own --glob does.

/** Arguments for ripgrep that leave out most other files, and the exact test on a path relative to the searched folder. */
export interface FileFilter {
  args: string[];
  accepts: (path: string) => boolean;
}

/**
 * The filter of a glob: one without a slash is about names in any folder, one with a slash about whole paths. A file type made
 * on the spot lets ripgrep skip what has another name.
 */
export async function fileFilter(glob: string): Promise<FileFilter> {
  const pattern = glob.replace(/^\.?\//, "");
  const lastName = pattern.slice(pattern.lastIndexOf("/") + 1);
  const args = isPlainName(lastName) ? [`--type-add=wanted:${lastName}`, "--type=wanted"] : [];
  if (!pattern.includes("/") && args.length > 0) return { args, accepts: () => true };
  // Saves every other start a module.
  const { default: picomatch } = await import("picomatch");
  const matches = picomatch(pattern, { dot: true, basename: !pattern.includes("/"), nonegate: true });
  return { args, accepts: (path) => matches(path) };
}

// What both sides read alike: names with * and ?. A name of stars alone says nothing.
function isPlainName(name: string): boolean {
  return /^[\w.*?+@ -]+$/.test(name) && !/^\*+$/.test(name) && !/[+@?*]\(/.test(name);
}
