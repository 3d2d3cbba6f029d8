// The providers extensions bring: their models in the registry, and calls that speak a wire format of their own.

import { type ApiImplementation, type AssistantMessageEvent, apiNames, registerApi } from "@earendil-works/pi-ai";
import type { ProviderRegistration } from "../extensions/host.js";
import type { ProviderTarget } from "../extensions/runtime.js";
import type { ModelRegistry } from "../resources/model-registry.js";
import type { ProviderConfig } from "../resources/models-config.js";

/** Milliseconds a provider may take to list its models: 10 s. */
const refreshLimitMs = 10_000;

export class ExtensionProviders implements ProviderTarget {
  readonly #models: ModelRegistry;
  readonly #registered = new Map<string, ProviderRegistration>();
  readonly #asking = new Map<ProviderRegistration, Promise<void>>();
  /** Take back the wire formats of providers, by provider. */
  readonly #formats = new Map<string, () => void>();

  /** Set while there are providers to ask. */
  #endDiscovery: (() => void) | undefined;

  constructor(models: ModelRegistry) {
    this.#models = models;
  }

  /** Takes effect at once. Throws for a registration that is none. */
  register(name: string, config: ProviderRegistration): void {
    if (typeof name !== "string" || !name) throw new Error("Cannot register a provider without a name");
    if (typeof config !== "object" || config === null) throw new Error(`Cannot register provider "${name}": no object`);
    const hasModels = config.models !== undefined || config.refreshModels !== undefined;
    if (!hasModels && !this.#models.hasProvider(name) && !config.streamSimple)
      throw new Error(`Cannot register provider "${name}": it has no models, and there is none of the name to change`);
    this.#takeBackFormat(name);
    const format = config.streamSimple && this.#registerFormat(name, config);
    this.#registered.set(name, config);
    this.#endDiscovery ??= this.#models.onDiscover((provider) => this.refresh(provider));
    this.#models.registerProvider(name, configOf(config, format));
  }

  unregister(name: string): void {
    if (!this.#registered.delete(name)) return;
    this.#models.unregisterProvider(name);
    this.#takeBackFormat(name);
    if (this.#registered.size > 0) return;
    this.#endDiscovery?.();
    this.#endDiscovery = undefined;
  }

  /** Takes everything back: afterwards nothing outside holds on to this. */
  clear(): void {
    for (const name of [...this.#registered.keys()]) this.unregister(name);
  }

  get(name: string): ProviderRegistration | undefined {
    return this.#registered.get(name);
  }

  get names(): string[] {
    return [...this.#registered.keys()];
  }

  /** Asks one or all of the providers that list their models themselves. Rejects with the first failure. */
  async refresh(provider?: string): Promise<void> {
    const asked = [...this.#registered].filter(([name]) => (provider ?? name) === name);
    await Promise.all(asked.map(([name, config]) => this.#refreshOne(name, config)));
  }

  /** Whoever asks while a provider is being asked waits for the same answer. */
  #refreshOne(name: string, config: ProviderRegistration): Promise<void> {
    let asking = this.#asking.get(config);
    if (!asking) {
      asking = this.#ask(name, config).finally(() => this.#asking.delete(config));
      this.#asking.set(config, asking);
    }
    return asking;
  }

  async #ask(name: string, config: ProviderRegistration): Promise<void> {
    const models = await config.refreshModels?.({
      signal: AbortSignal.timeout(refreshLimitMs),
      stored: undefined,
      publish: async () => {},
    });
    if (models && this.#registered.get(name) === config) this.register(name, { ...config, models });
  }

  #takeBackFormat(name: string): void {
    this.#formats.get(name)?.();
    this.#formats.delete(name);
  }

  /** The provider's own calls, under the name its models carry; one of ours is never taken over for other providers. */
  #registerFormat(name: string, { api, streamSimple }: ProviderRegistration): string {
    const format = api === undefined || apiNames().includes(api) ? `${name}-extension` : api;
    const implementation: ApiImplementation = {
      async *stream(model, context, options) {
        const { thinkingLevel } = options;
        const reasoning = thinkingLevel && thinkingLevel !== "off" ? { reasoning: thinkingLevel } : {};
        const events = streamSimple?.(model, context, { ...options, ...reasoning });
        if (events) yield* events as AsyncIterable<AssistantMessageEvent>;
      },
    };
    this.#formats.set(
      name,
      registerApi(format, async () => implementation),
    );
    return format;
  }
}

/** What the registry knows of a provider; the rest stays here. One that calls by itself may need no address and no key. */
function configOf(config: ProviderRegistration, format: string | undefined): ProviderConfig {
  const { name, headers, authHeader } = config;
  const baseUrl = config.baseUrl ?? (format && "extension:");
  const apiKey = config.apiKey ?? (format && "extension");
  const api = format ?? config.api;
  const models = config.models ?? (config.refreshModels && []);
  return {
    ...(name !== undefined && { name }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiKey !== undefined && { apiKey }),
    ...(api !== undefined && { api }),
    ...(headers && { headers }),
    ...(authHeader !== undefined && { authHeader }),
    // The models' own `api` names the provider's format, which is the one registered for it.
    ...(models && { models: models.map((model) => withFormat(model, format)) as ProviderConfig["models"] }),
  } as ProviderConfig;
}

function withFormat(model: object, format: string | undefined): object {
  return format === undefined ? model : { ...model, api: format };
}
