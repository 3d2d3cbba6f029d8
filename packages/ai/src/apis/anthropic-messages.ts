// Speaks the anthropic-messages wire API.

import { ProviderError } from "../provider-error.js";
import type { ApiImplementation } from "./index.js";

/** The anthropic-messages API. */
export const anthropicMessagesApi: ApiImplementation = {
  // biome-ignore lint/correctness/useYield: nothing to say yet
  async *stream(model) {
    throw new ProviderError(`Cannot call "${model.id}": not there yet`, { kind: "invalid_request" });
  },
};
