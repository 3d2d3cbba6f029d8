// Asks before the model runs a command that may do harm. It fails closed: no user, no answer, or any other answer than
// "Allow" means no. In RPC mode the user is the client; JSON and print mode have none, so such commands are never run there.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const harmful = [/\brm\s+-\w*[rf]/, /\bsudo\b/, /\bgit\s+push\b/, /\b(?:chmod|chown)\s+-R\b/, /\bmkfs\b|\bdd\s+if=/];

export default function permissionGate(pi: ExtensionAPI): void {
  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    if (toolName !== "bash") return undefined;
    const command = String(input.command);
    if (!harmful.some((pattern) => pattern.test(command))) return undefined;
    if (!ctx.hasUI) return { block: true, reason: "Refused: nobody is there to allow this command" };
    const answer = await ctx.ui.select(`Run this command?\n${command}`, ["Allow", "Refuse"], { timeout: 60_000 });
    return answer === "Allow" ? undefined : { block: true, reason: "Refused by the user" };
  });
}
