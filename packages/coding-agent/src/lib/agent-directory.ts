// Where this program keeps what belongs to the user.

import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Record<string, string | undefined>;

/** The agent directory: `PI_CODING_AGENT_DIR` with a leading `~` expanded, else `~/.pi/agent`. */
export function agentDirectory(env: Environment = process.env): string {
  return env.PI_CODING_AGENT_DIR ? expandHome(env.PI_CODING_AGENT_DIR) : join(homedir(), ".pi", "agent");
}

/** Replaces a leading `~` or `~/` by the home directory. `~other` stays as it is. */
export function expandHome(path: string): string {
  if (path === "~") return homedir();
  return path.startsWith("~/") || path.startsWith("~\\") ? join(homedir(), path.slice(2)) : path;
}
