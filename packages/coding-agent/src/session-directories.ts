// The command line's own loader of directories, and of the modules and colours that come with the first extension.

import type { ParsedArgs } from "./args.js";
import type { ExtensionUI } from "./extensions/ui.js";
import { DirectoryLoader, type DirectoryOptions, type SharedDirectory } from "./load-directory.js";
import type { ModeName } from "./modes/index.js";
import type { Environment } from "./resources/config-value.js";
import { isOffline } from "./resources/discover-options.js";

export interface LoaderPlace {
  env: Environment;
  /** The dialogs of the mode, once it runs. */
  ui: () => ExtensionUI | undefined;
  /** Called before the first extension is evaluated. */
  beforeExtensions?: () => void;
  /** In place of what the command line says. */
  instead?: Partial<DirectoryOptions>;
}

export interface SessionDirectories {
  loader: DirectoryLoader;
  /** The colours of `ctx.ui.theme`; undefined until the modules that extensions import are there. */
  theme: () => object | undefined;
}

/** A loader that does what the command line says. */
export function sessionDirectories(
  args: ParsedArgs,
  { env, ui, beforeExtensions, instead }: LoaderPlace,
): SessionDirectories {
  const mode = modeOf(args);
  const { modules, theme } = lazyModules(() => loader.shared);
  const loader: DirectoryLoader = new DirectoryLoader({
    ...directoryOptions(args, env),
    modules: () => {
      beforeExtensions?.();
      return modules();
    },
    outside: () => ({ mode: mode === "text" ? "print" : mode, ui: mode === "rpc" ? ui() : undefined }),
    ...instead,
  });
  return { loader, theme };
}

export function modeOf({ values }: ParsedArgs): ModeName {
  if (values.mode === "rpc" || values.mode === "json") return values.mode;
  return "text";
}

function lazyModules(shared: () => SharedDirectory | undefined) {
  let theme: (() => object) | undefined;
  return {
    theme: () => theme?.(),
    modules: async () => {
      // Loaded with the first extension: saves a start without any 80 ms and 10 MB.
      const { hostModules, defaultTheme } = await import("./host-modules.js");
      theme = defaultTheme;
      return hostModules(shared);
    },
  };
}

function directoryOptions(
  { values, lists }: ParsedArgs,
  env: Environment,
): Omit<DirectoryOptions, "outside" | "modules"> {
  const sessionDir = values["session-dir"];
  const isOn = (name: keyof ParsedArgs["values"]) => values[name] === true;
  return {
    env,
    sessionDir: typeof sessionDir === "string" ? sessionDir : undefined,
    approve: isOn("approve") || isOn("no-approve") ? !isOn("no-approve") : undefined,
    extensions: lists.extension ?? [],
    skills: lists.skill ?? [],
    prompts: lists["prompt-template"] ?? [],
    noExtensions: isOn("no-extensions"),
    noSkills: isOn("no-skills"),
    noPrompts: isOn("no-prompt-templates"),
    isOffline: isOn("offline") || isOffline(env),
  };
}
