import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import { defaultSettings, Settings } from "../../src/resources/settings.js";
import { SettingsManager } from "../../src/resources/settings-manager.js";
import { workspace } from "./workspace.js";

test("the defaults are settings, and are what is in force without files", () => {
  expect(Check(Settings, defaultSettings())).toBe(true);
  const { agentDir, cwd } = workspace();
  const manager = SettingsManager.load({ agentDir, cwd, trusted: true });
  expect(manager.settings).toEqual(defaultSettings());
  expect(manager.settings).toMatchObject({
    defaultThinkingLevel: "medium",
    steeringMode: "one-at-a-time",
    followUpMode: "one-at-a-time",
    defaultTools: ["read", "bash", "edit", "write"],
    compaction: { enabled: true, reserveTokens: 16384, keepRecentTokens: 20000 },
    retry: { enabled: true, maxRetries: 3, baseDelayMs: 2000, maxAgentDelayMs: 60000 },
    httpIdleTimeoutMs: 300000,
    images: { autoResize: true, blockImages: false },
    shell: { hideCredentials: false },
  });
  expect(manager.diagnostics).toEqual([]);
});

describe("layers", () => {
  const files = {
    "agent/settings.json": {
      defaultModel: "user",
      compaction: { enabled: false, reserveTokens: 1 },
      defaultTools: ["+grep", "-write"],
      skills: ["u"],
      enabledModels: ["u"],
    },
    "project/.pi/settings.json": {
      defaultModel: "project",
      compaction: { reserveTokens: 2 },
      defaultTools: ["+ls"],
      skills: ["p"],
      enabledModels: ["p"],
      sessionDir: "here",
    },
  };

  test("the project's win over the user's member by member, lists of resources are joined, tools change", () => {
    const { agentDir, cwd } = workspace(files);
    const { settings } = SettingsManager.load({ agentDir, cwd, trusted: true });
    expect(settings).toMatchObject({
      defaultModel: "project",
      compaction: { enabled: false, reserveTokens: 2, keepRecentTokens: 20000 },
      defaultTools: ["read", "bash", "edit", "grep", "ls"],
      skills: ["u", "p"],
      enabledModels: ["p"],
      sessionDir: "here",
    });
  });

  test("of a project that is not trusted nothing counts", () => {
    const { agentDir, cwd } = workspace(files);
    const { settings } = SettingsManager.load({ agentDir, cwd, trusted: false });
    expect(settings).toMatchObject({ defaultModel: "user", compaction: { reserveTokens: 1 }, skills: ["u"] });
    expect(settings.sessionDir).toBeUndefined();
  });

  test("overrides win over all", () => {
    const { agentDir, cwd } = workspace(files);
    const overrides = { defaultModel: "line", compaction: { enabled: true } };
    const { settings } = SettingsManager.load({ agentDir, cwd, trusted: true, overrides });
    expect(settings).toMatchObject({ defaultModel: "line", compaction: { enabled: true, reserveTokens: 2 } });
  });

  test("some settings are the user's alone", () => {
    const { agentDir, cwd } = workspace({
      "project/.pi/settings.json": { httpProxy: "http://evil", defaultProjectTrust: "always" },
    });
    const manager = SettingsManager.load({ agentDir, cwd, trusted: true });
    expect(manager.settings.httpProxy).toBeUndefined();
    expect(manager.settings.defaultProjectTrust).toBe("ask");
    expect(manager.diagnostics.map(({ severity, message }) => [severity, message])).toEqual([
      ["warning", '"defaultProjectTrust" counts in user settings only; it is ignored'],
      ["warning", '"httpProxy" counts in user settings only; it is ignored'],
    ]);
  });
});

describe("faults", () => {
  test("a broken file is named with line and column, and the defaults hold", () => {
    const { agentDir, cwd, write } = workspace();
    const path = write("agent/settings.json", '{\n  "defaultModel": "x",\n  "retry": {');
    const manager = SettingsManager.load({ agentDir, cwd, trusted: false });
    expect(manager.settings).toEqual(defaultSettings());
    expect(manager.diagnostics).toEqual([
      {
        severity: "error",
        source: "settings",
        message: "The file is no JSON: unexpected end; the file is ignored",
        path,
        line: 3,
        column: 13,
      },
    ]);
  });

  test("a wrong value is left out alone; unknown keys are kept without a word", () => {
    const { agentDir, cwd, write } = workspace();
    const path = write(
      "agent/settings.json",
      '{\n  "theme": "dark",\n  "retry": { "maxRetries": "many", "baseDelayMs": 5 },\n  "skills": ["a", 1]\n}',
    );
    const manager = SettingsManager.load({ agentDir, cwd, trusted: false });
    expect(manager.settings).toMatchObject({ retry: { maxRetries: 3, baseDelayMs: 5 }, skills: [], theme: "dark" });
    expect(manager.diagnostics).toEqual([
      {
        severity: "error",
        source: "settings",
        message: '"retry.maxRetries" must be a whole number from 0; it is ignored',
        path,
        line: 3,
        column: 14,
      },
      {
        severity: "error",
        source: "settings",
        message: '"skills.1" must be a string; it is ignored',
        path,
        line: 4,
        column: 19,
      },
    ]);
  });
});

describe("set", () => {
  test("changes one key of the file as it is now, keeping all others", async () => {
    const { agentDir, cwd, write } = workspace();
    const path = write("agent/settings.json", { theme: "dark", compaction: { other: 1 } });
    const manager = SettingsManager.load({ agentDir, cwd, trusted: false });
    writeFileSync(path, JSON.stringify({ theme: "light", compaction: { other: 1 } }));
    await manager.set("compaction.enabled", false);
    await manager.set("defaultModel", "x");
    await manager.set("compaction.other", undefined);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      theme: "light",
      compaction: { enabled: false },
      defaultModel: "x",
    });
    expect(manager.settings).toMatchObject({ defaultModel: "x", compaction: { enabled: false } });
  });

  test("makes a file for its owner only, and several savers lose nothing", async () => {
    const { agentDir, cwd } = workspace();
    const managers = ["a", "b", "c"].map(() => SettingsManager.load({ agentDir, cwd, trusted: false }));
    await Promise.all(managers.map((manager, index) => manager.set(`key${index}`, index)));
    const path = join(agentDir, "settings.json");
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ key0: 0, key1: 1, key2: 2 });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("refuses a wrong value, and never writes over a broken file", async () => {
    const { agentDir, cwd, write } = workspace();
    const path = write("agent/settings.json", '{"broken": ');
    const manager = SettingsManager.load({ agentDir, cwd, trusted: false });
    await expect(manager.set("steeringMode", "some")).rejects.toThrow('Cannot set "steeringMode": it must be');
    await expect(manager.set("defaultModel", "x")).rejects.toThrow(`Cannot change "${path}:1:12": The file is no JSON`);
    expect(readFileSync(path, "utf8")).toBe('{"broken": ');
  });

  test("in memory needs no file", async () => {
    const manager = SettingsManager.inMemory({ defaultModel: "x" });
    await manager.set("retry.enabled", false);
    expect(manager.settings).toMatchObject({ defaultModel: "x", retry: { enabled: false, maxRetries: 3 } });
  });
});
