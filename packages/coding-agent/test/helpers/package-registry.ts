// A registry of npm on the loopback interface, and git repositories that stand for ones on a host; both for one test.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Workspace } from "./workspace.js";

export interface Registry {
  /** What npm needs to know it, and to know nothing else. */
  env: Record<string, string>;
  /** Adds a version; the one added last is the latest. */
  publish(name: string, version: string, files: Record<string, string>, more?: object): void;
}

export async function packageRegistry(place: Workspace): Promise<Registry> {
  const packages = new Map<string, { versions: Record<string, object>; latest: string }>();
  const tarballs = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    const tarball = tarballs.get(path);
    const found = packages.get(path.slice(1));
    if (tarball) response.end(tarball);
    else if (found)
      response.end(
        JSON.stringify({ name: path.slice(1), versions: found.versions, "dist-tags": { latest: found.latest } }),
      );
    else response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: {
      npm_config_registry: url,
      npm_config_cache: join(place.temp, "npm-cache"),
      npm_config_userconfig: join(place.home, ".npmrc"),
      npm_config_fetch_retries: "0",
    },
    publish(name, version, files, more = {}) {
      const folder = join(place.temp, "publish", `${name.replace("/", "-")}-${version}`);
      const file = { name, version, ...more };
      writeFiles(join(folder, "package"), { ...files, "package.json": JSON.stringify(file) });
      run("tar", ["czf", "package.tgz", "package"], folder);
      const bytes = readFileSync(join(folder, "package.tgz"));
      const path = `/-/${name}-${version}.tgz`;
      tarballs.set(path, bytes);
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const entry = packages.get(name) ?? { versions: {}, latest: version };
      entry.versions[version] = { ...file, dist: { tarball: `${url}${path}`, integrity } };
      packages.set(name, { ...entry, latest: version });
    },
  };
}

export interface GitHost {
  /** What git needs to find the repositories of `https://host.test/`. */
  env: Record<string, string>;
  /** Commits files to the repository `user/NAME`, making it first; answers with the commit's id. */
  commit(name: string, files: Record<string, string>, tag?: string): string;
}

export function gitHost(place: Workspace): GitHost {
  const root = join(place.root, "git-host");
  const env = {
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `url.file://${root}/.insteadOf`,
    GIT_CONFIG_VALUE_0: "https://host.test/",
  };
  const person = ["-c", "user.name=t", "-c", "user.email=t@host.test"];
  return {
    env,
    commit(name, files, tag) {
      const folder = join(root, "user", name);
      writeFiles(folder, files);
      run("git", ["init", "--quiet", "--initial-branch=main"], folder);
      run("git", ["add", "--all"], folder);
      run("git", [...person, "commit", "--quiet", "--message", "x"], folder);
      if (tag) run("git", ["tag", tag], folder);
      return run("git", ["rev-parse", "HEAD"], folder).trim();
    },
  };
}

function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout;
}
