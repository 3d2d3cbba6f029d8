// Everything an extension may ask of a user, one after another: `/rpc-demo` opens each dialog and shows each kind of notice.
// A client in RPC mode gets them as records; examples/rpc-extension-ui.ts answers them. In JSON and print mode the dialogs
// give nothing, and notices are seen by nobody.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function rpcDemo(pi: ExtensionAPI): void {
  pi.registerCommand("rpc-demo", {
    description: "Ask one of everything",
    handler: async (_args, ctx) => {
      const { ui } = ctx;
      ui.setTitle("RPC demo");
      ui.setStatus("demo", "asking");
      ui.setWidget("demo", ["A block of lines", "above the editor"], { placement: "aboveEditor" });
      const colour = await ui.select("Which colour?", ["red", "green", "blue"]);
      const isSure = await ui.confirm("Sure?", `You chose ${colour}`);
      const name = await ui.input("Your name?", "Ada");
      const text = await ui.editor("A few lines?", "Dear …\n");
      ui.setEditorText(`${name} likes ${colour}`);
      ui.setStatus("demo", undefined);
      ui.setWidget("demo", undefined);
      ui.notify(JSON.stringify({ colour, isSure, name, text }), isSure ? "info" : "warning");
      pi.appendEntry("rpc-demo", { colour, isSure, name, text });
    },
  });
}
