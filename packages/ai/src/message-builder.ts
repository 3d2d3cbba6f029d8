// Assembles deltas into the message so far; the only place that does, for adapters, clients and tests.

import { type ArgumentText, parseObject, readSoFar } from "./argument-text.js";
import type {
  AssistantMessage,
  AssistantMessageEvent,
  ErrorInfo,
  Model,
  TextContent,
  ThinkingContent,
  ThinkingLevel,
  ToolCall,
  Usage,
} from "./types.js";
import { emptyUsage } from "./usage.js";

type WithoutMessage<E> = E extends unknown ? Omit<E, "partial" | "message" | "error"> : never;

/** An event as it goes over a wire: without the message so far; a final message may come with the last one. */
export type AssistantMessageDelta = WithoutMessage<AssistantMessageEvent> & {
  message?: AssistantMessage;
  error?: AssistantMessage;
};

/** Who answers; the start of every message. */
export interface MessageOrigin {
  model: Pick<Model, "id" | "api" | "provider">;
  thinkingLevel?: ThinkingLevel;
  /** Milliseconds since the epoch; now when absent. */
  timestamp?: number;
}

const builders = new WeakMap<AssistantMessage, MessageBuilder>();

/**
 * Builds one assistant message. Every method changes the one live `message` and returns the event that says so; text is
 * appended, never copied. At most one text or thinking block is open, so end it (`endOpenBlock`) before starting the next.
 */
export class MessageBuilder {
  readonly message: AssistantMessage;
  /** Place of the open text or thinking block, -1 when none is open. */
  #open = -1;
  #reportedCharacters: number | undefined;
  /** Arguments of the tool calls that have not ended, by place. */
  readonly #arguments = new Map<number, ArgumentText>();

  /** Goes on with a message that exists, such as the snapshot in `message_start`; the object itself is changed. */
  constructor(message: AssistantMessage) {
    this.message = message;
    builders.set(message, this);
  }

  /** A builder of a new, empty message. */
  static begin(origin: MessageOrigin): MessageBuilder {
    return new MessageBuilder({
      role: "assistant",
      content: [],
      api: origin.model.api,
      provider: origin.model.provider,
      model: origin.model.id,
      ...(origin.thinkingLevel ? { thinkingLevel: origin.thinkingLevel } : {}),
      usage: emptyUsage(),
      stopReason: "pending",
      timestamp: origin.timestamp ?? Date.now(),
    });
  }

  /** The builder of a live message, or one that adopts it. */
  static of(message: AssistantMessage): MessageBuilder {
    return builders.get(message) ?? new MessageBuilder(message);
  }

  /** Takes the usage the provider reported; what arrives after the last report is estimated if the answer is cut off. */
  reportUsage(usage: Usage): void {
    this.message.usage = usage;
    this.#reportedCharacters = this.characters;
  }

  /** How much of the answer the provider's last report of usage covers, in characters; undefined without a report. */
  get reportedCharacters(): number | undefined {
    return this.#reportedCharacters;
  }

  /** The length of the answer so far: text, thinking and argument text, in characters. */
  get characters(): number {
    let count = 0;
    for (const [index, block] of this.message.content.entries())
      if (block.type === "text") count += block.text.length;
      else if (block.type === "thinking") count += block.thinking.length;
      else count += (this.argumentText(index) ?? block.incompleteArguments ?? JSON.stringify(block.arguments)).length;
    return count;
  }

  start(): AssistantMessageEvent {
    return { type: "start", partial: this.message };
  }

  startText(): AssistantMessageEvent {
    this.#open = this.message.content.push({ type: "text", text: "" }) - 1;
    return { type: "text_start", contentIndex: this.#open, partial: this.message };
  }

  appendText(delta: string): AssistantMessageEvent {
    (this.message.content[this.#open] as TextContent).text += delta;
    return { type: "text_delta", contentIndex: this.#open, delta, partial: this.message };
  }

  /** `signature` is opaque provider metadata to send back with the text. */
  endText(signature?: string): AssistantMessageEvent {
    const contentIndex = this.#open;
    const block = this.message.content[contentIndex] as TextContent;
    if (signature) block.textSignature = signature;
    this.#open = -1;
    return { type: "text_end", contentIndex, content: block.text, partial: this.message };
  }

  startThinking(): AssistantMessageEvent {
    this.#open = this.message.content.push({ type: "thinking", thinking: "" }) - 1;
    return { type: "thinking_start", contentIndex: this.#open, partial: this.message };
  }

  appendThinking(delta: string): AssistantMessageEvent {
    (this.message.content[this.#open] as ThinkingContent).thinking += delta;
    return { type: "thinking_delta", contentIndex: this.#open, delta, partial: this.message };
  }

  endThinking(signature?: string, redacted?: boolean): AssistantMessageEvent {
    const contentIndex = this.#open;
    const block = this.message.content[contentIndex] as ThinkingContent;
    if (signature) block.thinkingSignature = signature;
    if (redacted) block.redacted = true;
    this.#open = -1;
    return { type: "thinking_end", contentIndex, content: block.thinking, partial: this.message };
  }

  /** The kind of the open block; undefined when no text or thinking block is open. */
  get openBlock(): "text" | "thinking" | undefined {
    return this.#open < 0 ? undefined : (this.message.content[this.#open]?.type as "text" | "thinking");
  }

  /** Ends the open text or thinking block; undefined when there is none. */
  endOpenBlock(): AssistantMessageEvent | undefined {
    const open = this.openBlock;
    if (!open) return undefined;
    return open === "text" ? this.endText() : this.endThinking();
  }

  /** The event's `contentIndex` names the call from here on. */
  startToolCall(id: string, name: string): AssistantMessageEvent & { type: "toolcall_start" } {
    const contentIndex = this.message.content.length;
    this.#addToolCall(contentIndex, id, name);
    return { type: "toolcall_start", contentIndex, id, toolName: name, partial: this.message };
  }

  appendToolCall(contentIndex: number, delta: string): AssistantMessageEvent {
    const argumentText = this.#arguments.get(contentIndex);
    if (argumentText) argumentText.text += delta;
    return { type: "toolcall_delta", contentIndex, delta, partial: this.message };
  }

  /**
   * Ends a call: its argument text must be a JSON object (no text at all means `{}`); otherwise `arguments` is `{}` and
   * `incompleteArguments` keeps the text.
   */
  endToolCall(contentIndex: number, thoughtSignature?: string, namespace?: string): AssistantMessageEvent {
    const block = this.message.content[contentIndex] as ToolCall;
    const text = this.#arguments.get(contentIndex)?.text ?? "";
    this.#arguments.delete(contentIndex);
    const value = parseObject(text);
    setArguments(block, value ?? {});
    if (!value) block.incompleteArguments = text;
    if (thoughtSignature) block.thoughtSignature = thoughtSignature;
    if (namespace) block.namespace = namespace;
    return { type: "toolcall_end", contentIndex, toolCall: block, partial: this.message };
  }

  /** Argument text of a call that has not ended; undefined for any other place. */
  argumentText(contentIndex: number): string | undefined {
    return this.#arguments.get(contentIndex)?.text;
  }

  /** Ends the message well. Blocks still open are ended first: the last event of the list is `done`. */
  done(reason: "stop" | "length" | "toolUse"): AssistantMessageEvent[] {
    const events = this.#endAll(false);
    this.message.stopReason = reason;
    events.push({ type: "done", reason, message: this.message });
    return events;
  }

  /** Ends the message badly, keeping what it has. The last event of the list is `error`. */
  fail(reason: "error" | "aborted", info: ErrorInfo, errorMessage: string): AssistantMessageEvent[] {
    const events = this.#endAll(true);
    this.message.stopReason = reason;
    this.message.error = info;
    this.message.errorMessage = errorMessage;
    events.push({ type: "error", reason, error: this.message });
    return events;
  }

  /**
   * Takes an event from a wire and returns it with the message so far. A block whose start was missed is begun; text in
   * a `*_end` and the call in `toolcall_end` win over what the deltas gave.
   */
  apply(event: AssistantMessageDelta): AssistantMessageEvent {
    const partial = this.message;
    switch (event.type) {
      case "start":
        return { ...event, partial };
      case "text_start":
      case "text_delta":
      case "text_end": {
        const block = this.#place(event.contentIndex, "text", () => ({ type: "text", text: "" })) as TextContent;
        if (event.type === "text_delta") block.text += event.delta;
        if (event.type === "text_end") block.text = event.content;
        this.#open = event.type === "text_end" ? -1 : event.contentIndex;
        return { ...event, partial };
      }
      case "thinking_start":
      case "thinking_delta":
      case "thinking_end": {
        const begin = (): ThinkingContent => ({ type: "thinking", thinking: "" });
        const block = this.#place(event.contentIndex, "thinking", begin) as ThinkingContent;
        if (event.type === "thinking_delta") block.thinking += event.delta;
        if (event.type === "thinking_end") block.thinking = event.content;
        this.#open = event.type === "thinking_end" ? -1 : event.contentIndex;
        return { ...event, partial };
      }
      case "toolcall_start":
        this.#addToolCall(event.contentIndex, event.id, event.toolName);
        return { ...event, partial };
      case "toolcall_delta":
        if (!this.#arguments.has(event.contentIndex)) this.#addToolCall(event.contentIndex, "", "");
        return this.appendToolCall(event.contentIndex, event.delta);
      case "toolcall_end":
        this.#arguments.delete(event.contentIndex);
        this.message.content[event.contentIndex] = event.toolCall;
        return { ...event, partial };
      case "done":
        if (event.message) Object.assign(partial, event.message);
        partial.stopReason = event.reason;
        return { type: "done", reason: event.reason, message: partial };
      case "error":
        if (event.error) Object.assign(partial, event.error);
        partial.stopReason = event.reason;
        return { type: "error", reason: event.reason, error: partial };
    }
  }

  #place(index: number, type: string, begin: () => AssistantMessage["content"][number]) {
    const content = this.message.content;
    let block = content[index];
    if (block?.type !== type) {
      block = begin();
      content[index] = block;
    }
    return block;
  }

  #addToolCall(index: number, id: string, name: string): void {
    const argumentText: ArgumentText = { text: "", readLength: 0, value: {} };
    this.#arguments.set(index, argumentText);
    this.message.content[index] = {
      type: "toolCall",
      id,
      name,
      // Parsed when somebody looks: parsing at every delta would cost the square of the length.
      get arguments() {
        return readSoFar(argumentText);
      },
    };
  }

  #endAll(failed: boolean): AssistantMessageEvent[] {
    const events: AssistantMessageEvent[] = [];
    const open = this.endOpenBlock();
    if (open) events.push(open);
    for (const index of [...this.#arguments.keys()]) {
      const text = this.argumentText(index) ?? "";
      const ended = this.endToolCall(index);
      // A call cut off before any argument came is not a call without arguments.
      if (failed && text === "") (this.message.content[index] as ToolCall).incompleteArguments = "";
      events.push(ended);
    }
    return events;
  }
}

function setArguments(block: ToolCall, value: Record<string, unknown>): void {
  Object.defineProperty(block, "arguments", { value, writable: true, enumerable: true, configurable: true });
}
