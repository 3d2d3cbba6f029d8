// Makes one model call: looks up the model's API and reads its answer under guard.

import type { AssistantMessageEventStream } from "./event-stream.js";
import { GuardedCall } from "./guarded-call.js";
import type { AssistantMessage, Context, Model, StreamOptions } from "./types.js";

/**
 * Calls a model. Nothing is sent before the first event is pulled, and nothing is read from the provider while the
 * reader does not pull. The stream ends in exactly one `done` or `error` event, whatever goes wrong; nothing throws.
 */
export function stream(model: Model, context: Context, options: StreamOptions = {}): AssistantMessageEventStream {
  return new GuardedCall(model, context, options);
}

/** Calls a model and gives its final message; a failure is a message with stopReason `error` or `aborted`. */
export function complete(model: Model, context: Context, options: StreamOptions = {}): Promise<AssistantMessage> {
  return stream(model, context, options).result();
}
