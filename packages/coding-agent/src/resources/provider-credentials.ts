// What credentials an entry of configuration and the environment bring for a provider, and whether a request can carry them.

import { isHeaderValue, type Model, providerFacts, type StreamOptions } from "@earendil-works/pi-ai";
import { ConfigValueError, type Environment, missingVariables, notForHeaders } from "./config-value.js";
import type { ProviderConfig } from "./models-config.js";
import { usableAddress } from "./provider-models.js";

/** The key of a request and its headers, as far as there are any. */
export type Credentials = Pick<StreamOptions, "apiKey" | "headers">;

/** The same credentials. Throws `ConfigValueError` when no request can carry them, without showing them. */
export function sendable(found: Credentials): Credentials {
  if (found.apiKey !== undefined && !isHeaderValue(found.apiKey))
    throw new ConfigValueError(`the key ${notForHeaders}`);
  for (const [name, value] of Object.entries(found.headers ?? {}))
    if (!isHeaderValue(value)) throw new ConfigValueError(`the value of header "${name}" ${notForHeaders}`);
  return found;
}

/** Whether a provider's entry brings credentials: a key, a header that carries one, or a user and password. */
export function isResolvable({ apiKey, headers = {}, baseUrl = "" }: ProviderConfig, env: Environment): boolean {
  if (usableAddress(baseUrl, env).login !== undefined) return true;
  const carriers = Object.entries(headers).filter(([name]) => /^(authorization|x-api-key|api-key)$/i.test(name));
  const values = [...(apiKey === undefined ? [] : [apiKey]), ...carriers.map(([, value]) => value)];
  return values.some((value) => missingVariables(value, env).length === 0);
}

/** The key that the environment has for a provider, or the headers that stand for it, with `headers` added. */
export function environmentKey(provider: string, env: Environment, headers: Record<string, string>): Credentials {
  const facts = providerFacts(provider);
  const bearer = facts?.bearerEnv?.map((name) => env[name]).find(Boolean);
  if (bearer) {
    const all: Record<string, string> = { Authorization: `Bearer ${bearer}`, ...headers };
    // Tokens of a signed-in user are accepted only with this header (docs of Anthropic's API).
    if (bearer.startsWith("sk-ant-oat")) all["anthropic-beta"] ??= "oauth-2025-04-20";
    return { headers: all };
  }
  const apiKey = facts?.env.map((name) => env[name]).find(Boolean);
  return { ...(apiKey && { apiKey }), ...(Object.keys(headers).length > 0 && { headers }) };
}

/** The user and password that stand in the configured base URL of a model, as a header's value. */
export function loginOf(model: Model, configs: readonly ProviderConfig[], env: Environment): string | undefined {
  for (const config of configs)
    for (const owner of [config, ...(config.models ?? [])]) {
      const { address, login } = usableAddress(owner.baseUrl ?? "", env);
      if (login !== undefined && address === model.baseUrl) return login;
    }
  return undefined;
}
