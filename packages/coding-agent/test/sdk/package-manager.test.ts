// Packages as programs manage them; from local folders, so that nothing is fetched.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SettingsManager } from "../../src/resources/settings-manager.js";
import { DefaultPackageManager, type ProgressEvent } from "../../src/sdk/package-manager.js";
import { workspace } from "../helpers/workspace.js";

function managerOf(files: Record<string, unknown> = {}) {
  const place = workspace({ "pack/extensions/one.ts": "export default () => {}", "pack/prompts/p.md": "P", ...files });
  const { cwd, agentDir } = place;
  const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: true });
  const manager = new DefaultPackageManager({ cwd, agentDir, settingsManager });
  return { place, manager, pack: join(place.root, "pack") };
}

describe("DefaultPackageManager", () => {
  it("installs a package, lists it, resolves what it brings, and removes it", async () => {
    const { manager, pack, place } = managerOf();
    await manager.installAndPersist("../pack");
    const stored = JSON.parse(place.read("agent/settings.json")).packages;
    expect(stored).toEqual(["../pack"]);
    expect(manager.listConfiguredPackages()).toEqual([
      { source: "../pack", scope: "user", filtered: false, installedPath: pack },
    ]);
    const { extensions, prompts, skills, themes } = await manager.resolve();
    expect(extensions).toEqual([
      {
        path: join(pack, "extensions/one.ts"),
        enabled: true,
        metadata: { source: "../pack", scope: "user", origin: "package", baseDir: pack },
      },
    ]);
    expect([prompts.map(({ path }) => path), skills, themes]).toEqual([[join(pack, "prompts/p.md")], [], []]);
    expect(await manager.removeAndPersist(pack)).toBe(true);
    expect([manager.listConfiguredPackages(), await manager.removeAndPersist(pack)]).toEqual([[], false]);
  });

  it("keeps a project's packages in the project's settings", async () => {
    const { manager, place } = managerOf({ "project/.pi/settings.json": { theme: "kept" } });
    await manager.installAndPersist("../pack", { local: true });
    expect(JSON.parse(place.read("project/.pi/settings.json"))).toEqual({ theme: "kept", packages: ["../../pack"] });
    expect(manager.listConfiguredPackages().map(({ scope }) => scope)).toEqual(["project"]);
    expect(await manager.addSourceToSettings("../pack", { local: true })).toBe(false);
  });

  it("tells of its progress, and rejects when nothing can be installed", async () => {
    const { manager } = managerOf();
    const told: ProgressEvent["type"][] = [];
    manager.setProgressCallback(({ type }) => told.push(type));
    await expect(manager.installAndPersist("../nowhere")).rejects.toThrow("nothing is at");
    await manager.install("../pack");
    expect(told).toEqual(["start", "error", "start", "complete"]);
    expect(manager.listConfiguredPackages()).toEqual([]);
  });

  it("updates what the settings name, or the one that is asked for", async () => {
    const { manager } = managerOf({ "agent/settings.json": { packages: ["../pack", { source: "../project" }] } });
    const told: string[] = [];
    manager.setProgressCallback(({ type, source }) => told.push(`${type} ${source}`));
    await manager.update();
    await manager.update("../pack");
    expect(told).toEqual(["../pack", "../project", "../pack"].flatMap((at) => [`start ${at}`, `complete ${at}`]));
    expect(manager.getInstalledPath("git:", "user")).toBeUndefined();
  });

  it("refuses settings that are broken before it installs, and leaves them as they are", async () => {
    const { manager, place } = managerOf({ "agent/settings.json": { packages: "oops" } });
    const told: string[] = [];
    manager.setProgressCallback(({ type }) => told.push(type));
    await expect(manager.installAndPersist("../pack")).rejects.toThrow('"packages" must be a list');
    await expect(manager.removeAndPersist("../pack")).rejects.toThrow('"packages" must be a list');
    await expect(manager.addSourceToSettings("npm:foo")).rejects.toThrow('"packages" must be a list');
    expect([JSON.parse(place.read("agent/settings.json")), told]).toEqual([{ packages: "oops" }, []]);
  });

  it("writes down the version that was asked for in place of another, with what was chosen of it", async () => {
    const { manager } = managerOf({ "agent/settings.json": { packages: [{ source: "npm:foo@1.0.0", skills: [] }] } });
    expect(await manager.addSourceToSettings("npm:foo@2.0.0")).toBe(true);
    expect(manager.listConfiguredPackages()).toEqual([{ source: "npm:foo@2.0.0", scope: "user", filtered: true }]);
    expect(await manager.addSourceToSettings("npm:foo@2.0.0")).toBe(false);
  });

  it("fetches nothing offline when it resolves", async () => {
    const { place } = managerOf();
    const marker = join(place.root, "asked");
    place.write("agent/settings.json", {
      packages: ["npm:foo"],
      npmCommand: [process.execPath, place.write("npm.cjs", `require("fs").writeFileSync("${marker}", "")`)],
    });
    const { cwd, agentDir } = place;
    const again = new DefaultPackageManager({ cwd, agentDir, settingsManager: SettingsManager.create(cwd, agentDir) });
    vi.stubEnv("PI_OFFLINE", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    await again.resolve();
    expect(existsSync(marker)).toBe(false);
    vi.unstubAllEnvs();
    await again.resolve();
    expect(existsSync(marker)).toBe(true);
  });
});
