// Print mode of the built program: the answer's text on stdout, everything else on stderr, and its exit codes.

import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { workspaceWithModel } from "../helpers/cli-rpc.js";
import { runCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";

const print = ["-p", "--model", "scripted/thinker"];

async function setup() {
  const { place, model, server } = await workspaceWithModel();
  const run = (args: readonly string[], input = "") =>
    runCli({ place, args: [...print, ...args], input, isText: true });
  /** What the model was asked, as the messages of its request. */
  const asked = async (index = 0) => ((await server.request(index)).body as { messages: unknown[] }).messages;
  return { place, model, run, asked };
}

describe("print mode", () => {
  test("prints the last answer's text and nothing else", async () => {
    const { model, run } = await setup();
    model.answer({ thinking: "hm" }, "Reading.", {
      toolCall: "bash",
      arguments: { command: "echo out; echo err >&2" },
    });
    model.answer("The answer");
    const cli = await run(["hi"]);
    expect({ code: cli.code, stdout: cli.stdout.toString(), stderr: cli.stderr }).toEqual({
      code: 0,
      stdout: "The answer\n",
      stderr: "",
    });
  });

  test("is the mode when none is named", async () => {
    const { place, model } = await setup();
    model.answer("The answer");
    const cli = await runCli({ place, args: ["--model", "scripted/thinker", "hi"], isText: true });
    expect([cli.code, cli.stdout.toString()]).toEqual([0, "The answer\n"]);
  });

  test("an answer that was cut off is printed, told of, and exits with 1", async () => {
    const { model, run } = await setup();
    model.answer("The beg", { stop: "length" });
    const cli = await run(["hi"]);
    expect([cli.code, cli.stdout.toString()]).toEqual([1, "The beg\n"]);
    expect(cli.stderr).toContain("The answer was cut off by the output limit");
  });

  test("a failed run prints the reason on stderr and exits with 1", async () => {
    const { model, run } = await setup();
    model.answer({ status: 400, message: "no such thing" });
    const cli = await run(["hi"]);
    expect([cli.code, cli.stdout.toString()]).toEqual([1, ""]);
    expect(cli.stderr).toMatch(/^400: .*no such thing.*\n$/);
  });

  test("no prompt exits with 1", async () => {
    const { run } = await setup();
    const cli = await run([]);
    expect([cli.code, cli.stdout.toString()]).toEqual([1, ""]);
    expect(cli.stderr).toBe("pi: Nothing to do: give a message, or pipe one in\n");
  });

  test("no model exits with 1 and says how to get one", async () => {
    const cli = await runCli({ place: workspace(), args: ["-p", "hi"], isText: true });
    expect([cli.code, cli.stdout.toString()]).toEqual([1, ""]);
    expect(cli.stderr).toMatch(/^pi: No model selected\. /);
  });

  test("an unknown provider exits with 1 and names it", async () => {
    const cli = await runCli({
      place: workspace(),
      args: ["--provider", "nowhere", "--model", "x", "-p", "hi"],
      isText: true,
    });
    expect([cli.code, cli.stdout.toString()]).toEqual([1, ""]);
    expect(cli.stderr).toMatch(/^pi: Unknown provider "nowhere"/);
  });

  test("puts piped text before the message", async () => {
    const { model, run, asked } = await setup();
    model.answer("Fine");
    expect((await run(["Review this"], "diff\n")).code).toBe(0);
    expect((await asked()).at(-1)).toEqual({ role: "user", content: "diff\nReview this" });
  });

  test("@file adds a text under its absolute path", async () => {
    const { place, model, run, asked } = await setup();
    const path = place.write("project/a.txt", "one\ntwo");
    model.answer("Fine");
    expect((await run(["@a.txt", "Look"])).code).toBe(0);
    expect((await asked()).at(-1)).toEqual({
      role: "user",
      content: `<file name="${path}">\none\ntwo\n</file>\nLook`,
    });
  });

  test("@file adds an image as an image", async () => {
    const { place, model, run, asked } = await setup();
    const red = { r: 255, g: 0, b: 0 };
    const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: red } })
      .png()
      .toBuffer();
    const path = place.write("project/red.png", png);
    model.answer("Red");
    expect((await run(["@red.png", "Which colour?"])).code).toBe(0);
    expect((await asked()).at(-1)).toEqual({
      role: "user",
      content: [
        { type: "text", text: `<file name="${path}"></file>\nWhich colour?` },
        { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
      ],
    });
  });

  test("@file that is not there exits with 1 before anything is asked", async () => {
    const { run, place } = await setup();
    const cli = await run(["@missing.txt", "Look"]);
    expect(cli.code).toBe(1);
    expect(cli.stderr).toMatch(/^pi: Cannot read "missing\.txt": /);
    expect(place.sessionFiles()).toEqual([]);
  });

  // Linux has a device that is always full; elsewhere a full disk cannot be had so cheaply.
  test.skipIf(!existsSync("/dev/full"))("an answer that could not be written exits with 1", async () => {
    const { place, model } = await setup();
    model.answer("The answer");
    const toFull: [string, ...string[]] = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];
    const cli = await runCli({ place, args: [...print, "hi"], wrapper: toFull, isText: true });
    expect(cli.code).toBe(1);
    const version = await runCli({ place, args: ["--version"], wrapper: toFull, isText: true });
    expect(version.code).toBe(1);
  });

  test("a session that cannot be written is told of, and the answer printed", async () => {
    const { place, model, run } = await setup();
    model.answer("The answer");
    const sessions = join(place.agentDir, "sessions");
    rmSync(sessions, { recursive: true, force: true });
    writeFileSync(sessions, "in the way");
    const cli = await run(["hi"]);
    expect([cli.code, cli.stdout.toString()]).toEqual([0, "The answer\n"]);
    expect(cli.stderr).toMatch(/^pi: Cannot write ".*\.jsonl": /);
  });

  test.each(["--system-prompt", "--append-system-prompt"])("%s names what it cannot read", async (option) => {
    const { place, run } = await setup();
    const cli = await run([option, place.cwd, "hi"]);
    expect([cli.code, cli.stdout.toString()]).toEqual([1, ""]);
    expect(cli.stderr).toBe(`pi: Cannot read "${place.cwd}" for ${option}: it is a directory\n`);
  });

  test("a device or a pipe is no file to read", async () => {
    const { place, run } = await setup();
    const pipe = join(place.cwd, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const [args, stderr] of [
      [["--system-prompt", pipe, "hi"], `pi: Cannot read "${pipe}" for --system-prompt: it is not a regular file\n`],
      [["@/dev/zero"], 'pi: Cannot read "/dev/zero": it is not a regular file\n'],
    ] as const) {
      const cli = await run(args);
      expect([cli.code, cli.stderr]).toEqual([1, stderr]);
    }
  });
});
