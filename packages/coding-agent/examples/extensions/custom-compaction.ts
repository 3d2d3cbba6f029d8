// Compaction without a call of the model: the summary is the list of what the user asked for, and of the files that were
// changed. What is kept, and where the cut is, stays as the program planned it.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function customCompaction(pi: ExtensionAPI): void {
  pi.on("session_before_compact", ({ preparation }) => {
    const { messagesToSummarize, turnPrefixMessages, fileOps, firstKeptEntryId, tokensBefore, previousSummary } =
      preparation;
    const asked = [...messagesToSummarize, ...turnPrefixMessages].flatMap((message) =>
      message.role === "user" ? [`- ${firstLine(message.content)}`] : [],
    );
    const changed = [...fileOps.edited, ...fileOps.written].map((path) => `- ${path}`);
    const parts = [
      ...(previousSummary ? [previousSummary] : []),
      `The user asked for:\n${asked.join("\n")}`,
      ...(changed.length > 0 ? [`Files changed:\n${changed.join("\n")}`] : []),
    ];
    return {
      compaction: { summary: parts.join("\n\n"), firstKeptEntryId, tokensBefore, details: { requests: asked.length } },
    };
  });
}

function firstLine(content: string | readonly { type: string; text?: string }[]): string {
  const text = typeof content === "string" ? content : content.map((block) => block.text ?? "").join(" ");
  return text.split("\n", 1)[0]?.slice(0, 120) ?? "";
}
