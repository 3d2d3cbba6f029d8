import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { bundledProgram } from "../lib/bundled-program.js";
import { workspace } from "./workspace.js";

const saver = `
import { SettingsManager } from "../../src/resources/settings-manager.js";
const [agentDir, name] = process.argv.slice(2);
const settings = SettingsManager.load({ agentDir, cwd: agentDir, trusted: false });
for (let at = 0; at < 10; at++) await settings.set(name + at, at);
`;

test("settings that several processes save at once are all there, with the keys nobody knows", async () => {
  const { root, agentDir, write } = workspace();
  const path = write("agent/settings.json", { mine: { kept: true } });
  const program = await bundledProgram(root, import.meta.url, saver);
  const names = ["a", "b", "c"];
  const codes = names.map(async (name) => {
    const child = spawn(process.execPath, [program, agentDir, name], { stdio: ["ignore", "ignore", "inherit"] });
    return (await once(child, "exit"))[0];
  });
  expect(await Promise.all(codes)).toEqual([0, 0, 0]);
  const expected = names.flatMap((name) => Array.from({ length: 10 }, (_, at) => [`${name}${at}`, at]));
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ mine: { kept: true }, ...Object.fromEntries(expected) });
});
