// The credentials the user stored (auth.json) and the ones given for this process.

import { join } from "node:path";
import type { Static } from "typebox";
import * as Type from "typebox";
import { checkValue, type ValueProblem } from "../lib/check-value.js";
import {
  type Environment,
  literalValue,
  missingVariables,
  resolveConfigValue,
  unsendableValue,
} from "./config-value.js";
import type { Diagnostic } from "./diagnostic.js";
import { faultAt, type JsonObject, readJsonFile } from "./json-file.js";
import { agentDirectory } from "./locations.js";

/** A stored key. `key` may stand for a variable or a command; `env` wins over the environment for this provider. */
export const ApiKeyCredential = Type.Object(
  {
    type: Type.Literal("api_key"),
    key: Type.String({ minLength: 1 }),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { title: "ApiKeyCredential" },
);
export type ApiKeyCredential = Static<typeof ApiKeyCredential>;

/**
 * Credentials by provider. The file is read once; what is wrong with it is in `diagnostics`, and it is never written over
 * because it is broken. Credentials of kinds this program does not use (such as `oauth`) are kept.
 */
export class AuthStorage {
  readonly path: string;
  readonly env: Environment;
  readonly #runtimeKeys = new Map<string, string>();
  /** Keys of commands, run once in the life of the process; a failure stays too. */
  readonly #commandKeys = new Map<string, Promise<string>>();
  #credentials = new Map<string, ApiKeyCredential>();
  #diagnostics: Diagnostic[] = [];

  private constructor(path: string, env: Environment) {
    this.path = path;
    this.env = env;
    this.reload();
  }

  /** Never throws. */
  static load(options: { agentDir?: string; path?: string | undefined; env?: Environment } = {}): AuthStorage {
    const { agentDir = agentDirectory(), path = join(agentDir, "auth.json"), env = process.env } = options;
    return new AuthStorage(path, env);
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  /** Reads the file again. */
  reload(): void {
    const file = readJsonFile(this.path, "auth");
    this.#diagnostics = file.diagnostics;
    this.#credentials = new Map();
    for (const [provider, value] of Object.entries(file.value ?? {})) {
      const kind = (value as { type?: unknown } | null)?.type;
      if (typeof kind === "string" && kind !== "api_key") continue;
      const [problem] = [...checkValue(ApiKeyCredential, value), ...unsendableKey(value)];
      if (!problem) this.#credentials.set(provider, value as ApiKeyCredential);
      else
        this.#diagnostics.push(
          faultAt(file, "auth", [provider, ...problem.path], `${problem.expected}; it is ignored`),
        );
    }
  }

  /** Uses a key for this process only; undefined forgets it. It wins over everything stored. */
  setRuntimeKey(provider: string, key: string | undefined): void {
    if (key === undefined) this.#runtimeKeys.delete(provider);
    else this.#runtimeKeys.set(provider, key);
  }

  /** Whether a key is there or can be asked for; nothing is run to find out. */
  has(provider: string): boolean {
    if (this.#runtimeKeys.has(provider)) return true;
    const credential = this.#credentials.get(provider);
    return credential !== undefined && missingVariables(credential.key, this.envOf(provider)).length === 0;
  }

  /** The environment as a provider sees it. */
  envOf(provider: string): Environment {
    const own = this.#credentials.get(provider)?.env;
    return own ? { ...this.env, ...own } : this.env;
  }

  /** The variables that stored keys stand for. */
  variables(): string[] {
    return [...this.#credentials.values()].flatMap(({ key }) => missingVariables(key, {}));
  }

  /** Where the key in use comes from; undefined when none is given or stored. */
  sourceOf(provider: string): "given" | "stored" | undefined {
    if (this.#runtimeKeys.has(provider)) return "given";
    return this.has(provider) ? "stored" : undefined;
  }

  /** The key of a provider; undefined when none is given or stored. Rejects with `ConfigValueError`. */
  async resolveKey(provider: string): Promise<string | undefined> {
    const runtimeKey = this.#runtimeKeys.get(provider);
    if (runtimeKey !== undefined) return runtimeKey;
    const credential = this.#credentials.get(provider);
    if (!credential) return undefined;
    const { key } = credential;
    if (!key.startsWith("!")) return resolveConfigValue(key, this.envOf(provider));
    const running = this.#commandKeys.get(key) ?? resolveConfigValue(key, this.envOf(provider));
    this.#commandKeys.set(key, running);
    return running;
  }

  /** Stores a key. Rejects a key that no HTTP header can carry, and when the file is broken or cannot be written. */
  async set(provider: string, credential: ApiKeyCredential): Promise<void> {
    const fault = unsendableValue(credential.key);
    if (fault) throw new Error(`Cannot store a key: it ${fault}`);
    await this.#update((file) => {
      file[provider] = credential;
    });
  }

  /** Stores a key as it is, whatever signs it holds; the environment stored beside an earlier one stays. */
  async setKey(provider: string, key: string): Promise<void> {
    const literal = literalValue(key);
    const fault = unsendableValue(literal);
    if (fault) throw new Error(`Cannot store a key: it ${fault}`);
    await this.#update((file) => {
      const before = (file[provider] ?? {}) as Partial<ApiKeyCredential>;
      const env = before.type === "api_key" && before.env ? { env: before.env } : {};
      file[provider] = { type: "api_key", key: literal, ...env };
    });
  }

  /** Removes what is stored for a provider; false when there was nothing, and the file is left alone. */
  async remove(provider: string): Promise<boolean> {
    const file = readJsonFile(this.path, "auth");
    if (file.diagnostics.length === 0 && !Object.hasOwn(file.value ?? {}, provider)) return false;
    await this.#update((changed) => {
      delete changed[provider];
    });
    return true;
  }

  async #update(change: (file: JsonObject) => void): Promise<void> {
    // Loaded when something is saved: saves its cost at start.
    const { updateJsonFile } = await import("./update-json-file.js");
    await updateJsonFile(this.path, "auth", change, { mode: 0o600 });
    this.reload();
  }
}

function unsendableKey(value: unknown): ValueProblem[] {
  const { key } = (value ?? {}) as { key?: unknown };
  const expected = typeof key === "string" && unsendableValue(key);
  return expected ? [{ path: ["key"], expected }] : [];
}
