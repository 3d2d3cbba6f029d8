// Keeps a session with uncommitted changes from being left by mistake: a new session, another one and a fork are refused
// unless the user says yes. Without a user they are refused.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

export default function sessionGuard(pi: ExtensionAPI): void {
  const guard = async (ctx: ExtensionContext) => {
    const { stdout, code } = await pi.exec("git", ["status", "--porcelain"], { timeout: 5_000 });
    if (code === 0 && stdout.trim() === "") return undefined;
    const what = code === 0 ? `${stdout.trimEnd().split("\n").length} uncommitted changes` : "No repository to look at";
    const isSure = await ctx.ui.confirm("Leave this session?", what);
    return isSure ? undefined : { cancel: true };
  };
  pi.on("session_before_switch", (_event, ctx) => guard(ctx));
  pi.on("session_before_fork", (_event, ctx) => guard(ctx));
}
