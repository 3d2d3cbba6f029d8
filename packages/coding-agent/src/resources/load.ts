// Everything one working directory brings along, with the user's own: settings, credentials, models, and what was wrong.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { AuthStorage } from "./auth.js";
import type { Environment } from "./config-value.js";
import type { Diagnostic } from "./diagnostic.js";
import { agentDirectory, chosenSessionDirectory, projectDirectory } from "./locations.js";
import { ModelRegistry } from "./model-registry.js";
import { chosenProxy, useProxy } from "./proxy.js";
import type { Settings } from "./settings.js";
import { type SettingsLayer, SettingsManager } from "./settings-manager.js";
import { untrustedDiagnostic } from "./trust.js";

export interface LoadOptions {
  cwd: string;
  env: Environment;
  /** The user's directory; absent: as the environment says. */
  agentDir?: string;
  /** The directory of sessions that was asked for on the command line. */
  sessionDir?: string;
  /** Keys at hand already; absent to read them. */
  auth?: AuthStorage;
  /** Decides, by the user's settings, whether the project's own resources count. */
  isTrusted: (userSettings: Readonly<Settings>) => boolean;
  /** Settings that win over all files. */
  overrides?: SettingsLayer;
}

export interface Resources {
  cwd: string;
  agentDir: string;
  isTrusted: boolean;
  settings: Readonly<Settings>;
  settingsManager: SettingsManager;
  auth: AuthStorage;
  models: ModelRegistry;
  /** Where sessions were asked to be, absolute; undefined for the usual place. */
  sessionDir: string | undefined;
  /** What is wrong so far; more may come up while models are read. */
  diagnostics(): Diagnostic[];
  /** The environment of shell commands: without credentials when the settings hide them. */
  shellEnvironment(): Environment;
}

/** Never throws for what is wrong in a file: that is in `diagnostics`. */
export function loadResources(options: LoadOptions): Resources {
  const { cwd, env, agentDir = agentDirectory(env), overrides } = options;
  let settingsManager = SettingsManager.load({ agentDir, cwd, trusted: false, overrides });
  const isTrusted = options.isTrusted(settingsManager.settings);
  if (isTrusted) settingsManager = SettingsManager.load({ agentDir, cwd, trusted: true, overrides });
  const auth = options.auth ?? AuthStorage.load({ agentDir, env });
  const { settings } = settingsManager;
  const proxy = chosenProxy(env, settings.httpProxy);
  const models = ModelRegistry.load({ agentDir, auth, ...(proxy && { prepareNetwork: () => useProxy(proxy) }) });
  return {
    cwd,
    agentDir,
    isTrusted,
    settings,
    settingsManager,
    auth,
    models,
    sessionDir: chosenSessionDirectory(cwd, { option: options.sessionDir, env, setting: settings.sessionDir }),
    diagnostics: () => [
      ...settingsManager.diagnostics,
      ...auth.diagnostics,
      ...models.diagnostics,
      ...unusedResources(cwd, isTrusted),
    ],
    shellEnvironment: () => withoutCredentials(env, settings.shell.hideCredentials, models),
  };
}

function unusedResources(cwd: string, isTrusted: boolean): Diagnostic[] {
  const mcp = join(projectDirectory(cwd), "mcp.json");
  const warn = (path: string, message: string): Diagnostic => ({
    severity: "warning",
    source: "project",
    message,
    path,
  });
  const untrusted = isTrusted ? undefined : untrustedDiagnostic(cwd, [mcp]);
  return [
    ...(existsSync(mcp) ? [warn(mcp, "MCP servers are not supported yet; the file is ignored")] : []),
    ...(untrusted ? [untrusted] : []),
  ];
}

function withoutCredentials(env: Environment, hide: boolean | readonly string[], models: ModelRegistry): Environment {
  if (hide === false) return { ...env };
  const hidden = new Set(hide === true ? models.credentialVariables() : hide);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
}
