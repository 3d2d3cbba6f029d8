// The text of a user's message, without its images.

import type { UserMessage } from "@earendil-works/pi-ai";

export function userText({ content }: UserMessage): string {
  if (typeof content === "string") return content;
  return content
    .filter((block) => block.type === "text")
    .map(({ text }) => text)
    .join("");
}
