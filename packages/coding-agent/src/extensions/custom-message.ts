// A message of an extension as it stands in a conversation.

import type { CustomMessage } from "../core/messages.js";
import type { CustomMessageDraft } from "./host.js";

/** Shown unless it says otherwise; dated now. */
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
