// A TypeScript or JavaScript module → its extension, with import names that lead to our own modules.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { Jiti } from "jiti";
import { textOf } from "../lib/error-text.js";
import type { SourceInfo } from "../modes/rpc/rpc-types.js";
import type { ExtensionFactory } from "./api.js";
import { createApi } from "./create-api.js";
import { Extension } from "./extension.js";
import type { ExtensionRuntime } from "./runtime.js";

/** An extension to load: the path of its module, and where it comes from. */
export interface ExtensionFile {
  path: string;
  sourceInfo: SourceInfo;
}

/** An extension of a program that embeds this one: its factory is at hand. */
export interface InlineExtension {
  name?: string;
  factory: ExtensionFactory;
}

export interface LoaderOptions {
  /** The modules that import names lead to, whatever copies of them extensions bring. */
  modules: () => Promise<Record<string, object>>;
  /** Where compiled modules are kept; absent to keep none. */
  cacheDir?: string | undefined;
}

/** An extension that cannot be loaded; the text names its file. */
export class ExtensionLoadError extends Error {
  override readonly name = "ExtensionLoadError";
  readonly path: string;
  /** The text without the file. */
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`Cannot load extension "${path}": ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/** Loads extensions for session after session: modules stay evaluated until `forget`. */
export class ExtensionLoader {
  readonly #options: LoaderOptions;
  #jiti: Promise<Jiti> | undefined;
  #loading: string | undefined;
  readonly #factories = new Map<string, Promise<ExtensionFactory>>();
  /** The folders of the extensions evaluated so far. */
  readonly #roots = new Set<string>();

  constructor(options: LoaderOptions) {
    this.#options = options;
  }

  /** The extension that is being loaded now, by its path. */
  get loading(): string | undefined {
    return this.#loading;
  }

  /** Modules of the extensions loaded so far are evaluated anew from now on; what is below their node_modules stays. */
  forget(): void {
    this.#factories.clear();
    forgetModules([...this.#roots]);
  }

  /**
   * Evaluates the modules that are not yet, then runs the factories one after another. Those in `loaded` already are taken
   * as they are. Throws `ExtensionLoadError` for the first that fails, unless `onError` takes it and the rest goes on.
   */
  async load(
    files: readonly (ExtensionFile | (InlineExtension & { sourceInfo: SourceInfo }))[],
    runtime: ExtensionRuntime,
    options: { loaded?: readonly Extension[]; onError?: (error: ExtensionLoadError) => void } = {},
  ): Promise<Extension[]> {
    const { loaded: before = [], onError } = options;
    const loaded: Extension[] = [];
    // A name belongs to the extension that registered it first.
    const claimTool = (name: string, extension: Extension) => {
      const owner = [...loaded, ...before].find((other) => other !== extension && other.tools.has(name));
      if (owner) throw new Error(`Tool "${name}" is registered by "${owner.path}" already`);
    };
    for (const file of files) {
      const path = "path" in file ? file.path : file.sourceInfo.path;
      const known = before.find((extension) => extension.path === path);
      if (known) {
        loaded.push(known);
        continue;
      }
      const extension = new Extension(path, file.sourceInfo);
      this.#loading = path;
      try {
        const factory = "factory" in file ? file.factory : await this.#factory(file);
        await factory(createApi(extension, { runtime, claimTool }));
        loaded.push(extension);
      } catch (error) {
        extension.clear();
        const failure = new ExtensionLoadError(path, textOf(error));
        if (!onError) throw failure;
        onError(failure);
      } finally {
        this.#loading = undefined;
      }
    }
    return loaded;
  }

  #factory({ path, sourceInfo }: ExtensionFile): Promise<ExtensionFactory> {
    let factory = this.#factories.get(path);
    if (!factory) {
      const folder = sourceInfo.origin === "package" ? sourceInfo.baseDir : undefined;
      const root = `${folder ?? dirname(path)}/`;
      this.#roots.add(root);
      factory = this.#evaluate(path);
      this.#factories.set(path, factory);
      // One that failed may be mended before the next session.
      factory.catch(() => {
        this.#factories.delete(path);
        forgetModules([root]);
      });
    }
    return factory;
  }

  async #evaluate(path: string): Promise<ExtensionFactory> {
    if (!existsSync(path)) throw new Error("there is no such file");
    this.#jiti ??= this.#createJiti();
    const jiti = await this.#jiti;
    const module = await jiti.import<unknown>(path);
    const factory = defaultExportOf(module);
    if (typeof factory !== "function") throw new Error("its default export is not a function");
    return factory as ExtensionFactory;
  }

  async #createJiti(): Promise<Jiti> {
    const { modules, cacheDir } = this.#options;
    // Loaded with the first extension: saves a start without any 90 ms.
    const [{ createJiti }, virtualModules] = await Promise.all([import("jiti"), modules()]);
    return createJiti(import.meta.url, {
      virtualModules,
      fsCache: cacheDir ?? false,
      // A module that two extensions import is evaluated once.
      moduleCache: true,
      interopDefault: true,
    });
  }
}

/** Lets go of what was evaluated below folders, but for what is in a node_modules there. */
function forgetModules(roots: readonly string[]): void {
  const { cache } = createRequire(import.meta.url);
  const isBelow = (path: string, root: string) =>
    path.startsWith(root) && !path.slice(root.length).includes("node_modules/");
  for (const path of Object.keys(cache)) if (roots.some((root) => isBelow(path, root))) delete cache[path];
}

/** `export default`, `module.exports`, and a default that was wrapped once more on the way. */
function defaultExportOf(module: unknown): unknown {
  if (typeof module === "function") return module;
  const outer = (module as { default?: unknown } | null)?.default;
  if (typeof outer === "function") return outer;
  return (outer as { default?: unknown } | null | undefined)?.default;
}
