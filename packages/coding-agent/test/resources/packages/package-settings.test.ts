// The lists of packages in settings files: what is the same package, what is kept, and what is refused.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PackageSettings } from "../../../src/resources/packages/package-settings.js";
import { workspace } from "../../helpers/workspace.js";

function bench(packages?: unknown) {
  const place = workspace(packages === undefined ? {} : { "agent/settings.json": { theme: "dark", packages } });
  return { place, list: new PackageSettings(place), written: () => JSON.parse(place.read("agent/settings.json")) };
}

describe("PackageSettings", () => {
  it("replaces another version of a package where it stands, and keeps what was chosen of it", async () => {
    const { list, written } = bench(["npm:a", { source: "npm:foo@1", skills: [] }, "npm:z"]);
    expect(await list.add("npm:foo@2", "user")).toBe(true);
    expect(await list.add("npm:foo@2", "user")).toBe(false);
    expect(written()).toEqual({ theme: "dark", packages: ["npm:a", { source: "npm:foo@2", skills: [] }, "npm:z"] });
    expect(list.find("npm:foo", "user")).toEqual({ source: "npm:foo@2", skills: [] });
    expect([await list.remove("npm:foo@9", "user"), await list.remove("npm:foo", "user")]).toEqual([true, false]);
    expect(written().packages).toEqual(["npm:a", "npm:z"]);
  });

  it("makes a project's file for everybody, and no file where nothing is to change", async () => {
    const { list, place } = bench();
    expect(await list.remove("npm:a", "project")).toBe(false);
    expect(existsSync(join(place.cwd, ".pi"))).toBe(false);
    expect(await list.add(list.asStored("../pack", "project"), "project")).toBe(true);
    expect(list.entries("project")).toEqual(["../../pack"]);
    expect(statSync(list.pathOf("project")).mode & 0o077).not.toBe(0);
  });

  it.each([
    ["oops", '"packages" must be a list'],
    [{ source: "npm:a" }, '"packages" must be a list'],
    [["npm:a", 5], '"packages.1" must be'],
  ])("refuses a list that is none, and leaves it as it is: %j", async (packages, reason) => {
    const { list, written } = bench(packages);
    expect(() => list.entries("user")).toThrow(`Cannot change the settings: ${reason}`);
    await expect(list.add("npm:foo", "user")).rejects.toThrow(reason);
    await expect(list.remove("npm:foo", "user")).rejects.toThrow(reason);
    expect(written()).toEqual({ theme: "dark", packages });
  });
});
