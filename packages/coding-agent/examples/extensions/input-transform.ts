// Sees every text before the model does, from whatever mode: `?short …` becomes a request for a short answer, `!time` is
// answered here (with a notice, which is seen in RPC mode only) and never reaches the model, and everything else passes.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function inputTransform(pi: ExtensionAPI): void {
  pi.on("input", ({ text }, ctx) => {
    if (text.startsWith("?short ")) {
      return { action: "transform", text: `${text.slice("?short ".length)}\n\nAnswer in one sentence.` };
    }
    if (text === "!time") {
      ctx.ui.notify(new Date().toISOString());
      return { action: "handled" };
    }
    return { action: "continue" };
  });
}
