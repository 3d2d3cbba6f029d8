import { mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { saveTrust } from "../../src/resources/saved-trust.js";
import {
  decideTrust,
  protectedResources,
  resolveTrust,
  type TrustAnswer,
  untrustedDiagnostic,
} from "../../src/resources/trust.js";
import { type Workspace, workspace } from "./workspace.js";

const question = ({ cwd, agentDir }: Workspace, more: object = {}) => ({
  cwd,
  agentDir,
  defaultProjectTrust: "ask" as const,
  ...more,
});
const inProject = { "project/.pi/settings.json": {} };

describe("decideTrust", () => {
  test("the command line, then the nearest saved decision, then the setting", () => {
    const place = workspace();
    const { cwd, root, write } = place;
    const decide = (more: object = {}) => decideTrust(question(place, more));
    expect(decide()).toEqual({ isTrusted: false, by: "setting", diagnostics: [] });
    expect(decide({ defaultProjectTrust: "always" })).toMatchObject({ isTrusted: true, by: "setting" });
    write("agent/trust.json", { [root]: true });
    expect(decide({ defaultProjectTrust: "never" })).toMatchObject({ isTrusted: true, by: "saved" });
    write("agent/trust.json", { [root]: true, [cwd]: false });
    expect(decide({ defaultProjectTrust: "always" })).toMatchObject({ isTrusted: false, by: "saved" });
    write("agent/trust.json", { [root]: true, [cwd]: null });
    expect(decide()).toMatchObject({ isTrusted: true, by: "saved" });
    expect(decide({ approve: false })).toMatchObject({ isTrusted: false, by: "command-line" });
    write("agent/trust.json", { [cwd]: false });
    expect(decide({ approve: true })).toMatchObject({ isTrusted: true, by: "command-line" });
  });

  test("a folder is known by its path without links", () => {
    const place = workspace();
    place.write("agent/trust.json", { [place.cwd]: true });
    const link = join(place.root, "link");
    symlinkSync(place.cwd, link);
    expect(decideTrust({ ...question(place), cwd: link }).isTrusted).toBe(true);
  });

  test("a broken file trusts nothing, also not by the setting", () => {
    const place = workspace();
    const path = place.write("agent/trust.json", '{"x": tr');
    const decision = decideTrust(question(place, { defaultProjectTrust: "always" }));
    expect(decision).toEqual({
      isTrusted: false,
      by: "saved",
      diagnostics: [expect.objectContaining({ severity: "error", source: "trust", path })],
    });
  });

  test("a decision that is none is told of and passed over", () => {
    const place = workspace();
    place.write("agent/trust.json", { [place.root]: true, [place.cwd]: "yes" });
    const { isTrusted, diagnostics } = decideTrust(question(place));
    expect(isTrusted).toBe(true);
    expect(diagnostics.map(({ message }) => message)).toEqual([`"${place.cwd}" must be true or false; it is ignored`]);
  });
});

describe("resolveTrust", () => {
  const asked = (answer: TrustAnswer) => {
    const calls: string[] = [];
    const decide = async () => {
      calls.push("asked");
      return answer;
    };
    return { calls, decide };
  };

  test("who is asked wins over what is saved, and holds for this process only", async () => {
    const place = workspace(inProject);
    const path = place.write("agent/trust.json", { [place.cwd]: true });
    const { decide } = asked({ trusted: "no" });
    expect(await resolveTrust(question(place), decide)).toEqual({ isTrusted: false, by: "asked", diagnostics: [] });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ [place.cwd]: true });
    const undecided = asked({ trusted: "undecided" });
    expect(await resolveTrust(question(place), undecided.decide)).toMatchObject({ isTrusted: true, by: "saved" });
  });

  test("remembers, keeping other decisions, for the owner only", async () => {
    const place = workspace(inProject);
    const path = place.write("agent/trust.json", { "/other": false });
    const { decide } = asked({ trusted: "yes", remember: true });
    await resolveTrust(question(place), decide);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ "/other": false, [place.cwd]: true });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("nobody is asked when the command line decides, or nothing needs trust", async () => {
    const bare = workspace();
    mkdirSync(join(bare.cwd, ".pi"));
    const place = workspace(inProject);
    const { calls, decide } = asked({ trusted: "yes" });
    expect((await resolveTrust(question(place, { approve: false }), decide)).isTrusted).toBe(false);
    expect((await resolveTrust(question(bare), decide)).isTrusted).toBe(false);
    expect(calls).toEqual([]);
  });

  test("a broken file is never written over; the decision still holds", async () => {
    const place = workspace(inProject);
    const path = place.write("agent/trust.json", "{broken");
    const { decide } = asked({ trusted: "yes", remember: true });
    const { isTrusted, diagnostics } = await resolveTrust(question(place), decide);
    expect([isTrusted, readFileSync(path, "utf8")]).toEqual([true, "{broken"]);
    expect(diagnostics).toEqual([
      expect.objectContaining({ message: expect.stringContaining("The decision is not kept: Cannot change") }),
    ]);
  });

  test("savers at the same time lose nothing", async () => {
    const { agentDir } = workspace();
    await Promise.all(["/a", "/b", "/c"].map((folder) => saveTrust(agentDir, folder, true)));
    expect(JSON.parse(readFileSync(join(agentDir, "trust.json"), "utf8"))).toEqual({
      "/a": true,
      "/b": true,
      "/c": true,
    });
  });
});

describe("what needs trust", () => {
  test("each protected file and folder, and shared skills up to the repository", () => {
    const { cwd, root, write } = workspace();
    mkdirSync(join(root, ".git"));
    const names = [
      "settings.json",
      "mcp.json",
      "SYSTEM.md",
      "APPEND_SYSTEM.md",
      "extensions/a.ts",
      "skills/a.md",
      "prompts/a.md",
      "themes/a.json",
    ];
    expect(protectedResources(cwd)).toEqual([]);
    for (const name of names) write(`project/.pi/${name}`, "");
    write(".agents/skills/x/SKILL.md", "");
    expect(protectedResources(cwd)).toEqual([
      ...names.map((name) => join(cwd, ".pi", name.split("/")[0] as string)),
      join(root, ".agents", "skills"),
    ]);
    expect(protectedResources(cwd, root)).not.toContain(join(root, ".agents", "skills"));
  });

  test("untrustedDiagnostic names what is not used", () => {
    const { cwd, write } = workspace();
    expect(untrustedDiagnostic(cwd)).toBeUndefined();
    write("project/.pi/settings.json", {});
    write("project/.agents/skills/x/SKILL.md", "");
    expect(untrustedDiagnostic(cwd)).toEqual({
      severity: "warning",
      source: "project",
      message: "The project is not trusted: .pi/settings.json, .agents/skills are not used; see --approve",
      path: join(cwd, ".pi"),
    });
  });
});
