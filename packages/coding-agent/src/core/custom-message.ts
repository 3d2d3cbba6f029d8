// A message that an extension sends → the message of a conversation.

import { isBlock, whyNoJson } from "@earendil-works/pi-agent-core";
import type { CustomMessageDraft } from "../extensions/host.js";
import type { CustomMessage } from "./messages.js";

/**
 * A message of an extension as it stands in a conversation. Throws an error that says what is wrong with it: it would
 * keep every later request from being made, or the session from being written.
 */
export function customMessage(draft: CustomMessageDraft): CustomMessage {
  const { customType, content, display = true, details } = draft ?? {};
  if (typeof customType !== "string" || !customType) throw new Error("Cannot send a message without a customType");
  const what = `message "${customType}"`;
  if (typeof content !== "string" && !(Array.isArray(content) && content.every(isBlock)))
    throw new Error(`Cannot send ${what}: content is a text or a list of texts and images`);
  mustBeJson(details, `details of ${what}`);
  return {
    role: "custom",
    customType,
    content,
    display: display !== false,
    ...(details !== undefined && { details }),
    timestamp: Date.now(),
  };
}

/** Throws for what cannot be written to a session. */
export function mustBeJson(value: unknown, what: string): void {
  const reason = whyNoJson(value);
  if (reason !== undefined) throw new Error(`Cannot keep ${what}: ${reason}`);
}
