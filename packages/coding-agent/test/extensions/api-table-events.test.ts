// Every event of the extension API, in every mode.

import { expect, test } from "vitest";
import { modes } from "./play.js";
import { prove } from "./table/prove.js";
import { orderOfARun, removedEvents, runEvents } from "./table/run-events.js";
import { sessionEvents } from "./table/session-events.js";

prove("events of sessions", sessionEvents);
prove("events of runs", runEvents);
prove("events that were removed", removedEvents);

/** What the scripted model has no wire for: the hooks of requests. */
const message = ["message_start", "message_end"];
const orderOfEvents = [
  ["input", "before_agent_start", "agent_start"],
  ["turn_start", ...message, "context", "context_with_system", "message_start", "message_update", "message_end"],
  ["tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end"],
  [...message, "turn_end"],
  ["turn_start", "context", "context_with_system", ...message, "turn_end"],
  ["agent_end", "agent_before_settle", "agent_settled"],
].flat();

test.each(modes)("events of a run come in their order: %s mode", async (mode) => {
  expect(await orderOfARun(mode)).toEqual(orderOfEvents);
});
