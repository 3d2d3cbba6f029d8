import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadContextFiles } from "../../src/resources/context-files.js";
import { workspace } from "./workspace.js";

test("one file a directory, the user's first, then from the root down", () => {
  const { root, agentDir } = workspace({
    "agent/AGENTS.md": "user",
    "agent/CLAUDE.md": "not this",
    "CLAUDE.md": "root",
    "project/AGENTS.override.md": "\uFEFFoverride",
    "project/AGENTS.md": "not this",
    "project/deep/CLAUDE.MD": "deep",
    "project/deep/er/AGENTS.MD": "deeper",
    "project/deep/er/CLAUDE.md": "not this",
  });
  const cwd = join(root, "project/deep/er");
  expect(loadContextFiles({ cwd, agentDir })).toEqual({
    files: [
      { path: join(agentDir, "AGENTS.md"), content: "user" },
      { path: join(root, "CLAUDE.md"), content: "root" },
      { path: join(root, "project/AGENTS.override.md"), content: "override" },
      { path: join(root, "project/deep/CLAUDE.MD"), content: "deep" },
      { path: join(cwd, "AGENTS.MD"), content: "deeper" },
    ],
    diagnostics: [],
  });
});

test("a file reached twice counts once, a directory of that name is passed over", () => {
  const { root, agentDir, cwd } = workspace({ "AGENTS.md": "shared", "project/AGENTS.override.md/x": "" });
  symlinkSync(join(root, "AGENTS.md"), join(agentDir, "AGENTS.md"));
  symlinkSync("../AGENTS.md", join(cwd, "CLAUDE.md"));
  expect(loadContextFiles({ cwd, agentDir }).files).toEqual([{ path: join(agentDir, "AGENTS.md"), content: "shared" }]);
  expect(loadContextFiles({ cwd: root, agentDir: root }).files).toHaveLength(1);
});

test("what cannot be read is a diagnostic", () => {
  const { agentDir, cwd, write } = workspace();
  const path = write("project/AGENTS.md", "secret");
  chmodSync(path, 0);
  const { files, diagnostics } = loadContextFiles({ cwd, agentDir });
  if (process.getuid?.() === 0)
    expect(files).toEqual([{ path, content: "secret" }]); // root reads everything
  else expect(diagnostics).toMatchObject([{ severity: "warning", source: "context_files", path }]);
});
