// A model without a model: it understands a few kinds of sentences and really drives the tools it is offered. No key, no network.

import { MessageBuilder } from "../message-builder.js";
import type { AssistantMessageEvent, Context, ToolResultMessage, UserMessage } from "../types.js";
import { describeResults } from "./demo-answer.js";
import { findRequests, type Request, toToolCall } from "./demo-requests.js";
import type { ApiImplementation } from "./index.js";

/**
 * Answers from the last user message and what the tools gave since. The same conversation always gets the same answer.
 * Usage is a count of characters divided by 4; everything is free of charge.
 */
export const demoApi: ApiImplementation = {
  async *stream(model, context, options) {
    const thinkingLevel = options.thinkingLevel ?? "off";
    const builder = MessageBuilder.begin({ model, thinkingLevel });
    const usage = builder.message.usage;
    usage.input = tokens(contextLength(context));
    usage.totalTokens = usage.input;
    const next = decide(context);
    const events = write(builder, thinkingLevel === "off" ? { ...next, thought: undefined } : next);
    yield builder.start();
    for (const event of events) {
      // A turn of the event loop between deltas lets an abort come in.
      await new Promise((resolve) => setImmediate(resolve));
      if (options.signal.aborted) return;
      usage.output = tokens(answerLength(builder));
      usage.totalTokens = usage.input + usage.output;
      yield event;
    }
  },
};

/** What to say and what to call; without calls it is the end. */
interface Decision {
  thought: string | undefined;
  text: string;
  calls: { id: string; name: string; arguments: Record<string, unknown> }[];
}

const abilities =
  "I am the demo model: no neural network, a few rules. I can list files, read a file, search for a quoted word, run a " +
  "`command`, create a file with given content, and replace one text by another in a file. For example: " +
  'read README.md, or: create the file hello.txt with "Hello", or: replace "Hello" with "Bye" in hello.txt.';

function decide(context: Context): Decision {
  const start = context.messages.findLastIndex((message) => message.role === "user");
  const user = context.messages[start] as UserMessage | undefined;
  const since = context.messages.slice(start + 1);
  const offered = new Set((context.tools ?? []).map((tool) => tool.name));
  const requests = user ? findRequests(textOf(user.content)) : [];
  const possible = requests.filter((request) => toToolCall(request, offered));
  const batches = inBatches(possible);
  const done = since.filter((message) => message.role === "assistant" && hasToolCall(message.content)).length;
  const batch = batches[done];
  if (batch) {
    const calls = batch.map((request, index) => ({
      id: `demo_${start}_${done}_${index}`,
      ...toToolCall(request, offered)!,
    }));
    const names = [...new Set(calls.map((call) => call.name))].join(" and ");
    const thought = `The user asks me to ${batch.map(describeRequest).join(" and ")}. The ${names} tool does that.`;
    return { thought, text: `I will ${batch.map(describeRequest).join(" and ")}.`, calls };
  }
  const images =
    user && typeof user.content !== "string" ? user.content.filter((block) => block.type === "image").length : 0;
  const parts: string[] = [];
  if (images > 0) parts.push(`I was given ${images === 1 ? "an image" : `${images} images`}, but I cannot see.`);
  const results = since.filter((message): message is ToolResultMessage => message.role === "toolResult");
  if (results.length > 0) parts.push(describeResults(possible, results));
  for (const request of requests)
    if (!possible.includes(request)) parts.push(`I cannot ${describeRequest(request)}: I was not given a tool for it.`);
  const thought =
    results.length > 0 ? "The tools have answered; I tell what they found." : "There is nothing to call a tool for.";
  return { thought, text: parts.join("\n\n") || abilities, calls: [] };
}

/** Requests that only look go together; one that changes something waits for those before it, and those after it wait. */
function inBatches(requests: readonly Request[]): Request[][] {
  const batches: Request[][] = [];
  let isOpen = false;
  for (const request of requests) {
    const looks = request.kind === "list" || request.kind === "read" || request.kind === "search";
    if (looks && isOpen) batches.at(-1)!.push(request);
    else batches.push([request]);
    isOpen = looks;
  }
  return batches;
}

function describeRequest(request: Request): string {
  switch (request.kind) {
    case "list":
      return request.path === "." ? "list the files in this directory" : `list the files in ${request.path}`;
    case "read":
      return `read ${request.path}`;
    case "search":
      return `search for "${request.text}"${request.path === "." ? "" : ` in ${request.path}`}`;
    case "run":
      return `run \`${request.command}\``;
    case "create":
      return `create ${request.path}`;
    case "replace":
      return `replace "${request.oldText}" with "${request.newText}" in ${request.path}`;
  }
}

/** The answer as deltas; made while it is read, since each step changes the live message. */
function* write(builder: MessageBuilder, decision: Decision): Generator<AssistantMessageEvent> {
  if (decision.thought) {
    yield builder.startThinking();
    for (const piece of inPieces(decision.thought)) yield builder.appendThinking(piece);
    yield builder.endThinking();
  }
  yield builder.startText();
  for (const piece of inPieces(decision.text)) yield builder.appendText(piece);
  yield builder.endText();
  for (const call of decision.calls) {
    const start = builder.startToolCall(call.id, call.name);
    yield start;
    for (const piece of inHalves(JSON.stringify(call.arguments)))
      yield builder.appendToolCall(start.contentIndex, piece);
    yield builder.endToolCall(start.contentIndex);
  }
  yield* builder.done(decision.calls.length > 0 ? "toolUse" : "stop");
}

/** Three words at a time, which never cuts a character. */
function inPieces(text: string): string[] {
  return text.match(/(?:\s*\S+){1,3}\s*/g) ?? [text];
}

function inHalves(text: string): [string, string] {
  const middle = Math.floor(text.length / 2);
  const isPair = /[\ud800-\udbff]/.test(text.charAt(middle - 1));
  const cut = isPair ? middle + 1 : middle;
  return [text.slice(0, cut), text.slice(cut)];
}

function hasToolCall(content: readonly { type: string }[]): boolean {
  return content.some((block) => block.type === "toolCall");
}

function textOf(content: UserMessage["content"]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function contextLength(context: Context): number {
  const tools = JSON.stringify(context.tools ?? []).length;
  let length = (context.systemPrompt?.length ?? 0) + tools;
  for (const { content } of context.messages)
    length +=
      typeof content === "string" ? content.length : content.reduce((sum, block) => sum + blockLength(block), 0);
  return length;
}

/** An image counts as 4,800 characters, about what providers charge for one of a megapixel. */
function blockLength(block: Exclude<Context["messages"][number]["content"], string>[number]): number {
  if (block.type === "text") return block.text.length;
  if (block.type === "thinking") return block.thinking.length;
  if (block.type === "image") return 4800;
  return block.name.length + JSON.stringify(block.arguments).length;
}

function answerLength(builder: MessageBuilder): number {
  const { content } = builder.message;
  return content.reduce((sum, block, index) => sum + (builder.argumentText(index)?.length ?? blockLength(block)), 0);
}

function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}
