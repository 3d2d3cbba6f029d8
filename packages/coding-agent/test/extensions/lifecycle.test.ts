import { describe, expect, test } from "vitest";
import { startCliRpc } from "../helpers/cli-rpc.js";
import { runCli } from "../helpers/running-cli.js";
import { workspace } from "../helpers/workspace.js";

/** RPC mode of the built program with one extension; `source` is its module. */
async function withExtension(source: string) {
  return startCliRpc({ args: ["-e", "late.ts"], files: { "project/late.ts": source } });
}

describe("what extensions do behind our back", () => {
  test("an exception in a timer and a forgotten promise are told with their extension, and the process lives", async () => {
    const { cli } = await withExtension(`
      export default (pi) => {
        pi.registerCommand("late", { handler: async () => {
          setTimeout(() => { throw new Error("in a timer"); }, 0);
          void Promise.reject(new Error("nobody waits"));
        } });
      };`);
    await cli.ask({ type: "prompt", message: "/late" });
    const path = expect.stringMatching(/late\.ts$/);
    for (const [event, error] of [
      ["unhandled_rejection", "nobody waits"],
      ["uncaught_exception", "in a timer"],
    ])
      expect(await cli.records.anywhere({ type: "extension_error", event })).toMatchObject({
        extensionPath: path,
        error,
      });
    expect(await cli.ask({ type: "get_state" })).toMatchObject({ success: true });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
  });

  test("what they print goes to stderr, from the first moment on", async () => {
    const { cli } = await withExtension(`
      console.log("while it is evaluated");
      export default (pi) => { console.log("in the factory"); process.stdout.write("written\\n"); };`);
    await cli.ask({ type: "get_state" });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    expect(cli.stderr).toMatch(/while it is evaluated\n[\s\S]*in the factory\n[\s\S]*written\n/);
  });
});

describe("the end of input", () => {
  test("waits for a command of an extension that was started", async () => {
    const { cli } = await withExtension(`
      export default (pi) => {
        pi.registerCommand("slow", { handler: async (_, ctx) => {
          await new Promise((resolve) => setTimeout(resolve, 50));
          ctx.ui.notify("done", "info");
        } });
      };`);
    cli.send({ id: "slow", type: "prompt", message: "/slow" });
    cli.closeStdin();
    expect(await cli.ended).toBe(0);
    expect(cli.records.matching({ type: "extension_ui_request" })).toMatchObject([{ message: "done" }]);
    expect(cli.records.matching({ id: "slow" })).toMatchObject([{ success: true, data: { disposition: "handled" } }]);
    expect(cli.records.matching({ type: "extension_error" })).toEqual([]);
  });
});

describe("a project that is not trusted yet", () => {
  const files = {
    "project/.pi/extensions/own.js": `export default (pi) => { pi.registerCommand("own", { handler: async () => {} }); };`,
    "project/judge.js": `export default (pi) => {
      pi.on("project_trust", (event, ctx) => {
        console.error("asked", ctx.cwd === event.cwd, ctx.mode, ctx.hasUI, Object.keys(ctx.ui).sort().join());
        return { trusted: process.env.JUDGEMENT };
      });
    };`,
  };
  const commandsWith = async (judgement: string) => {
    const cli = await runCli({
      place: workspace(files),
      args: ["--mode", "rpc", "--no-session", "-e", "judge.js"],
      env: { JUDGEMENT: judgement },
      input: '{"id":1,"type":"get_commands"}\n',
    });
    const commands = cli.records.matching({ id: 1 }).flatMap(({ data }) => (data as { commands: object[] }).commands);
    return { names: commands.map((command) => (command as { name: string }).name), stderr: cli.stderr };
  };

  test("an extension of the user is asked, before what the project brings is run", async () => {
    const yes = await commandsWith("yes");
    expect(yes.names).toEqual(["own"]);
    expect(yes.stderr).toContain("asked true rpc false confirm,input,notify,select");
    const no = await commandsWith("no");
    expect(no.names).toEqual([]);
    expect(no.stderr).toContain("The project is not trusted");
    expect((await commandsWith("undecided")).names).toEqual([]);
  });
});
