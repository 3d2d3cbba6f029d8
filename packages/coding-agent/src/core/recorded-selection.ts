// The model and level a session's entries tell of: a difference is written when it is to count.

import type { Model, ThinkingLevel } from "@earendil-works/pi-ai";
import type { SessionManager } from "../sessions/session-manager.js";

export class RecordedSelection {
  readonly #store: SessionManager;
  #model: string | null;
  #level: string | null;

  constructor(store: SessionManager) {
    this.#store = store;
    const { model, thinkingLevel } = store.buildSessionContext();
    this.#model = model && `${model.provider}/${model.modelId}`;
    this.#level = thinkingLevel;
  }

  /** Appends what differs from the last that was recorded. */
  update(model: Model | null, level: ThinkingLevel): void {
    const name = model && `${model.provider}/${model.id}`;
    if (model && name !== this.#model) this.#store.appendModelChange(model.provider, model.id);
    if (level !== this.#level) this.#store.appendThinkingLevelChange(level);
    this.#model = name;
    this.#level = level;
  }
}
