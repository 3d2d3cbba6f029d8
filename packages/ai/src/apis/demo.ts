// A model that needs no key and no network.

import { MessageBuilder } from "../message-builder.js";
import type { ApiImplementation } from "./index.js";

/** Answers every call with one line of text. */
export const demoApi: ApiImplementation = {
  async *stream(model) {
    const builder = MessageBuilder.begin({ model });
    yield builder.start();
    yield builder.startText();
    yield builder.appendText("This is the demo model.");
    yield* builder.done("stop");
  },
};
