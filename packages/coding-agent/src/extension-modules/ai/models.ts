// Facts of models and of their answers.

import {
  type AssistantMessage,
  errorInfo,
  isRetryable,
  type Model,
  providerFacts,
  providerIds,
  readProvider,
  type Usage,
  withCost,
} from "@earendil-works/pi-ai";

/** The ids of the providers whose models come with the program. */
export function getProviders(): string[] {
  return [...providerIds];
}

/** The models of a provider; empty for an unknown one. */
export function getModels(provider: string): Model[] {
  return [...readProvider(provider)];
}

/** A model that comes with the program; undefined for an unknown one. */
export function getModel(provider: string, id: string): Model | undefined {
  return readProvider(provider).find((model) => model.id === id);
}

/** Prices a usage in US dollars; the usage itself gets the cost, which is also returned. */
export function calculateCost(model: Model, usage: Usage): Usage["cost"] {
  usage.cost = withCost(model, usage).cost;
  return usage.cost;
}

/** Whether both are the same model of the same provider. */
export function modelsAreEqual(
  a: Pick<Model, "provider" | "id"> | null | undefined,
  b: Pick<Model, "provider" | "id"> | null | undefined,
): boolean {
  return !!a && !!b && a.provider === b.provider && a.id === b.id;
}

export function hasApi(model: Model, api: string): boolean {
  return model.api === api;
}

/** `chat`, unless the model says something else of itself. */
export function getModelType(model: Model): string {
  return model.type ?? "chat";
}

/** Whether the answer failed because the context is larger than the model's window, or says so by its usage. */
export function isContextOverflow(message: AssistantMessage, contextWindow?: number): boolean {
  if (message.stopReason === "error") return failureOf(message) === "overflow";
  return contextWindow !== undefined && message.usage.input + message.usage.cacheRead > contextWindow;
}

/** Whether the answer failed for a reason that may pass. */
export function isRetryableAssistantError(message: AssistantMessage): boolean {
  if (message.stopReason !== "error") return false;
  return isRetryable(failureOf(message));
}

/** The kind an answer came with; one of another program has only words. */
function failureOf({ error, errorMessage = "" }: AssistantMessage) {
  return error?.kind ?? errorInfo({ message: errorMessage, responseBody: errorMessage }).kind;
}

/** How a key of a provider is found, as a part of a provider of one's own. */
export function envApiKeyAuth(name: string, variables: readonly string[]) {
  return {
    apiKey: {
      name,
      resolve: async () => {
        const variable = variables.find((candidate) => process.env[candidate]);
        return variable ? { auth: { apiKey: process.env[variable] }, source: variable } : undefined;
      },
    },
  };
}

/** What is known of a provider that comes with the program. */
export function builtinProviders(): { id: string; name: string }[] {
  return providerIds.map((id) => ({ id, name: providerFacts(id)?.name ?? id }));
}

/** All models that come with the program. Reads every file of the catalogue. */
export function getAllBuiltinModels(): Model[] {
  return providerIds.flatMap((id) => [...readProvider(id)]);
}
