// What a package is called: `npm:name@version`, `git:host/path@ref`, a URL, or a path.

import { resolve } from "node:path";
import { expandHome } from "../../lib/agent-directory.js";

export interface NpmSource {
  type: "npm";
  name: string;
  /** What npm is asked for: the name with its version, range or tag. */
  spec: string;
  /** A full version number: never updated. */
  pinned?: string;
}

export interface GitSource {
  type: "git";
  /** What is cloned. */
  url: string;
  host: string;
  /** On the host, without `.git`. */
  path: string;
  /** A branch, tag or commit. */
  ref?: string;
}

export interface LocalSource {
  type: "local";
  path: string;
}

export type PackageSource = NpmSource | GitSource | LocalSource;

const npmName = /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*$/i;
const fullVersion = /^v?\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/;

/** Throws when it looks like a name of npm or git but cannot be one; everything else is a path. */
export function parseSource(source: string): PackageSource {
  const text = source.trim();
  if (text.startsWith("npm:")) return parseNpm(text, text.slice(4).trim());
  if (text.startsWith("git:") && !text.startsWith("git://")) return parseGit(text, text.slice(4).trim());
  if (/^(?:git\+)?(?:https?|ssh|git):\/\//i.test(text)) return parseGit(text, text);
  if (text === "" || text.includes("\0")) throw new Error("Cannot use a package without a name");
  return { type: "local", path: text.replace(/^file:(?:\/\/)?/, "") };
}

/** Whether a source has to be fetched before it can be used. */
export function isRemote(source: string): boolean {
  return /^(?:npm:|git:|(?:git\+)?(?:https?|ssh):\/\/)/i.test(source.trim());
}

/** The same for all ways to write one package; `base` is what local paths are relative to. */
export function identityOf(source: PackageSource, base: string): string {
  if (source.type === "npm") return `npm:${source.name}`;
  if (source.type === "git") return `git:${source.host}/${source.path}`;
  return `local:${resolve(base, expandHome(source.path))}`;
}

/** A text without the credentials URLs in it may carry. */
export function hideCredentials(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, "$1");
}

function parseNpm(source: string, spec: string): NpmSource {
  const at = spec.indexOf("@", 1);
  const name = at < 0 ? spec : spec.slice(0, at);
  const version = at < 0 ? undefined : spec.slice(at + 1);
  if (!npmName.test(name) || version === "" || /[\s\0]/.test(version ?? "")) throw wrong(source, "npm:name@version");
  return { type: "npm", name, spec, ...(version !== undefined && fullVersion.test(version) && { pinned: version }) };
}

function parseGit(source: string, text: string): GitSource {
  const { prefix, host, rest } = takeApart(text) ?? {};
  if (prefix === undefined || host === undefined || rest === undefined) throw wrong(source, "git:host/path@ref");
  const at = rest.indexOf("@");
  const place = at < 0 ? rest : rest.slice(0, at);
  const ref = at < 0 ? undefined : rest.slice(at + 1);
  const path = place.replace(/\/+$/, "").replace(/\.git$/, "");
  const steps = path.split("/");
  // The path becomes a folder of ours, and host and reference arguments of git.
  const isSafe =
    steps.every((step) => step !== "" && !step.startsWith(".") && !step.startsWith("-") && !/[\s\0\\:]/.test(step)) &&
    /^[a-z0-9][a-z0-9.-]*$/i.test(host.replace(/:\d+$/, "")) &&
    (ref === undefined || /^[^-\s\0][^\s\0]*$/.test(ref));
  if (!isSafe) throw wrong(source, "git:host/path@ref");
  return {
    type: "git",
    url: `${prefix}${place.replace(/\/+$/, "")}`,
    host: host.toLowerCase().replace(/:\d+$/, ""),
    path,
    ...(ref !== undefined && { ref }),
  };
}

/** Everything before the path on the host, the host, and the path with its reference. */
function takeApart(text: string): { prefix: string; host: string; rest: string } | undefined {
  const url = /^(?:git\+)?((?:https?|ssh|git):\/\/(?:[^\s/@]*@)?([^\s/@]+)\/)(.+)$/i.exec(text);
  if (url) return { prefix: url[1] as string, host: url[2] as string, rest: url[3] as string };
  const scp = /^((?:[\w.-]+@)([\w.-]+):)(?!\/)(.+)$/.exec(text);
  if (scp) return { prefix: scp[1] as string, host: scp[2] as string, rest: scp[3] as string };
  const plain = /^([\w.-]+(?::\d+)?)\/(.+)$/.exec(text);
  return plain ? { prefix: `https://${plain[1]}/`, host: plain[1] as string, rest: plain[2] as string } : undefined;
}

function wrong(source: string, form: string): Error {
  return new Error(`Cannot use the package "${hideCredentials(source)}": it has to be written as ${form}`);
}
