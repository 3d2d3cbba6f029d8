// Makes a history that every provider accepts: failed answers left out, each tool call followed by its result.

import type { AssistantMessage, Message, ToolCall, ToolResultMessage } from "../types.js";

/**
 * The messages that may be sent, in order. Answers that failed or were aborted are left out; the results of an answer's
 * calls follow it in call order; a call without a result gets an error result, a result without a call is left out.
 */
export function sendableTranscript(messages: readonly Message[]): Message[] {
  const sendable: Message[] = [];
  let calls: readonly ToolCall[] = [];
  /** Results of the open calls, and what people said before all results were in. */
  let results = new Map<string, ToolResultMessage>();
  let waiting: Message[] = [];

  const closeCalls = () => {
    for (const call of calls) sendable.push(results.get(call.id) ?? missingResult(call));
    for (const message of waiting) sendable.push(message);
    calls = [];
    results = new Map();
    waiting = [];
  };

  for (const message of messages) {
    if (message.role === "assistant") {
      if (message.stopReason === "error" || message.stopReason === "aborted") continue;
      closeCalls();
      sendable.push(message);
      calls = callsOf(message);
    } else if (message.role === "toolResult") {
      if (calls.some((call) => call.id === message.toolCallId)) results.set(message.toolCallId, message);
    } else if (message.role === "user") {
      if (calls.length > 0) waiting.push(message);
      else sendable.push(message);
    }
  }
  closeCalls();
  return sendable;
}

function callsOf(message: AssistantMessage): ToolCall[] {
  return message.content.filter((block): block is ToolCall => block.type === "toolCall");
}

const missingResults = new WeakMap<ToolCall, ToolResultMessage>();

/** One object a call, so that its converted form is kept like that of any other message. */
function missingResult(call: ToolCall): ToolResultMessage {
  let result = missingResults.get(call);
  if (!result) {
    result = {
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: [{ type: "text", text: "No result: the tool call was interrupted" }],
      isError: true,
      timestamp: 0,
    };
    missingResults.set(call, result);
  }
  return result;
}
