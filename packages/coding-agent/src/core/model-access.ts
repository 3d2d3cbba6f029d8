// The models as extensions see them: `ctx.modelRegistry`, on our registry and the providers extensions bring.

import {
  type AssistantMessageEvent,
  type AssistantMessageEventStream,
  type Context,
  clampThinkingLevel,
  createAssistantMessageEventStream,
  emptyUsage,
  type Model,
  type StreamOptions,
  stream as streamModel,
} from "@earendil-works/pi-ai";
import type { ExtensionModelRegistry } from "../extensions/host.js";
import { textOf } from "../lib/error-text.js";
import type { ModelRegistry } from "../resources/model-registry.js";
import type { ExtensionProviders } from "./extension-providers.js";

export function modelAccess(models: ModelRegistry, providers: ExtensionProviders): ExtensionModelRegistry {
  const authOf = (provider: string) => models.resolveRequest(models.allModelsOf(provider)[0] ?? unnamed(provider));
  const withAuth = async (model: Model, options: StreamOptions): Promise<StreamOptions> => {
    const { apiKey, headers, env } = await models.resolveRequest(model);
    return {
      ...(env && { env }),
      ...(apiKey !== undefined && { apiKey }),
      ...options,
      ...((headers || options.headers) && { headers: { ...headers, ...options.headers } }),
    };
  };
  const registry: ExtensionModelRegistry = {
    find: (provider, id) => models.find(provider, id),
    getAll: () => models.getAll(),
    getAvailable: () => models.getAvailable(),
    hasConfiguredAuth: (model) => models.hasCredentials(model),
    getApiKeyAndHeaders: async (model) => {
      try {
        const { apiKey, headers } = await models.resolveRequest(model);
        return { ok: true, ...(apiKey !== undefined && { apiKey }), ...(headers && { headers }) };
      } catch (error) {
        return { ok: false, error: textOf(error) };
      }
    },
    getApiKeyForProvider: async (provider) => (await authOf(provider).catch(() => undefined))?.apiKey,
    getProvider: (id) =>
      models.hasProvider(id)
        ? { id, name: models.providerName(id), getModels: () => [...models.allModelsOf(id)] }
        : undefined,
    getProviderAuth: async (id) => {
      const auth = await authOf(id).catch(() => undefined);
      if (!auth) return undefined;
      const { apiKey, headers } = auth;
      const baseUrl = models.allModelsOf(id)[0]?.baseUrl;
      return {
        ...(apiKey !== undefined && { apiKey }),
        ...(headers && { headers }),
        ...(baseUrl !== undefined && { baseUrl }),
      };
    },
    getRegisteredProviderConfig: (id) => providers.get(id),
    getRegisteredProviderIds: () => providers.names,
    isUsingOAuth: () => false,
    refresh: async () => {
      models.reload();
      await Promise.all([models.discover(), providers.refresh()]);
    },
    complete: async (model, context, options = {}) =>
      streamModel(model, context, await withAuth(model, options)).result(),
    streamSimple: (model, context, options = {}) => {
      const { reasoning, ...rest } = options as StreamOptions & { reasoning?: StreamOptions["thinkingLevel"] };
      const asked = { ...rest, ...(reasoning && { thinkingLevel: clampThinkingLevel(model, reasoning) }) };
      return streamWhenReady(model, context, withAuth(model, asked));
    },
  };
  return registry;
}

function unnamed(provider: string): Model {
  return { provider, id: "" } as Model;
}

/** A call that begins when its key is there; what keeps it from beginning is its last event. */
function streamWhenReady(model: Model, context: Context, options: Promise<StreamOptions>): AssistantMessageEventStream {
  const out = createAssistantMessageEventStream();
  const read = async () => {
    for await (const event of streamModel(model, context, await options)) out.push(event);
  };
  read().catch((error) => {
    const { api, provider, id } = model;
    const failed = {
      role: "assistant" as const,
      content: [],
      api,
      provider,
      model: id,
      usage: emptyUsage(),
      stopReason: "error" as const,
      errorMessage: textOf(error),
      timestamp: Date.now(),
    };
    out.push({ type: "error", reason: "error", error: failed } as AssistantMessageEvent);
  });
  return out;
}
