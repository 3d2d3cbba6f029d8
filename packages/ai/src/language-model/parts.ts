// Turns the stream parts of a provider's package into our events, block by block.

import type { LanguageModelV3StreamPart, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import type { MessageBuilder } from "../message-builder.js";
import { classifyProviderError, failureInfo, ProviderError } from "../provider-error.js";
import type { AssistantMessageEvent, ProviderErrorKind, Usage } from "../types.js";
import { withCost } from "../usage.js";
import type { Dialect, DialectCall, Ending } from "./dialect.js";

/**
 * Reads the parts of one answer. Events go to `emit` in order: a text or thinking block is ended before another block
 * starts, empty deltas are dropped, and a character cut in half between two deltas is put together again.
 */
export class PartReader {
  readonly #builder: MessageBuilder;
  readonly #dialect: Dialect;
  readonly #call: DialectCall;
  readonly #emit: (event: AssistantMessageEvent) => void;
  /** Place of a tool call by the id the package gave it. */
  readonly #calls = new Map<string, number>();
  /** The first half of a surrogate pair, waiting for its second half in the block at `#halfAt`. */
  #half = "";
  #halfAt = -1;
  #signature = "";
  #redacted = false;
  #failure: ProviderError | undefined;
  #finished = false;
  #unifiedReason: string | undefined;

  /** Signature of thinking blocks that bring none of their own; asked when such a block ends. */
  defaultSignature: () => string | undefined = () => undefined;

  constructor(
    builder: MessageBuilder,
    dialect: Dialect,
    call: DialectCall,
    emit: (event: AssistantMessageEvent) => void,
  ) {
    this.#builder = builder;
    this.#dialect = dialect;
    this.#call = call;
    this.#emit = emit;
  }

  /** Set when the answer is over: the provider said so, or it failed. */
  get isOver(): boolean {
    return this.#finished || this.#failure !== undefined;
  }

  take(part: LanguageModelV3StreamPart): void {
    switch (part.type) {
      case "text-delta":
        if (part.delta !== "") this.text(part.delta);
        this.#keepSignature(part.providerMetadata);
        return;
      case "reasoning-delta": {
        if (part.delta !== "") this.thinking(part.delta);
        this.#keepSignature(part.providerMetadata);
        const signature = part.providerMetadata?.anthropic?.signature;
        if (typeof signature === "string") this.#signature += signature;
        return;
      }
      case "tool-input-delta":
        if (part.delta !== "") this.#argumentText(this.#calls.get(part.id), part.delta);
        return;
      case "text-start":
        this.#endOpenBlock();
        this.#emit(this.#builder.startText());
        return;
      case "reasoning-start": {
        this.thinking("");
        const redacted = part.providerMetadata?.anthropic?.redactedData;
        this.#redacted = typeof redacted === "string";
        this.#signature = typeof redacted === "string" ? redacted : "";
        return;
      }
      case "text-end":
        if (this.#builder.openBlock !== "text") return;
        this.#keepSignature(part.providerMetadata);
        this.#endOpenBlock();
        return;
      case "reasoning-end":
        if (this.#builder.openBlock !== "thinking") return;
        this.#keepSignature(part.providerMetadata);
        this.#endOpenBlock();
        return;
      case "tool-input-start":
        this.#startCall(part.id, part.toolName);
        return;
      case "tool-call":
        this.#endCall(part);
        return;
      case "response-metadata":
        if (part.id) this.#builder.message.responseId = part.id;
        if (part.modelId) this.#builder.message.responseModel = part.modelId;
        return;
      case "raw": {
        const { usage } = part.rawValue as WireExtra;
        if (usage) this.setUsage(usage);
        return;
      }
      case "finish":
        this.#finished = true;
        this.#unifiedReason = part.finishReason.unified;
        if (part.finishReason.raw !== undefined) this.setRawStopReason(part.finishReason.raw);
        this.#dialect.readFinish?.(part, this);
        return;
      case "error":
        this.#readError(part.error);
        return;
    }
  }

  /** Text of the answer, in the open text block or a new one. */
  text(delta: string): void {
    if (this.#builder.openBlock !== "text") {
      this.#endOpenBlock();
      this.#emit(this.#builder.startText());
    }
    const whole = this.#join(this.#builder.message.content.length - 1, delta);
    if (whole !== "") this.#emit(this.#builder.appendText(whole));
  }

  /** Thinking, in the open thinking block or a new one; an empty delta only makes sure that there is one. */
  thinking(delta: string): void {
    if (this.#builder.openBlock !== "thinking") {
      this.#endOpenBlock();
      this.#emit(this.#builder.startThinking());
    }
    const whole = delta === "" ? "" : this.#join(this.#builder.message.content.length - 1, delta);
    if (whole !== "") this.#emit(this.#builder.appendThinking(whole));
  }

  /** What the call used so far; the cost is added here. */
  setUsage(usage: Usage): void {
    this.#builder.reportUsage(withCost(this.#call.model, usage));
  }

  setRawStopReason(raw: string): void {
    this.#builder.message.rawStopReason = raw;
  }

  /** The answer failed: nothing the provider still sends counts. */
  fail(error: ProviderError): void {
    this.#failure ??= error;
  }

  /** An error record that came inside the stream. */
  failWith(body: unknown): void {
    const info = failureInfo({ body });
    this.fail(new ProviderError(this.#dialect.streamErrorText(body), info));
  }

  /** Emits the last events, once the stream is over or nothing more of it counts. */
  conclude(): void {
    const ending = this.#failure ?? this.#ending();
    this.#flushHalf();
    this.#endOpenBlock();
    const events =
      ending instanceof ProviderError
        ? this.#builder.fail("error", ending.info, ending.message)
        : this.#builder.done(ending);
    for (const event of events) this.#emit(event);
  }

  #ending(): Ending {
    if (!this.#finished) return failed("incomplete", "Stream ended before the answer was complete");
    const { message } = this.#builder;
    return this.#dialect.ending({ raw: message.rawStopReason, unified: this.#unifiedReason, message }, this.#call);
  }

  #readError(error: unknown): void {
    const record = error as { name?: string; value?: unknown; message?: string };
    // A chunk the package does not know: what it lost is read here, and the stream goes on.
    if (record?.name === "AI_TypeValidationError") {
      this.#dialect.readOddChunk?.(record.value, this);
      return;
    }
    // Whether a missing finish reason is a failure, the dialect decides at the end.
    if (record?.name === "AI_InvalidResponseDataError" && record.message?.includes("without a finish reason")) return;
    if (error instanceof Error) this.fail(classifyProviderError(error));
    else this.failWith(error);
  }

  #startCall(id: string, name: string): number {
    this.#endOpenBlock();
    const event = this.#builder.startToolCall(id, name);
    this.#calls.set(id, event.contentIndex);
    this.#emit(event);
    return event.contentIndex;
  }

  #argumentText(contentIndex: number | undefined, delta: string): void {
    if (contentIndex === undefined) return;
    const whole = this.#join(contentIndex, delta);
    if (whole !== "") this.#emit(this.#builder.appendToolCall(contentIndex, whole));
  }

  #endCall(part: LanguageModelV3StreamPart & { type: "tool-call" }): void {
    if (part.providerExecuted) return;
    const contentIndex = this.#calls.get(part.toolCallId) ?? this.#startCall(part.toolCallId, part.toolName);
    const known = this.#builder.argumentText(contentIndex);
    if (known === undefined) return; // ended before
    // Arguments that came whole, without deltas.
    if (known === "" && part.input !== "" && part.input !== "{}") this.#argumentText(contentIndex, part.input);
    this.#flushHalf();
    const { signature, namespace } = wireFields(part.providerMetadata);
    this.#emit(this.#builder.endToolCall(contentIndex, signature, namespace));
  }

  /** The signature that our own translators give a block, whole; the last one counts. */
  #keepSignature(metadata: SharedV3ProviderMetadata | undefined): void {
    if (metadata?.wire && this.#builder.openBlock) this.#signature = wireFields(metadata).signature ?? this.#signature;
  }

  #endOpenBlock(): void {
    const open = this.#builder.openBlock;
    if (!open) return;
    this.#flushHalf();
    if (open === "text") this.#emit(this.#builder.endText(this.#signature));
    else this.#emit(this.#builder.endThinking(this.#signature || this.defaultSignature(), this.#redacted));
    this.#signature = "";
    this.#redacted = false;
  }

  /** The delta with the half character kept from before; a half at its end is kept for the next one. */
  #join(contentIndex: number, delta: string): string {
    let whole = delta;
    if (this.#half !== "") {
      if (this.#halfAt === contentIndex) {
        whole = this.#half + delta;
        this.#half = "";
      } else this.#flushHalf();
    }
    const last = whole.charCodeAt(whole.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = whole.slice(-1);
      this.#halfAt = contentIndex;
      return whole.slice(0, -1);
    }
    return whole;
  }

  /** A half character whose other half never came. */
  #flushHalf(): void {
    if (this.#half === "") return;
    this.#half = "";
    const type = this.#builder.message.content[this.#halfAt]?.type;
    if (type === "toolCall") this.#emit(this.#builder.appendToolCall(this.#halfAt, "\ufffd"));
    else if (type === "text") this.#emit(this.#builder.appendText("\ufffd"));
    else this.#emit(this.#builder.appendThinking("\ufffd"));
  }
}

/** A failure that the provider did not put into words. */
export function failed(kind: ProviderErrorKind, text: string): ProviderError {
  return new ProviderError(text, { kind });
}

/** What our own translators put into a `raw` part. */
export interface WireExtra {
  usage?: Usage;
}

/** What our own translators say beside the common interface, under the name `wire`. */
function wireFields(metadata: SharedV3ProviderMetadata | undefined): { signature?: string; namespace?: string } {
  const { signature, namespace } = metadata?.wire ?? {};
  return {
    ...(typeof signature === "string" && { signature }),
    ...(typeof namespace === "string" && { namespace }),
  };
}
