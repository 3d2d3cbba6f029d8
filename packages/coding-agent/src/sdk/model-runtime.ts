// Models and keys as programs and extensions hold them: one object to look up, to give keys to, and to call models with.

import type {
  AssistantMessage,
  AssistantMessageEventStream,
  Context,
  Model,
  StreamOptions,
} from "@earendil-works/pi-ai";
import { ExtensionProviders } from "../core/extension-providers.js";
import { modelAccess } from "../core/model-access.js";
import type { ExtensionModelRegistry, ProviderRegistration } from "../extensions/host.js";
import { AuthStorage } from "../resources/auth.js";
import type { Environment } from "../resources/config-value.js";
import { agentDirectory } from "../resources/locations.js";
import { ModelRegistry as Models } from "../resources/model-registry.js";
import { chosenProxy, useProxy } from "../resources/proxy.js";
import { SessionProviders, type SessionTarget } from "./session-providers.js";

export interface ModelRuntimeOptions {
  /** Default: auth.json of the agent directory. */
  authPath?: string;
  /** Default: models.json of the agent directory. */
  modelsPath?: string;
  agentDir?: string;
  /** Where keys and proxies are looked for. Default: this process's environment. */
  env?: Environment;
}

interface Parts {
  models: Models;
  /** Absent where the keys are somebody else's. */
  auth?: AuthStorage | undefined;
  /** Models with the providers of a session that goes on beside this one. */
  access?: ExtensionModelRegistry | undefined;
}

/** The runtime behind each registry that was handed out. */
const runtimes = new WeakMap<object, ModelRuntime>();

export class ModelRuntime {
  readonly models: Models;
  readonly #auth: AuthStorage | undefined;
  readonly #access: ExtensionModelRegistry;
  /** What sessions on this runtime bring; beside those of a surrounding session. */
  readonly #providers: ExtensionProviders;
  readonly #sessions: SessionProviders;
  /** The program's own. */
  readonly #target: SessionTarget;

  private constructor({ models, auth, access }: Parts) {
    this.models = models;
    this.#auth = auth;
    this.#providers = new ExtensionProviders(models);
    this.#access = access ?? modelAccess(models, this.#providers);
    const isForeign = (name: string) => access?.getRegisteredProviderIds().includes(name) ?? false;
    this.#sessions = new SessionProviders(this.#providers, isForeign);
    this.#target = this.#sessions.target();
    runtimes.set(this.#access, this);
    runtimes.set(models, this);
  }

  /** Reads the files. Never rejects for what is wrong in them. */
  static async create(options: ModelRuntimeOptions = {}): Promise<ModelRuntime> {
    return ModelRuntime.load(options);
  }

  static load(
    options: ModelRuntimeOptions & { auth?: AuthStorage; httpProxy?: string | undefined } = {},
  ): ModelRuntime {
    const { authPath, modelsPath, env = process.env, agentDir = agentDirectory(env), httpProxy } = options;
    const auth = options.auth ?? AuthStorage.load({ agentDir, path: authPath, env });
    const proxy = chosenProxy(env, httpProxy);
    const models = Models.load({
      agentDir,
      path: modelsPath,
      auth,
      ...(proxy && { prepareNetwork: () => useProxy(proxy) }),
    });
    return new ModelRuntime({ models, auth });
  }

  /** The same object for the same models. */
  static over(parts: Parts): ModelRuntime {
    return runtimes.get(parts.access ?? parts.models) ?? new ModelRuntime(parts);
  }

  /** The runtime a registry belongs to; undefined for one that was handed out by somebody else. */
  static behind(registry: object | undefined): ModelRuntime | undefined {
    if (registry instanceof ModelRuntime) return registry;
    if (registry instanceof Models) return ModelRuntime.over({ models: registry });
    return registry && runtimes.get(registry);
  }

  /** `ctx.modelRegistry` of sessions on this runtime. */
  get registry(): ExtensionModelRegistry {
    return this.#access;
  }

  /**
   * Where the extensions of one more session on this runtime bring their providers. One that the surrounding session's
   * extensions brought stays as it is: another session must not change what that one calls.
   */
  sessionTarget(): SessionTarget {
    return this.#sessions.target();
  }

  getModels(provider?: string): Model[] {
    return provider === undefined ? this.#access.getAll() : [...this.models.allModelsOf(provider)];
  }

  getModel(provider: string, id: string): Model | undefined {
    return this.models.find(provider, id);
  }

  /** Models with credentials. */
  async getAvailable(provider?: string): Promise<Model[]> {
    return this.getAvailableSnapshot().filter((model) => (provider ?? model.provider) === model.provider);
  }

  getAvailableSnapshot(): Model[] {
    return this.models.getAvailable();
  }

  getProvider(id: string): object | undefined {
    return this.#access.getProvider(id);
  }

  getProviders(): object[] {
    return this.models.providerIds.map((id) => this.#access.getProvider(id)).filter((found) => found !== undefined);
  }

  hasConfiguredAuth(model: Model | string): boolean {
    return this.models.hasCredentialsFor(typeof model === "string" ? model : model.provider);
  }

  /** Key and headers of a provider or a model; undefined when there are none. */
  async getAuth(of: Model | string): Promise<object | undefined> {
    return this.#access.getProviderAuth(typeof of === "string" ? of : of.provider);
  }

  isUsingOAuth(model: Model): boolean {
    return this.#access.isUsingOAuth(model);
  }

  /** Uses a key in this process only. Throws where the keys are somebody else's. */
  async setRuntimeApiKey(provider: string, key: string): Promise<void> {
    this.#requireAuth().setRuntimeKey(provider, key);
  }

  async removeRuntimeApiKey(provider: string): Promise<void> {
    this.#requireAuth().setRuntimeKey(provider, undefined);
  }

  registerProvider(name: string, config: ProviderRegistration): void {
    this.#target.register(name, config);
  }

  unregisterProvider(name: string): void {
    this.#target.unregister(name);
  }

  getRegisteredProviderIds(): string[] {
    return [...new Set([...this.#access.getRegisteredProviderIds(), ...this.#providers.names])];
  }

  getRegisteredProviderConfig(name: string): ProviderRegistration | undefined {
    return this.#access.getRegisteredProviderConfig(name) ?? this.#providers.get(name);
  }

  /** What is wrong with models.json; undefined when nothing is. */
  getError(): string | undefined {
    const messages = this.models.diagnostics.map(({ message }) => message);
    return messages.length > 0 ? messages.join("\n") : undefined;
  }

  /** Reads models.json again, and asks servers and providers for their models. */
  refresh(): Promise<void> {
    return this.#access.refresh();
  }

  stream(model: Model, context: Context, options?: StreamOptions): AssistantMessageEventStream {
    return this.#access.streamSimple(model, context, options);
  }

  streamSimple(model: Model, context: Context, options?: StreamOptions): AssistantMessageEventStream {
    return this.#access.streamSimple(model, context, options);
  }

  complete(model: Model, context: Context, options?: StreamOptions): Promise<AssistantMessage> {
    return this.#access.complete(model, context, options);
  }

  completeSimple(model: Model, context: Context, options?: StreamOptions): Promise<AssistantMessage> {
    return this.streamSimple(model, context, options).result();
  }

  #requireAuth(): AuthStorage {
    if (!this.#auth) throw new Error("Cannot set a key: this registry came without its keys");
    return this.#auth;
  }
}

export interface ModelRegistry extends ExtensionModelRegistry {}

/** A runtime in the form of `ctx.modelRegistry`. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every member of the interface
export class ModelRegistry {
  constructor(runtime: ModelRuntime) {
    Object.assign(this, runtime.registry);
    runtimes.set(this, runtime);
  }
}
