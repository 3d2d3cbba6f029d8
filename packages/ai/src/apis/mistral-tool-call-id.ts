// The form of tool call ids that Mistral's models demand.

import { createHash } from "node:crypto";

/** Nine letters and digits, the same for the same id (https://docs.mistral.ai/capabilities/function_calling). */
export function mistralToolCallId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, 9);
}
