// The text of a message that is text and images, without its images.

import type { UserMessage } from "@earendil-works/pi-ai";
import type { CustomMessage } from "./messages.js";

export function userText({ content }: Pick<UserMessage | CustomMessage, "content">): string {
  if (typeof content === "string") return content;
  return content
    .filter((block) => block.type === "text")
    .map(({ text }) => text)
    .join("");
}
