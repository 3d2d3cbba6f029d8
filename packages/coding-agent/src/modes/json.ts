// JSON mode: the session's header, then every event of the prompts given, one record a line.

import { sessionEvents } from "../core/events.js";
import type { SessionRuntime } from "../core/session-runtime.js";
import type { ModeInput } from "./index.js";
import type { ModeIo } from "./io.js";
import { toJsonEvent } from "./json-event.js";
import { failureOf, logFault, runPrompts } from "./one-shot.js";

/** Resolves with the exit code: 1 when the last run ended in an error or was aborted, 0 otherwise. */
export async function runJsonMode(
  runtime: SessionRuntime,
  io: ModeIo,
  input: Pick<ModeInput, "prompts" | "theme">,
): Promise<number> {
  io.write(runtime.session.store.getHeader());
  runtime.subscribe((event) => {
    if (event.type === "message_update" || !sessionEvents[event.type].rpcOnly) return io.write(toJsonEvent(event));
    logFault(io, event);
    return undefined;
  });
  return runPrompts(runtime, io, { ...input, mode: "json" }, () => (failureOf(runtime) === undefined ? 0 : 1));
}
