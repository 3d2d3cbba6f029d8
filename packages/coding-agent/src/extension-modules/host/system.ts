// What extensions ask of the machine and of the installation.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentDirectory } from "../../lib/agent-directory.js";
import { imageSize, maxImageBase64, prepareImage } from "../../lib/image.js";
import { resolveShell } from "../../lib/shell.js";
import { readJsonFile } from "../../resources/json-file.js";
import { projectDirectoryName } from "../../resources/locations.js";

export const VERSION: string = typeof PI_VERSION === "undefined" ? packageFacts().version : PI_VERSION;
export const CONFIG_DIR_NAME = projectDirectoryName;

export function getAgentDir(): string {
  return agentDirectory();
}

/** The folder this program is installed in. */
export function getPackageDir(): string {
  return packageFacts().folder;
}

export function getDocsPath(): string {
  return join(getPackageDir(), "docs");
}

export function getExamplesPath(): string {
  return join(getPackageDir(), "examples");
}

export function getReadmePath(): string {
  return join(getPackageDir(), "README.md");
}

function packageFacts(): { folder: string; version: string } {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return { folder, version };
}

/** The shell that runs commands, and the arguments before a command. Throws when there is none. */
export function getShellConfig(shellPath?: string): { shell: string; args: string[] } {
  return { shell: resolveShell(shellPath), args: ["-c"] };
}

/** A stored credential of a provider as it is in the file; undefined when there is none. Never throws. */
export function readStoredCredential(provider: string, agentDir: string = agentDirectory()): unknown {
  const file = readJsonFile(join(agentDir, "auth.json"), "auth");
  return file.value && Object.hasOwn(file.value, provider) ? file.value[provider] : undefined;
}

/** Puts text on the clipboard where a program for it is installed; does nothing elsewhere. Never rejects. */
export async function copyToClipboard(text: string): Promise<void> {
  for (const [command, args] of clipboardPrograms()) if (await feed(command, args, text)) return;
}

function clipboardPrograms(): [string, string[]][] {
  if (process.platform === "darwin") return [["pbcopy", []]];
  if (process.platform === "win32") return [["clip", []]];
  return [
    ...(process.env.WAYLAND_DISPLAY ? [["wl-copy", []] as [string, string[]]] : []),
    ...(process.env.DISPLAY ? [["xclip", ["-selection", "clipboard"]] as [string, string[]]] : []),
  ];
}

function feed(command: string, args: string[], text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["pipe", "ignore", "ignore"] });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    child.stdin.on("error", () => resolve(false)).end(text);
  });
}

export interface ResizedImage {
  data: string;
  mimeType: string;
  originalWidth: number;
  originalHeight: number;
  width: number;
  height: number;
  wasResized: boolean;
}

/** Limits in pixels, and in base64 characters; `jpegQuality` is 1 to 100. */
export interface ResizeOptions {
  maxWidth?: number;
  maxHeight?: number;
  maxBytes?: number;
  jpegQuality?: number;
}

/** An image within limits (2000 by 2000 pixels, 4.5 MB), smaller than it was if need be; null for what is no image. */
export async function resizeImage(
  image: Uint8Array | { data: string; mimeType: string },
  mimeType?: string | ResizeOptions,
  options?: ResizeOptions,
): Promise<ResizedImage | null> {
  const limits = options ?? (typeof mimeType === "object" ? mimeType : {});
  const data = image instanceof Uint8Array ? Buffer.from(image).toString("base64") : image.data;
  const { maxWidth, maxHeight, maxBytes = maxImageBase64, jpegQuality } = limits;
  try {
    const prepared = await prepareImage(
      { data, mimeType: "" },
      { maxWidth, maxHeight, maxBase64: maxBytes, jpegQuality },
    );
    const before = imageSize(Buffer.from(data, "base64"));
    const after = imageSize(Buffer.from(prepared.data, "base64"));
    if (!before || !after) return null;
    return {
      data: prepared.data,
      mimeType: prepared.mimeType,
      originalWidth: before.width,
      originalHeight: before.height,
      ...after,
      wasResized: prepared.data !== data,
    };
  } catch {
    return null;
  }
}
