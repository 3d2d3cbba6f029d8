// How a model call of the session is made: model, level, prompt, tools, key and hooks, read anew for every turn.

import type { TurnSetup } from "@earendil-works/pi-agent-core";
import type { Model, StreamOptions, ThinkingLevel } from "@earendil-works/pi-ai";
import type { ModelSelection } from "./models.js";
import type { AgentSessionOptions } from "./session-options.js";

export interface RequestsOptions {
  sources: Pick<AgentSessionOptions, "models" | "tools" | "streamOptions" | "modelForRequests">;
  selection: ModelSelection;
  sessionId: () => string;
  systemPrompt: () => string;
  /** What extensions see requests through. */
  hooks: (model: Model) => Partial<StreamOptions> | undefined;
}

export class Requests {
  readonly #options: RequestsOptions;
  /** The model a run was accepted for answers its first turn, whatever is chosen meanwhile. */
  #pinned: { model: Model; level: ThinkingLevel } | undefined;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** The model of the next turn. */
  get model(): Model | undefined {
    return this.#pinned?.model ?? this.#options.selection.model ?? undefined;
  }

  /** The next turn is made with this model and the level of now. */
  pin(model: Model): void {
    this.#pinned = { model, level: this.#options.selection.level };
  }

  /** Throws CommandError `no_model` or `no_credentials`, and what the credentials' source throws. */
  async setup(): Promise<TurnSetup> {
    const { sources, selection, systemPrompt } = this.#options;
    const model = this.#pinned?.model ?? selection.require();
    const thinkingLevel = this.#pinned?.level ?? selection.level;
    this.#pinned = undefined;
    const prompt = systemPrompt();
    const { tools, modelForRequests = (same: Model) => same } = sources;
    const options = { ...(await this.optionsFor(model)), thinkingLevel };
    return { model: modelForRequests(model), systemPrompt: prompt, tools, options };
  }

  /** Key, headers and the like of a request to the model. */
  async optionsFor(model: Model): Promise<StreamOptions> {
    const { sources, sessionId, hooks } = this.#options;
    const { apiKey, headers, env } = await sources.models.resolveRequest(model);
    return {
      ...sources.streamOptions,
      sessionId: sessionId(),
      ...(apiKey !== undefined && { apiKey }),
      ...(headers && { headers }),
      ...(env && { env }),
      ...hooks(model),
    };
  }
}
