// Print mode: runs the prompts and writes the last answer's text.

import type { SessionRuntime } from "../core/session-runtime.js";
import type { ModeInput } from "./index.js";
import type { ModeIo } from "./io.js";
import { failureOf, logFault, runPrompts } from "./one-shot.js";

/** Resolves with the exit code: 1 when the last run failed, was aborted, or was cut off by the output limit. */
export async function runPrintMode(
  runtime: SessionRuntime,
  io: ModeIo,
  input: Pick<ModeInput, "prompts" | "theme">,
): Promise<number> {
  const { prompts } = input;
  if (prompts.length === 0) {
    io.log("pi: Nothing to do: give a message, or pipe one in");
    return 1;
  }
  runtime.subscribe((event) => {
    logFault(io, event);
    return undefined;
  });
  return runPrompts(runtime, io, { ...input, mode: "print" }, () => {
    const failure = failureOf(runtime);
    if (failure !== undefined) {
      io.log(failure);
      return 1;
    }
    const last = runtime.session.outcome?.last;
    const text = (last?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    if (text) io.writeText(text.endsWith("\n") ? text : `${text}\n`);
    if (last?.stopReason !== "length") return 0;
    io.log("pi: The answer was cut off by the output limit");
    return 1;
  });
}
