// Puts tool calls together from the pieces that chat completion servers send, with or without index, id and name.

import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";

/** A piece of a tool call; servers leave out almost anything. */
export interface ToolCallDelta {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | null } | null;
  extra_content?: { google?: { thought_signature?: unknown } | null } | null;
}

interface Call {
  index: number | undefined;
  id: string;
  name: string;
  text: string;
  signature: string | undefined;
  started: boolean;
  ended: boolean;
}

/** Parts go out as soon as a call has a name. A call is ended when another one begins and its arguments are whole. */
export class ToolCallAssembler {
  readonly #push: (part: LanguageModelV3StreamPart) => void;
  readonly #calls: Call[] = [];

  constructor(push: (part: LanguageModelV3StreamPart) => void) {
    this.#push = push;
  }

  add(delta: ToolCallDelta): void {
    const { id, function: piece, extra_content: extra } = delta;
    const call = this.#find(delta) ?? this.#begin(delta);
    if (call.ended) return;
    if (!call.started && id) call.id = id;
    const signature = extra?.google?.thought_signature;
    if (typeof signature === "string") call.signature = signature;
    if (piece?.name && !call.started) call.name = piece.name;
    const text = typeof piece?.arguments === "string" ? piece.arguments : "";
    call.text += text;
    if (call.started) this.#push({ type: "tool-input-delta", id: call.id, delta: text });
    else if (call.name) this.#start(call);
  }

  /** The answer goes on with something else: calls whose arguments are whole are over. */
  endWhole(): void {
    for (const call of this.#calls) if (call.started && !call.ended && isWhole(call.text)) this.#end(call);
  }

  /** The answer is over, and so is every call. */
  endAll(): void {
    for (const call of this.#calls) {
      if (!call.started) this.#start(call);
      if (!call.ended) this.#end(call);
    }
  }

  #find({ index, id, function: piece }: ToolCallDelta): Call | undefined {
    const last = this.#calls.at(-1);
    if (typeof index !== "number") return id ? this.#calls.find((call) => call.id === id) : last;
    const call = this.#calls.findLast((candidate) => candidate.index === index);
    // Some servers number every call 0; another id with a name of its own is another call.
    return call && id && piece?.name && call.id !== id ? undefined : call;
  }

  #begin({ index, id }: ToolCallDelta): Call {
    this.endWhole();
    const call: Call = {
      index: index ?? undefined,
      id: id || `call_${crypto.randomUUID().replaceAll("-", "")}`,
      name: "",
      text: "",
      signature: undefined,
      started: false,
      ended: false,
    };
    this.#calls.push(call);
    return call;
  }

  #start(call: Call): void {
    call.started = true;
    this.#push({ type: "tool-input-start", id: call.id, toolName: call.name });
    if (call.text) this.#push({ type: "tool-input-delta", id: call.id, delta: call.text });
  }

  #end(call: Call): void {
    call.ended = true;
    const { id, name, text, signature } = call;
    const metadata = signature === undefined ? {} : { providerMetadata: { wire: { signature } } };
    this.#push({ type: "tool-call", toolCallId: id, toolName: name, input: text, ...metadata });
  }
}

function isWhole(text: string): boolean {
  if (text.trim() === "") return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
