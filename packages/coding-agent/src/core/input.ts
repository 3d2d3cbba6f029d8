// What was typed → an extension command, or a user message after hooks, templates and image checks; one text after another.

import { untilAborted } from "@earendil-works/pi-agent-core";
import type { ImageContent, UserMessage } from "@earendil-works/pi-ai";
import { textOf } from "../lib/error-text.js";
import { CommandError } from "./errors.js";

export interface TypedInput {
  text: string;
  images?: readonly ImageContent[] | undefined;
  /** How it would be queued; hooks want to know. */
  streamingBehavior?: "steer" | "followUp" | undefined;
  source: "rpc" | "interactive" | "extension";
  /** False: commands, skills and templates do not count in the text. Default true. */
  expand?: boolean | undefined;
}

export interface InputStageOptions {
  /** Checks and shrinks an image; throws an error that says why it is refused. */
  prepareImage: (image: ImageContent) => Promise<ImageContent>;
  /** The most images one message may carry. */
  maxImages: number;
}

/** Hooks and templates: the text to send, or that it was handled. */
export type InputTransform = (input: TypedInput, signal: AbortSignal) => Promise<TypedInput | "handled">;

/**
 * Texts pass one after another: each is judged when the fate of the one before is known. `abort` refuses all that are
 * still inside.
 */
export class InputStage {
  readonly #options: InputStageOptions;
  readonly #transform: InputTransform | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #inside = 0;
  #cancelled = new AbortController();

  /** `transform` is absent without extensions and templates. */
  constructor(options: InputStageOptions, transform?: InputTransform) {
    this.#options = options;
    this.#transform = transform;
  }

  /** Texts received whose fate is not yet known. */
  get accepting(): number {
    return this.#inside;
  }

  /**
   * Waits for its turn, makes the user message, and hands it to `accept`, which decides its fate before the next text
   * is looked at; `refuseIfCancelled` is for it to call after it has waited for something. Throws `invalid_params` for bad
   * input and `cancelled` when an abort came first.
   */
  pass<T>(
    input: TypedInput,
    accept: (message: UserMessage | "handled", refuseIfCancelled: () => void) => Promise<T>,
  ): Promise<T> {
    this.#inside += 1;
    const { signal } = this.#cancelled;
    const turn = this.#tail.then(async () => {
      refuseIfCancelled(signal);
      const message = await this.#make(input, signal);
      refuseIfCancelled(signal);
      return accept(message, () => refuseIfCancelled(signal));
    });
    const done = turn.finally(() => {
      this.#inside -= 1;
    });
    this.#tail = done.catch(() => {});
    return done;
  }

  /** Resolves when the fate of every text that is inside now is known. */
  async settled(): Promise<void> {
    await this.#tail;
  }

  /** Refuses every text inside; returns how many there were. */
  cancel(): number {
    const count = this.#inside;
    this.#cancelled.abort();
    this.#cancelled = new AbortController();
    return count;
  }

  async #make(input: TypedInput, signal: AbortSignal): Promise<UserMessage | "handled"> {
    const { prepareImage, maxImages } = this.#options;
    const transform = this.#transform;
    const result = transform ? await untilAborted(transform(input, signal), signal, cancelledError) : input;
    if (result === "handled") return "handled";
    const { text, images = [] } = result;
    if (!text.trim() && images.length === 0)
      throw new CommandError("invalid_params", "A message needs text or an image", "message");
    if (images.length > maxImages)
      throw new CommandError("invalid_params", `A message can carry ${maxImages} images at most`, "images");
    const content: UserMessage["content"] = [];
    if (text) content.push({ type: "text", text });
    for (const [index, image] of images.entries()) {
      refuseIfCancelled(signal);
      try {
        content.push(await prepareImage(image));
      } catch (error) {
        const reason = textOf(error);
        throw new CommandError("invalid_params", reason, `images[${index}]`);
      }
    }
    return { role: "user", content, timestamp: Date.now() };
  }
}

function refuseIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelledError();
}

function cancelledError(): CommandError {
  return new CommandError("cancelled", "Cancelled by abort before it was accepted");
}
