// A tool of one's own: parameters as a schema, progress while it works, data beside the text, and a line in the system
// prompt that tells the model when to use it. A throw becomes an error result that the model reads.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function customTool(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "count_words",
    label: "Count words",
    description: "Count the words of a text, and find the longest.",
    promptSnippet: "Count words; use it instead of counting yourself",
    parameters: Type.Object({
      text: Type.String({ description: "The text" }),
      minLength: Type.Optional(Type.Number({ description: "Leave out shorter words" })),
    }),
    execute: async (_toolCallId, { text, minLength = 1 }: { text: string; minLength?: number }, _signal, onUpdate) => {
      const words = text.split(/\s+/).filter((word) => word.length >= minLength);
      if (words.length === 0) throw new Error("There is no word in the text");
      onUpdate?.({ content: [{ type: "text", text: `${words.length} words so far` }], details: {} });
      const longest = words.reduce((best, word) => (word.length > best.length ? word : best));
      return {
        content: [{ type: "text", text: `${words.length} words, the longest is "${longest}"` }],
        details: { count: words.length, longest },
      };
    },
  });
}
