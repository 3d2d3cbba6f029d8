import { expect, test } from "vitest";
import { startCliRpc } from "../helpers/cli-rpc.js";

/** Classes that are exported under more than one name, and what they are called. */
const aliases = {
  AssistantMessageEventStream: "PushedEventStream",
  EventStream: "PushedEventStream",
  TuiAltScreen: "TUI",
  TuiMainScreen: "TUI",
};

test("classes that extensions import are called what they are imported as, in the built program too", async () => {
  const { cli } = await startCliRpc({
    args: ["-e", "names.ts"],
    files: {
      "project/names.ts": `
        import * as host from "@earendil-works/pi-coding-agent";
        import * as tui from "@earendil-works/pi-tui";
        import * as ai from "@earendil-works/pi-ai";
        import * as core from "@earendil-works/pi-agent-core";
        import * as typebox from "typebox";
        export default (pi) => {
          pi.registerCommand("names", { handler: async (_, ctx) => {
            const called = Object.entries({ ...typebox, ...core, ...ai, ...tui, ...host })
              .filter(([, value]) => typeof value === "function" && /^class/.test(Function.prototype.toString.call(value)))
              .map(([name, value]) => [name, value.name]);
            ctx.ui.notify(JSON.stringify(called));
          } });
        };`,
    },
  });
  await cli.ask({ type: "prompt", message: "/names" });
  const { message } = await cli.records.anywhere({ type: "extension_ui_request", method: "notify" });
  const called: [string, string][] = JSON.parse(message as string);
  expect(called.length).toBeGreaterThan(30);
  expect(Object.fromEntries(called.filter(([name, own]) => name !== own))).toEqual(aliases);
});
