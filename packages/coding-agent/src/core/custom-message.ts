// A message that an extension sends → the message of a conversation.

import type { CustomMessageDraft } from "../extensions/host.js";
import type { CustomMessage } from "./messages.js";

/** A message of an extension as it stands in a conversation. */
export function customMessage({ customType, content, display = true, details }: CustomMessageDraft): CustomMessage {
  return {
    role: "custom",
    customType,
    content,
    display,
    ...(details !== undefined && { details }),
    timestamp: Date.now(),
  };
}
