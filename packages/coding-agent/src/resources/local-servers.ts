// Servers of models on this machine: where they are, and asking them which models they have.

import type { Model } from "@earendil-works/pi-ai";
import { textOf } from "../lib/error-text.js";

/** A server that speaks the chat completions API, needs no key, and knows best which models it has. */
export interface LocalServer {
  name: string;
  /** Where it listens unless it was told otherwise; from its own documentation. */
  baseUrl: string;
}

/** By provider id, in the order in which they are listed. */
export const localServers: Readonly<Record<string, LocalServer>> = {
  ollama: { name: "Ollama", baseUrl: "http://127.0.0.1:11434/v1" },
  "llama-cpp": { name: "llama.cpp", baseUrl: "http://127.0.0.1:8080/v1" },
  "lm-studio": { name: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1" },
};

export function isLocalServer(provider: string): boolean {
  return Object.hasOwn(localServers, provider);
}

/** What local servers told of their models; asked again whenever somebody wants to know. */
export class LocalModels {
  readonly #ask: (provider: string) => Promise<LocalAnswer>;
  readonly #told = new Map<string, Model[]>();
  readonly #problems = new Map<string, string>();
  readonly #asking = new Map<string, Promise<void>>();

  /** `ask` rejects with an error that says why there is no answer. */
  constructor(ask: (provider: string) => Promise<LocalAnswer>) {
    this.#ask = ask;
  }

  /** Undefined until the server has answered. */
  of(provider: string): readonly Model[] | undefined {
    return this.#told.get(provider);
  }

  /** One text for each server that did not answer when it was asked last, or whose answer was not usable as a whole. */
  get problems(): string[] {
    return [...this.#problems.values()];
  }

  /** Asks all of them at the same time; who is being asked already is not asked twice. Never rejects. */
  async discover(providers: readonly string[]): Promise<void> {
    await Promise.all(
      providers.map((provider) => {
        const asking = this.#asking.get(provider) ?? this.#askOne(provider);
        this.#asking.set(provider, asking);
        return asking;
      }),
    );
  }

  async #askOne(provider: string): Promise<void> {
    try {
      const { models, problem } = await this.#ask(provider);
      this.#told.set(provider, models);
      if (problem === undefined) this.#problems.delete(provider);
      else this.#problems.set(provider, problem);
    } catch (error) {
      this.#told.delete(provider);
      this.#problems.set(provider, textOf(error));
    } finally {
      this.#asking.delete(provider);
    }
  }
}

/** The models a server named, and what was wrong with some of them. */
export interface LocalAnswer {
  models: Model[];
  problem?: string;
}

/** A server on this machine that answers at all answers sooner, in milliseconds. */
const answerLimitMs = 1000;
/** Bytes of an answer that are read. */
const longestAnswer = 4 * 1024 * 1024;

/** What a server says of a model; what it does not say is assumed to be small. */
export function localModel(provider: string, id: string, baseUrl: string, contextWindow = 32_768): Model {
  return {
    id,
    name: id,
    api: "openai-completions",
    provider,
    baseUrl,
    reasoning: false,
    input: ["text"],
    contextWindow,
    maxTokens: Math.min(16_384, Math.floor(contextWindow / 2)),
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    // Servers of their own make: what OpenAI alone understands stays out of requests.
    compat: { supportsStore: false, maxTokensField: "max_tokens" },
  };
}

/** The models of a server, in its order. Rejects with an error whose text says why there is no answer. */
export async function listLocalModels(
  provider: string,
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
): Promise<LocalAnswer> {
  const url = `${baseUrl.replace(/\/+$/, "")}/models`;
  const fail = (reason: string) => new Error(`Cannot list the models of "${provider}" at ${url}: ${reason}`);
  let answer: unknown;
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(answerLimitMs) });
    if (!response.ok) throw fail(`status ${response.status}`);
    const text = await response.text();
    if (text.length > longestAnswer) throw fail("the answer is too long");
    answer = JSON.parse(text);
  } catch (error) {
    throw error instanceof SyntaxError ? fail("the answer is no JSON") : reasonOf(error, fail);
  }
  const list = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(list)) throw fail("the answer has no list of models");
  let odd = 0;
  const models = list.flatMap((entry: unknown) => {
    const { id } = (entry ?? {}) as { id?: unknown };
    // Embedding models cannot chat; LM Studio names them so.
    if (typeof id !== "string" || id === "" || id.startsWith("text-embedding-")) return [];
    // It would break the lines of whoever lists it, and nobody could type it.
    if (/[\p{Cc}\u2028\u2029]/u.test(id)) {
      odd += 1;
      return [];
    }
    return localModel(provider, id, baseUrl, contextOf(entry as Record<string, unknown>));
  });
  if (odd === 0) return { models };
  const left = odd === 1 ? "1 model is left out, whose id has" : `${odd} models are left out, whose ids have`;
  return { models, problem: `Cannot use all models of "${provider}" at ${url}: ${left} control characters` };
}

function reasonOf(error: unknown, fail: (reason: string) => Error): unknown {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (message.startsWith("Cannot list the models")) return error;
  if (name === "TimeoutError") return fail(`no answer within ${answerLimitMs / 1000} second`);
  return fail(cause?.code ?? cause?.message ?? message);
}

/** The names under which servers tell the size of the context: vLLM, LM Studio, llama.cpp. */
function contextOf(entry: Record<string, unknown>): number | undefined {
  const meta = (entry.meta ?? {}) as Record<string, unknown>;
  const told = [entry.max_model_len, entry.max_context_length, entry.context_length, meta.n_ctx, meta.n_ctx_train];
  return told.find((value): value is number => typeof value === "number" && value > 0);
}
