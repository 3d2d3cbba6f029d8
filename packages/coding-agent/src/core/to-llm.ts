// The product's messages → the three roles a model knows. What was converted once is kept.

import type { Message, UserMessage } from "@earendil-works/pi-ai";
import type { AgentMessage, BashExecutionMessage } from "./messages.js";

const converted = new WeakMap<AgentMessage, Message>();

/** The message as a model sees it; nothing for those it must not see (failed answers, excluded commands). */
export function toLlmMessage(message: AgentMessage): Message | undefined {
  switch (message.role) {
    case "user":
    case "toolResult":
      return message;
    case "assistant":
      return message.stopReason === "error" || message.stopReason === "aborted" ? undefined : message;
    case "bashExecution":
      return message.excludeFromContext ? undefined : remembered(message, () => bashExecutionText(message));
    case "custom":
      return remembered(message, () => message.content);
    case "branchSummary":
      return remembered(
        message,
        () =>
          `The conversation went on another branch before it came back to this point. What happened there:\n\n<summary>\n${message.summary}\n</summary>`,
      );
    case "compactionSummary":
      return remembered(
        message,
        () =>
          `The earlier part of this conversation was replaced by this summary to make room:\n\n<summary>\n${message.summary}\n</summary>`,
      );
    default:
      return undefined; // a role of another program (`system` among them) is no part of the conversation
  }
}

function remembered(message: AgentMessage, content: () => UserMessage["content"]): Message {
  let result = converted.get(message);
  if (!result) {
    const made = content();
    const blocks = typeof made === "string" ? [{ type: "text" as const, text: made }] : made;
    result = { role: "user", content: blocks, timestamp: message.timestamp };
    converted.set(message, result);
  }
  return result;
}

/** The documented form in which the model learns of a command the user ran. */
export function bashExecutionText(message: BashExecutionMessage): string {
  const { command, output, exitCode, cancelled, truncated, fullOutputPath } = message;
  let text = `Ran \`${command}\`\n`;
  text += output ? `\`\`\`\n${output}\n\`\`\`` : "(no output)";
  if (cancelled) text += "\n\n(command cancelled)";
  else if (exitCode) text += `\n\nCommand exited with code ${exitCode}`;
  if (truncated && fullOutputPath) text += `\n\n[Output truncated. Full output: ${fullOutputPath}]`;
  return text;
}
