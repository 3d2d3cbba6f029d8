// A provider with a wire format of its own: `--model echo/parrot` answers with what the user said. `streamSimple` gives the
// events of one answer; a real one would call a server and use the key that is in `options.apiKey`.

import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function customProvider(pi: ExtensionAPI): void {
  pi.registerProvider("echo", {
    name: "Echo",
    models: [{ id: "parrot", name: "Parrot", contextWindow: 8_000, maxTokens: 1_000 }],
    streamSimple: (model, { messages }) => {
      const stream = createAssistantMessageEventStream();
      const text = `You said: ${lastText(messages)}`;
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
      const message = {
        role: "assistant" as const,
        content: [{ type: "text" as const, text }],
        api: model.api,
        provider: model.provider,
        model: model.id,
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost },
        stopReason: "stop" as const,
        timestamp: Date.now(),
      };
      stream.push({ type: "start", partial: { ...message, content: [] } });
      stream.push({ type: "text_start", contentIndex: 0, partial: message });
      stream.push({ type: "text_delta", contentIndex: 0, delta: text, partial: message });
      stream.push({ type: "text_end", contentIndex: 0, content: text, partial: message });
      stream.push({ type: "done", reason: "stop", message });
      return stream;
    },
  });
}

function lastText(messages: readonly { role: string; content: unknown }[]): string {
  const content = messages.findLast(({ role }) => role === "user")?.content;
  if (typeof content === "string") return content;
  const blocks = (content ?? []) as { type: string; text?: string }[];
  return blocks.flatMap(({ type, text }) => (type === "text" && text ? [text] : [])).join("\n");
}
