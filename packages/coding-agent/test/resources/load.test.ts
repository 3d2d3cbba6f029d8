import { join } from "node:path";
import { expect, test } from "vitest";
import { loadResources } from "../../src/resources/load.js";
import { workspace } from "./workspace.js";

const files = {
  "agent/settings.json": { defaultModel: "user" },
  "project/.pi/settings.json": { defaultModel: "project", sessionDir: "sessions", shell: { hideCredentials: true } },
  "project/.pi/mcp.json": {},
};
const env = { OPENAI_API_KEY: "k", PATH: "/bin" };

test("a trusted project's settings count, an untrusted one's are told of", () => {
  const { agentDir, cwd } = workspace(files);
  const load = (trusted: boolean) => loadResources({ agentDir, cwd, env, isTrusted: () => trusted });
  const [trusted, untrusted] = [load(true), load(false)];
  expect(trusted.settings.defaultModel).toBe("project");
  expect(trusted.sessionDir).toBe(join(cwd, "sessions"));
  expect(trusted.shellEnvironment()).toEqual({ PATH: "/bin" });
  expect(trusted.diagnostics().map(({ message }) => message)).toEqual([
    "MCP servers are not supported yet; the file is ignored",
  ]);
  expect(untrusted.settings.defaultModel).toBe("user");
  expect(untrusted.sessionDir).toBeUndefined();
  expect(untrusted.shellEnvironment()).toEqual(env);
  expect(untrusted.diagnostics().map(({ message }) => message)).toEqual([
    "MCP servers are not supported yet; the file is ignored",
    "The project is not trusted: .pi/settings.json is not used; see --approve",
  ]);
});

test("the directory of sessions: option, then environment, then setting", () => {
  const { agentDir, cwd } = workspace({ "agent/settings.json": { sessionDir: "~/s" } });
  const sessionDir = (options: { sessionDir?: string; env?: Record<string, string> }) =>
    loadResources({ agentDir, cwd, env: {}, isTrusted: () => false, ...options }).sessionDir;
  expect(sessionDir({ sessionDir: "opt", env: { PI_CODING_AGENT_SESSION_DIR: "/e" } })).toBe(join(cwd, "opt"));
  expect(sessionDir({ env: { PI_CODING_AGENT_SESSION_DIR: "/e" } })).toBe("/e");
  expect(sessionDir({})).toMatch(/^\/.*\/s$/);
});

test("the environment names the agent directory", () => {
  const { agentDir, cwd } = workspace(files);
  const found = loadResources({ cwd, env: { PI_CODING_AGENT_DIR: agentDir }, isTrusted: () => false });
  expect([found.agentDir, found.settings.defaultModel]).toEqual([agentDir, "user"]);
});
