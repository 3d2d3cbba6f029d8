// A tool that asks the model a question of its own, with an empty context: what it reads does not fill the conversation.
// `ctx.modelRegistry.complete` uses the session's credentials. The call ends with the run, and a failure is an error result.

import type { ExtensionAPI, ExtensionToolContext } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function subagent(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "ask_reviewer",
    label: "Ask a reviewer",
    description: "Have a text reviewed by somebody who knows nothing of this conversation.",
    parameters: Type.Object({ text: Type.String({ description: "Everything the reviewer needs to know" }) }),
    execute: async (_toolCallId, { text }: { text: string }, signal, _onUpdate, ctx: ExtensionToolContext) => {
      if (!ctx.model) throw new Error("No model is selected");
      const answer = await ctx.modelRegistry.complete(
        ctx.model,
        {
          systemPrompt: "You review texts. Name the three weakest points, one line each.",
          messages: [{ role: "user", content: [{ type: "text", text }], timestamp: Date.now() }],
        },
        signal ? { signal } : {},
      );
      if (answer.stopReason !== "stop")
        throw new Error(answer.errorMessage ?? `The reviewer ended by ${answer.stopReason}`);
      const review = answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      return { content: [{ type: "text", text: review }], details: { usage: answer.usage }, usage: answer.usage };
    },
  });
}
