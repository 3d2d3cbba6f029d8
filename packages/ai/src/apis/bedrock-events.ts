// The frames of a Bedrock Converse stream → parts.

import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import { failed } from "../language-model/parts.js";
import {
  type EventTranslator,
  type Framing,
  finish,
  type PushPart,
  parseEvent,
  usageSoFar,
} from "../language-model/wire-model.js";
import type { Usage } from "../types.js";
import { emptyUsage } from "../usage.js";

/** One frame: its kind, such as `contentBlockDelta` or the name of an exception, and its JSON. */
export interface Frame {
  name: string;
  isException: boolean;
  data: string;
}

/** The frames of an AWS event stream. Bytes that are no whole frame at the end are left out: the answer was cut off. */
export function awsFrames(emit: (frame: Frame) => void): Framing {
  const codec = new EventStreamCodec(toUtf8, fromUtf8);
  const decoder = new TextDecoder();
  let rest: Uint8Array = new Uint8Array(0);
  return {
    feed(bytes) {
      const all = rest.length === 0 ? bytes : concat(rest, bytes);
      let at = 0;
      while (all.length - at >= 4) {
        const length = new DataView(all.buffer, all.byteOffset + at, 4).getUint32(0);
        if (all.length - at < length) break;
        emit(readFrame(codec, decoder, all.subarray(at, at + length)));
        at += length;
      }
      rest = all.slice(at);
    },
    end() {},
  };
}

function readFrame(codec: EventStreamCodec, decoder: { decode(bytes: Uint8Array): string }, bytes: Uint8Array): Frame {
  let message: ReturnType<EventStreamCodec["decode"]>;
  try {
    message = codec.decode(bytes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw failed("incomplete", `Cannot read the answer: ${reason}`);
  }
  const header = (name: string) => String(message.headers[name]?.value ?? "");
  const isException = header(":message-type") !== "event";
  const name = header(":event-type") || header(":exception-type") || header(":error-code");
  return { name, isException, data: decoder.decode(message.body) };
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

interface Block {
  contentBlockIndex?: number;
  start?: { toolUse?: { toolUseId?: string; name?: string } };
  delta?: {
    text?: string;
    toolUse?: { input?: string };
    reasoningContent?: { text?: string; signature?: string; redactedContent?: string };
  };
}

interface RawUsage {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadInputTokens?: number | null;
  cacheWriteInputTokens?: number | null;
  cacheDetails?: readonly { ttl?: string; inputTokens?: number }[] | null;
}

/** A tool call or thinking that streams, by its place in the answer. */
interface OpenBlock {
  call?: { id: string; name: string; text: string };
  thinks?: boolean;
}

export class ConverseTranslator implements EventTranslator<Frame> {
  isOver = false;
  readonly #push: PushPart;
  readonly #blocks = new Map<number, OpenBlock>();
  #stopReason: string | undefined;

  constructor(push: PushPart) {
    this.#push = push;
  }

  take({ name, isException, data }: Frame): void {
    const record = parseEvent(data, this.#push);
    if (!record) return;
    if (isException) {
      this.#push({ type: "error", error: { error: { code: name, ...record } } });
      return;
    }
    switch (name) {
      case "contentBlockStart":
        this.#start(record);
        return;
      case "contentBlockDelta":
        this.#delta(record);
        return;
      case "contentBlockStop":
        this.#stop(record);
        return;
      case "messageStop":
        this.#stopReason = String(record.stopReason);
        return;
      case "metadata":
        if (record.usage) this.#push(usageSoFar(readUsage(record.usage)));
        // The last frame; usage comes behind the reason.
        if (this.#stopReason !== undefined) this.end();
    }
  }

  end(): void {
    if (this.isOver || this.#stopReason === undefined) return;
    this.isOver = true;
    this.#push(finish(this.#stopReason));
  }

  #start({ contentBlockIndex = 0, start }: Block): void {
    if (!start?.toolUse) return;
    const { toolUseId: id = `call_${crypto.randomUUID().replaceAll("-", "")}`, name = "" } = start.toolUse;
    this.#blocks.set(contentBlockIndex, { call: { id, name, text: "" } });
    this.#push({ type: "tool-input-start", id, toolName: name });
  }

  #delta({ contentBlockIndex = 0, delta }: Block): void {
    const block = this.#blocks.get(contentBlockIndex);
    if (delta?.text) this.#push({ type: "text-delta", id: "text", delta: delta.text });
    if (delta?.toolUse?.input && block?.call) {
      block.call.text += delta.toolUse.input;
      this.#push({ type: "tool-input-delta", id: block.call.id, delta: delta.toolUse.input });
    }
    if (delta?.reasoningContent) this.#thinking(contentBlockIndex, delta.reasoningContent);
  }

  #thinking(
    index: number,
    { text = "", signature, redactedContent }: NonNullable<Block["delta"]>["reasoningContent"] & {},
  ) {
    const isOpen = this.#blocks.has(index);
    this.#blocks.set(index, { thinks: true });
    if (redactedContent) {
      const providerMetadata = { anthropic: { redactedData: redactedContent } };
      this.#push({ type: "reasoning-start", id: "reasoning", providerMetadata });
      return;
    }
    if (!isOpen) this.#push({ type: "reasoning-start", id: "reasoning" });
    const wire = signature ? { providerMetadata: { anthropic: { signature } } } : {};
    this.#push({ type: "reasoning-delta", id: "reasoning", delta: text, ...wire });
  }

  #stop({ contentBlockIndex = 0 }: Block): void {
    const block = this.#blocks.get(contentBlockIndex);
    this.#blocks.delete(contentBlockIndex);
    if (block?.call) {
      const { id, name, text } = block.call;
      this.#push({ type: "tool-call", toolCallId: id, toolName: name, input: text });
    } else this.#push({ type: block?.thinks ? "reasoning-end" : "text-end", id: "" });
  }
}

/** `inputTokens` leaves cached tokens out, as ours do. */
function readUsage(record: unknown): Usage {
  const raw = record as RawUsage;
  const usage = emptyUsage();
  usage.input = raw.inputTokens ?? 0;
  usage.output = raw.outputTokens ?? 0;
  usage.cacheRead = raw.cacheReadInputTokens ?? 0;
  usage.cacheWrite = raw.cacheWriteInputTokens ?? 0;
  const oneHour = raw.cacheDetails?.filter(({ ttl }) => ttl === "1h");
  if (oneHour?.length) usage.cacheWrite1h = oneHour.reduce((sum, { inputTokens = 0 }) => sum + inputTokens, 0);
  usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return usage;
}
