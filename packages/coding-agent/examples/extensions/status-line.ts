// A status entry that follows the run: the turn under way, and how full the context is when it is over. It is seen in RPC
// mode only.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function statusLine(pi: ExtensionAPI): void {
  pi.on("turn_start", ({ turnIndex }, ctx) => ctx.ui.setStatus("status-line", `turn ${turnIndex + 1}`));
  pi.on("agent_settled", ({ aborted }, ctx) => {
    const usage = ctx.getContextUsage();
    const used = usage?.percent === null || usage === undefined ? "" : `, context ${Math.round(usage.percent)} %`;
    ctx.ui.setStatus("status-line", `${aborted ? "stopped" : "done"}${used}`);
  });
  pi.on("session_shutdown", (_event, ctx) => ctx.ui.setStatus("status-line", undefined));
}
