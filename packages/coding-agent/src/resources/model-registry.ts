// Which models there are, which of them have credentials, and what a request to one of them needs.

import { join } from "node:path";
import {
  type Model,
  ProviderError,
  providerFacts,
  providerIds,
  readProvider,
  type StreamOptions,
} from "@earendil-works/pi-ai";
import { isFlagSet } from "../lib/environment-flag.js";
import { textOf } from "../lib/error-text.js";
import type { AuthStorage } from "./auth.js";
import { ConfigValueError, type Environment, missingVariables, resolveConfigValue } from "./config-value.js";
import type { Diagnostic } from "./diagnostic.js";
import {
  isLocalServer,
  type LocalAnswer,
  LocalModels,
  listLocalModels,
  localModel,
  localServers,
} from "./local-servers.js";
import { type ModelsConfig, type ProviderConfig, readModelsConfig } from "./models-config.js";
import { environmentKey, isResolvable, loginOf, sendable } from "./provider-credentials.js";
import { combineModels, unknownModel, usableAddress } from "./provider-models.js";

/** A request cannot be made because its provider has no usable credentials. */
export class CredentialsError extends ProviderError {
  override readonly name = "CredentialsError";

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, { kind: "auth" }, options);
  }
}

/**
 * The models of models.json, of extensions and of the program, in this order of providers: models.json, extensions, the
 * program's own order. Catalogues are read when a provider is asked for.
 */
export class ModelRegistry {
  readonly #auth: AuthStorage;
  readonly #path: string;
  readonly #registered = new Map<string, ProviderConfig>();
  readonly #included: Model[] = [];
  readonly #combined = new Map<string, Model[]>();
  readonly #problems = new Map<string, string[]>();
  readonly #prepareNetwork: () => Promise<void>;
  readonly #local = new LocalModels((id) => this.#ask(id));
  readonly #discoveries = new Set<(provider?: string) => Promise<void>>();
  #discoveryProblem: string | undefined;
  #config!: ModelsConfig;

  private constructor(path: string, auth: AuthStorage, prepareNetwork: () => Promise<void>) {
    this.#path = path;
    this.#auth = auth;
    this.#prepareNetwork = prepareNetwork;
    this.reload();
  }

  /** Never throws: what is wrong with models.json is in `diagnostics`. `prepareNetwork` is called before requests. */
  static load(options: {
    agentDir: string;
    path?: string | undefined;
    auth: AuthStorage;
    prepareNetwork?: () => Promise<void>;
  }): ModelRegistry {
    const { agentDir, path = join(agentDir, "models.json"), auth, prepareNetwork = async () => {} } = options;
    return new ModelRegistry(path, auth, prepareNetwork);
  }

  /** Reads models.json again. */
  reload(): void {
    this.#config = readModelsConfig(this.#path);
    this.#combined.clear();
    this.#problems.clear();
    // Only these can hold problems that concern the user, and their own models cost nothing to make.
    for (const id of this.#config.providers.keys()) this.allModelsOf(id);
  }

  get diagnostics(): readonly Diagnostic[] {
    const problems = [...this.#problems.values()].flat();
    return [
      ...this.#config.diagnostics,
      ...problems.map((message) => ({ severity: "error" as const, source: "models", message, path: this.#path })),
      ...(this.#discoveryProblem === undefined
        ? []
        : [{ severity: "warning" as const, source: "models", message: this.#discoveryProblem }]),
      ...this.#local.problems.map((message) => ({ severity: "warning" as const, source: "models", message })),
    ];
  }

  /** All providers, in order. */
  get providerIds(): string[] {
    const local = Object.keys(localServers).filter((id) => this.isDiscovered(id));
    return [...new Set([...this.#config.providers.keys(), ...this.#registered.keys(), ...providerIds, ...local])];
  }

  /** For people. */
  providerName(id: string): string {
    const known = providerFacts(id) ?? (isLocalServer(id) ? localServers[id] : undefined);
    return this.#config.providers.get(id)?.name ?? this.#registered.get(id)?.name ?? known?.name ?? id;
  }

  hasProvider(id: string): boolean {
    const isKnown = providerFacts(id) !== undefined || this.isDiscovered(id);
    return isKnown || this.#config.providers.has(id) || this.#registered.has(id);
  }

  /**
   * Whether the provider's models are asked of a server on this machine: one that models.json names without models, and
   * all that are known when `PI_LOCAL_MODELS` is set.
   */
  isDiscovered(id: string): boolean {
    if (!isLocalServer(id)) return false;
    const configured = this.#config.providers.get(id);
    if (configured) return !configured.models?.length;
    return isFlagSet(this.#auth.env.PI_LOCAL_MODELS);
  }

  /**
   * Asks the local server of a provider, or all that are in use, which models they have; takes a second at most. One
   * that does not answer has no models, and a diagnostic says so. Never rejects.
   */
  async discover(provider?: string): Promise<void> {
    const asked = [...this.#discoveries].map((ask) => ask(provider).catch((error) => this.#discoveryFailed(error)));
    await Promise.all(asked);
    const ids = Object.keys(localServers).filter((id) => (provider ?? id) === id && this.isDiscovered(id));
    await this.#local.discover(ids);
    for (const id of ids) this.#combined.delete(id);
  }

  /** Somebody else who knows where to ask, at every discovery. Returns the function that ends it. */
  onDiscover(ask: (provider?: string) => Promise<void>): () => void {
    this.#discoveries.add(ask);
    return () => void this.#discoveries.delete(ask);
  }

  /** The model, whether or not it has credentials. */
  find(provider: string, id: string): Model | undefined {
    const isIt = (model: Model) => model.provider === provider && model.id === id;
    return this.allModelsOf(provider).find(isIt) ?? this.#included.find(isIt);
  }

  /** All models. Reads every catalogue. */
  getAll(): Model[] {
    return this.#withIncluded(this.providerIds.filter(isNotKeyless).flatMap((id) => this.allModelsOf(id)));
  }

  /** The models of providers with credentials, and those that were included. */
  getAvailable(): Model[] {
    return this.#withIncluded(this.availableProviders().flatMap((id) => this.allModelsOf(id)));
  }

  /** The providers with credentials, in order; those that need none are not among them. */
  availableProviders(): string[] {
    return this.providerIds.filter((id) => isNotKeyless(id) && this.hasCredentialsFor(id));
  }

  /** Must not be changed. */
  allModelsOf(provider: string): readonly Model[] {
    let models = this.#combined.get(provider);
    if (!models) {
      const combined = combineModels(provider, {
        builtIn: this.#local.of(provider) ?? readProvider(provider),
        registered: this.#registered.get(provider),
        configured: this.#configured(provider),
        env: this.#auth.envOf(provider),
      });
      models = combined.models;
      this.#combined.set(provider, models);
      this.#problems.set(provider, combined.problems);
    }
    return models;
  }

  /** The model a provider starts with: the documented one, else its first. */
  defaultModelOf(provider: string): Model | undefined {
    const models = this.allModelsOf(provider);
    return models.find(({ id }) => id === providerFacts(provider)?.defaultModel) ?? models[0];
  }

  /** Adds a model that was asked for by name, known or not, to what is listed. */
  include(model: Model): void {
    if (!this.#included.some(({ provider, id }) => provider === model.provider && id === model.id))
      this.#included.push(model);
  }

  /** A model the provider is not known to have, made like its default one; undefined when the provider has none. */
  assume(provider: string, id: string): Model | undefined {
    const base = this.defaultModelOf(provider);
    if (base) return unknownModel(id, base);
    return this.isDiscovered(provider) ? localModel(provider, id, this.#localUrl(provider)) : undefined;
  }

  hasCredentials(model: Pick<Model, "provider">): boolean {
    return this.hasCredentialsFor(model.provider);
  }

  /** Whether a key is there or can be asked for; no command is run to find out. */
  hasCredentialsFor(provider: string): boolean {
    const facts = providerFacts(provider);
    const env = this.#auth.envOf(provider);
    const hasUrl = (facts?.urlEnv ?? []).every((name) => env[name]);
    if (facts?.keyless || (isLocalServer(provider) && this.hasProvider(provider))) return true;
    if (!hasUrl) return false;
    if (this.#auth.has(provider)) return true;
    if (this.#configs(provider).some((config) => isResolvable(config, env))) return true;
    const isSet = (name: string) => Boolean(env[name]);
    return (
      [...(facts?.bearerEnv ?? []), ...(facts?.env ?? [])].some(isSet) ||
      (facts?.ambientEnv ?? []).some((names) => names.every(isSet))
    );
  }

  /**
   * The key, headers and environment of a request. May run the user's commands. A stored or given key wins over
   * models.json, which wins over an extension's, which wins over the environment. Rejects with `CredentialsError`, whose
   * text holds no secret, and with `ProxyError`.
   */
  async resolveRequest(model: Model): Promise<Pick<StreamOptions, "apiKey" | "headers" | "env">> {
    const { provider } = model;
    if (!this.hasCredentialsFor(provider)) throw new CredentialsError(this.#howToGetCredentials(provider));
    await this.#prepareNetwork();
    const env = this.#auth.envOf(provider);
    try {
      const headers = await this.#headers(model, env);
      const apiKey = await this.#configuredKey(provider, env);
      if (apiKey === undefined) return { env, ...sendable(environmentKey(provider, env, headers)) };
      const isBearer = this.#configs(provider).some(({ authHeader }) => authHeader);
      if (isBearer) headers.Authorization = `Bearer ${apiKey}`;
      return { env, ...sendable({ apiKey, ...(Object.keys(headers).length > 0 && { headers }) }) };
    } catch (error) {
      if (!(error instanceof ConfigValueError)) throw error;
      throw new CredentialsError(`Cannot get credentials for "${provider}": ${error.message}`, { cause: error });
    }
  }

  /** The names of all variables that are read as keys. */
  credentialVariables(): string[] {
    const names = providerIds.flatMap((id) => {
      const facts = providerFacts(id);
      const { env = [], bearerEnv = [], ambientEnv = [], secretEnv = [] } = facts ?? {};
      return [...env, ...bearerEnv, ...ambientEnv.flat(), ...secretEnv];
    });
    const configured = [...this.#config.providers.values(), ...this.#registered.values()].flatMap((config) => {
      const ofModels = [...(config.models ?? []), ...Object.values(config.modelOverrides ?? {})];
      const headers = [config, ...ofModels].flatMap((owner) => Object.values(owner.headers ?? {}));
      return [config.apiKey ?? "", ...headers].flatMap((value) => missingVariables(value, {}));
    });
    return [...new Set([...names, ...configured, ...this.#auth.variables()])];
  }

  /** Adds an extension's provider, or changes a known one; with `models` these replace the provider's own. */
  registerProvider(id: string, config: ProviderConfig): void {
    this.#registered.set(id, config);
    this.#combined.delete(id);
  }

  /** Undoes `registerProvider`. */
  unregisterProvider(id: string): void {
    this.#registered.delete(id);
    this.#combined.delete(id);
  }

  async #ask(id: string): Promise<LocalAnswer> {
    const baseUrl = this.#localUrl(id);
    const { apiKey, headers } = await this.resolveRequest(localModel(id, "", baseUrl));
    return listLocalModels(id, baseUrl, {
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...headers,
    });
  }

  #discoveryFailed(error: unknown): void {
    this.#discoveryProblem = `Cannot list models: ${textOf(error)}`;
  }

  #localUrl(id: string): string {
    const baseUrl = this.#config.providers.get(id)?.baseUrl ?? (localServers[id]?.baseUrl as string);
    return usableAddress(baseUrl, this.#auth.envOf(id)).address;
  }

  /** What the user wrote; of a local server only what differs from the usual has to be there. */
  #configured(id: string): ProviderConfig | undefined {
    const configured = this.#config.providers.get(id);
    if (!configured || !isLocalServer(id)) return configured;
    return { api: "openai-completions", baseUrl: this.#localUrl(id), ...configured };
  }

  /** Those that say something of a provider, the user's first. */
  #configs(provider: string): ProviderConfig[] {
    return [this.#config.providers.get(provider), this.#registered.get(provider)].filter(
      (config) => config !== undefined,
    );
  }

  #withIncluded(models: Model[]): Model[] {
    const isListed = (model: Model) =>
      models.some(({ provider, id }) => provider === model.provider && id === model.id);
    return [...models, ...this.#included.filter((model) => !isListed(model))];
  }

  async #configuredKey(provider: string, env: Environment): Promise<string | undefined> {
    const stored = await this.#auth.resolveKey(provider);
    if (stored !== undefined) return stored;
    for (const { apiKey } of this.#configs(provider))
      if (apiKey !== undefined && missingVariables(apiKey, env).length === 0) return resolveConfigValue(apiKey, env);
    return undefined;
  }

  async #headers(model: Model, env: Environment): Promise<Record<string, string>> {
    const headers: Record<string, string> = {};
    // The extension's first, so that the user's win; a provider's before those of a single model.
    for (const { headers: own, models, modelOverrides } of this.#configs(model.provider).reverse()) {
      const ofModel = models?.find(({ id }) => id === model.id)?.headers ?? modelOverrides?.[model.id]?.headers;
      for (const [name, value] of Object.entries({ ...own, ...ofModel }))
        headers[name] = await resolveConfigValue(value, env);
    }
    const login = loginOf(model, this.#configs(model.provider), env);
    const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
    return login === undefined || isNamed ? headers : { ...headers, Authorization: login };
  }

  #howToGetCredentials(provider: string): string {
    const facts = providerFacts(provider);
    const env = this.#auth.envOf(provider);
    const missing = (facts?.urlEnv ?? []).filter((name) => !env[name]);
    const names = missing.length > 0 ? missing.join(" and ") : facts?.env[0];
    const hint = names
      ? `set ${names}, or store a key in auth.json`
      : "give it an apiKey in models.json or store one in auth.json";
    return `No API key for provider "${provider}": ${hint}`;
  }
}

function isNotKeyless(provider: string): boolean {
  return !providerFacts(provider)?.keyless;
}
