// The current model and thinking level: set, cycle, list.

import { clampThinkingLevel, type Model, supportedThinkingLevels, type ThinkingLevel } from "@earendil-works/pi-ai";
import { CommandError } from "./errors.js";
import type { Emit } from "./event-line.js";

/** A model given by `--models` or the settings, with the level it is used at. */
export interface ScopedModel {
  model: Model;
  thinkingLevel?: ThinkingLevel;
}

export interface ModelSelectionOptions {
  model: Model | null;
  thinkingLevel: ThinkingLevel;
  scoped: readonly ScopedModel[];
  emit: Emit;
  find: (provider: string, id: string) => Model | undefined;
  available: () => readonly Model[];
  /** Asks servers that alone know their models before these count as unknown. */
  discover?: (provider?: string) => Promise<void>;
  hasCredentials: (model: Model) => boolean;
  /** Records a change in the session. */
  recordModel: () => void;
  recordLevel: () => void;
  /** Told after a change, for extensions. */
  selected?: (model: Model, previous: Model | null, source: "set" | "cycle") => Promise<void>;
  levelSelected?: (level: ThinkingLevel, previous: ThinkingLevel) => Promise<void>;
}

/** What the next request is made with. A level the model cannot do is clamped; the wish is kept for the next model. */
export class ModelSelection {
  readonly #options: ModelSelectionOptions;
  #model: Model | null;
  #wanted: ThinkingLevel;

  constructor(options: ModelSelectionOptions) {
    this.#options = options;
    this.#model = options.model;
    this.#wanted = options.thinkingLevel;
  }

  get model(): Model | null {
    return this.#model;
  }

  /** The level in force. */
  get level(): ThinkingLevel {
    return this.#model ? clampThinkingLevel(this.#model, this.#wanted) : this.#wanted;
  }

  /** What was asked for, which another model may be able to do. */
  get wantedLevel(): ThinkingLevel {
    return this.#wanted;
  }

  get scoped(): readonly ScopedModel[] {
    return this.#options.scoped;
  }

  /** Refuses to start a run that cannot ask a model. */
  require(): Model {
    const { hasCredentials } = this.#options;
    if (!this.#model) throw new CommandError("no_model", noModelText);
    if (!hasCredentials(this.#model)) throw new CommandError("no_credentials", noCredentialsText(this.#model));
    return this.#model;
  }

  /** Throws `not_found` for a model that is not known, `no_credentials` for one without a key. */
  async set(provider: string, modelId: string): Promise<Model> {
    const { find, discover } = this.#options;
    let model = find(provider, modelId);
    if (!model && discover) {
      await discover(provider);
      model = find(provider, modelId);
    }
    if (!model) throw new CommandError("not_found", `Model not found: ${provider}/${modelId}`);
    if (!this.#options.hasCredentials(model)) throw new CommandError("no_credentials", noCredentialsText(model));
    await this.#switch(model, undefined, "set");
    return model;
  }

  /** Switches at once to a model at hand; false when it has no credentials. Nobody is waited for. */
  choose(model: Model): boolean {
    if (!this.#options.hasCredentials(model)) return false;
    void this.#switch(model, undefined, "set");
    return true;
  }

  /** The next of the scoped models with credentials, or of all available ones; nothing when there is only one. */
  async cycle(): Promise<{ model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | null> {
    const { scoped, available, discover, hasCredentials } = this.#options;
    const isScoped = scoped.length > 0;
    if (!isScoped) await discover?.();
    const list: readonly ScopedModel[] = isScoped
      ? scoped.filter(({ model }) => hasCredentials(model))
      : available().map((model) => ({ model }));
    if (list.length < 2) return null;
    const at = list.findIndex(({ model }) => isSame(model, this.#model));
    const next = list[(at + 1) % list.length] as ScopedModel;
    await this.#switch(next.model, next.thinkingLevel, "cycle");
    return { model: next.model, thinkingLevel: this.level, isScoped };
  }

  levels(): ThinkingLevel[] {
    return this.#model ? supportedThinkingLevels(this.#model) : ["off"];
  }

  /** Returns the level in force afterwards. */
  async setLevel(level: ThinkingLevel): Promise<ThinkingLevel> {
    const before = this.level;
    this.#wanted = level;
    await this.#levelMayHaveChanged(before);
    return this.level;
  }

  /** Nothing when the model cannot think. */
  async cycleLevel(): Promise<{ level: ThinkingLevel } | null> {
    const levels = this.levels();
    if (levels.length < 2) return null;
    const next = levels[(levels.indexOf(this.level) + 1) % levels.length] as ThinkingLevel;
    return { level: await this.setLevel(next) };
  }

  async #switch(model: Model, level: ThinkingLevel | undefined, source: "set" | "cycle"): Promise<void> {
    const { emit, recordModel, selected } = this.#options;
    const before = this.level;
    const previous = this.#model;
    this.#model = model;
    if (level) this.#wanted = level;
    if (!isSame(model, previous)) {
      recordModel();
      await emit({ type: "model_changed", model });
    }
    await this.#levelMayHaveChanged(before);
    await selected?.(model, previous, source);
  }

  async #levelMayHaveChanged(before: ThinkingLevel): Promise<void> {
    const { level } = this;
    if (level === before) return;
    this.#options.recordLevel();
    await this.#options.emit({ type: "thinking_level_changed", level });
    await this.#options.levelSelected?.(level, before);
  }
}

export const noModelText =
  "No model selected. Choose one with --model or set_model; `--model demo` needs no key, " +
  "other providers need a key in the environment, in auth.json or in models.json";

function noCredentialsText({ provider }: Model): string {
  return `No credentials for provider "${provider}". Set its key in the environment, in auth.json, in models.json or with --api-key`;
}

function isSame(a: Model | null, b: Model | null): boolean {
  return a?.provider === b?.provider && a?.id === b?.id;
}
