// The events of a Responses stream → parts: items with their texts, reasoning and calls, and how the response ended.

import { type EventTranslator, finish, type PushPart, parseEvent, usageSoFar } from "../language-model/wire-model.js";
import type { Usage } from "../types.js";
import { emptyUsage } from "../usage.js";
import type { ItemSignature } from "./openai-responses-input.js";

interface Item {
  type?: string;
  id?: string;
  call_id?: string;
  name?: string;
  namespace?: string;
  arguments?: string;
  phase?: string | null;
  encrypted_content?: string | null;
}

interface ResponseRecord {
  id?: string;
  model?: string;
  usage?: RawUsage | null;
  error?: unknown;
  incomplete_details?: { reason?: string } | null;
}

interface RawUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  input_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null;
  output_tokens_details?: { reasoning_tokens?: number | null } | null;
}

interface Event {
  type?: string;
  delta?: unknown;
  text?: unknown;
  arguments?: unknown;
  refusal?: unknown;
  output_index?: number;
  item_id?: string;
  summary_index?: number;
  content_index?: number;
  item?: Item;
  response?: ResponseRecord;
}

/** What is known of an item while it streams. */
interface OpenItem {
  callId?: string;
  /** The part that text came for last; another one of reasoning is set off by an empty line. */
  part?: number;
  /** Whether any text came. */
  hasText: boolean;
}

export class ResponseTranslator implements EventTranslator<string> {
  isOver = false;
  readonly #push: PushPart;
  readonly #items = new Map<string, OpenItem>();
  #refused = false;

  constructor(push: PushPart) {
    this.#push = push;
  }

  take(data: string): void {
    if (data === "[DONE]") return;
    const event = parseEvent(data, this.#push) as Event | undefined;
    if (event) this.#read(event);
  }

  /** A response says itself that it is over; a wire that ends before is an answer cut off. */
  end(): void {}

  #read(event: Event): void {
    switch (event.type) {
      case "response.created":
        this.#push({ type: "response-metadata", id: event.response?.id, modelId: event.response?.model });
        return;
      case "response.output_item.added":
        this.#addItem(event);
        return;
      case "response.output_text.delta":
      case "response.refusal.delta":
        if (event.type === "response.refusal.delta") this.#refused = true;
        this.#text("text-delta", event, event.delta, event.content_index);
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#text("reasoning-delta", event, event.delta, event.summary_index ?? event.content_index);
        return;
      case "response.function_call_arguments.delta":
        this.#arguments(event, event.delta);
        return;
      // Some servers send a text once, when it is whole.
      case "response.output_text.done":
        if (!this.#itemOf(event).hasText) this.#text("text-delta", event, event.text, event.content_index);
        return;
      case "response.reasoning_summary_text.done":
      case "response.reasoning_text.done":
        if (!this.#itemOf(event).hasText) this.#text("reasoning-delta", event, event.text, event.summary_index);
        return;
      case "response.function_call_arguments.done":
        if (!this.#itemOf(event).hasText) this.#arguments(event, event.arguments);
        return;
      case "response.output_item.done":
        if (event.item) this.#endItem(event, event.item);
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        this.#end(event.type, event.response ?? {});
        return;
      case "error":
        this.#push({ type: "error", error: { error: event } });
    }
  }

  #addItem(event: Event): void {
    const { item } = event;
    if (item?.type !== "function_call") return;
    const callId = item.call_id ?? item.id ?? `call_${crypto.randomUUID().replaceAll("-", "")}`;
    this.#itemOf(event).callId = callId;
    this.#push({ type: "tool-input-start", id: callId, toolName: item.name ?? "" });
    if (item.arguments) this.#arguments(event, item.arguments);
  }

  #text(type: "text-delta" | "reasoning-delta", event: Event, text: unknown, part = 0): void {
    if (typeof text !== "string" || text === "") return;
    const item = this.#itemOf(event);
    const isNext = item.hasText && item.part !== part;
    item.part = part;
    item.hasText = true;
    this.#push({ type, id: type, delta: isNext && type === "reasoning-delta" ? `\n\n${text}` : text });
  }

  #arguments(event: Event, delta: unknown): void {
    const item = this.#itemOf(event);
    if (item.callId === undefined || typeof delta !== "string" || delta === "") return;
    item.hasText = true;
    this.#push({ type: "tool-input-delta", id: item.callId, delta });
  }

  #endItem(event: Event, item: Item): void {
    const { callId, hasText } = this.#itemOf(event);
    if (item.type === "message")
      this.#push({ type: "text-end", id: "text", ...signed({ id: item.id, phase: item.phase ?? undefined }) });
    else if (item.type === "reasoning") {
      const encrypted = item.encrypted_content ?? undefined;
      // Without its encrypted content reasoning cannot go back: the server keeps nothing.
      const signature = encrypted ? signed({ id: item.id, encrypted_content: encrypted }) : undefined;
      if (signature && !hasText) this.#push({ type: "reasoning-start", id: "reasoning" });
      this.#push({ type: "reasoning-end", id: "reasoning", ...signature });
    } else if (item.type === "function_call") {
      const { id, name = "", namespace, arguments: input = "" } = item;
      const toolCallId = callId ?? item.call_id ?? id ?? "";
      const wire = { ...(id && { signature: id }), ...(namespace && { namespace }) };
      const metadata = Object.keys(wire).length > 0 ? { providerMetadata: { wire } } : {};
      this.#push({ type: "tool-call", toolCallId, toolName: name, input, ...metadata });
    }
    this.#items.delete(keyOf(event));
  }

  #end(type: string, response: ResponseRecord): void {
    if (response.usage) this.#push(usageSoFar(readUsage(response.usage)));
    if (type === "response.failed" && response.error) {
      this.#push({ type: "error", error: { error: response.error } });
      return;
    }
    this.isOver = true;
    const status = type.slice("response.".length);
    const reason = type === "response.incomplete" ? response.incomplete_details?.reason : undefined;
    this.#push(finish(reason ?? status, this.#refused));
  }

  #itemOf(event: Event): OpenItem {
    const key = keyOf(event);
    let item = this.#items.get(key);
    if (!item) {
      item = { hasText: false };
      this.#items.set(key, item);
    }
    return item;
  }
}

/** Items are numbered; a server that leaves the number out names them. */
function keyOf({ output_index, item_id, item }: Event): string {
  return output_index === undefined ? (item_id ?? item?.id ?? "") : String(output_index);
}

function signed(signature: { [key in keyof ItemSignature]: string | undefined }) {
  if (!signature.id && !signature.phase && !signature.encrypted_content) return undefined;
  return { providerMetadata: { wire: { signature: JSON.stringify(signature) } } };
}

/** `input_tokens` counts cached tokens too; ours do not. */
function readUsage(raw: RawUsage): Usage {
  const usage = emptyUsage();
  usage.cacheRead = raw.input_tokens_details?.cached_tokens ?? 0;
  usage.cacheWrite = raw.input_tokens_details?.cache_write_tokens ?? 0;
  usage.input = Math.max(0, (raw.input_tokens ?? 0) - usage.cacheRead - usage.cacheWrite);
  usage.output = raw.output_tokens ?? 0;
  const reasoning = raw.output_tokens_details?.reasoning_tokens;
  if (typeof reasoning === "number") usage.reasoning = reasoning;
  usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return usage;
}
