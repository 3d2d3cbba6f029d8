// The modules that extensions import by name, as objects for the loader of extensions.

import * as typebox from "typebox";
import * as agentCore from "./agent-core.js";
import * as providers from "./ai/models.js";
import * as piAi from "./ai.js";
import * as codingAgent from "./coding-agent.js";
import { typeboxCompile, typeboxValue } from "./lazy-libraries.js";
import * as tui from "./tui/index.js";

export { defaultTheme, Theme } from "./theme.js";

/** Names under which the four packages are imported: those of today, and those that older extensions still have. */
const scopes = ["@earendil-works", "@mariozechner"];

/**
 * Import name → module, for every name an extension may import from the host. Old and new names give the same object,
 * which is the caller's to add members to. `host` is laid over the host's own module: what needs a running session.
 */
export function extensionModules(host: Readonly<Record<string, unknown>> = {}): Record<string, object> {
  const ai = { ...piAi };
  const packages: Record<string, object> = {
    "pi-coding-agent": { ...codingAgent, ...host },
    "pi-tui": { ...tui },
    "pi-ai": ai,
    "pi-ai/compat": ai,
    "pi-ai/models": ai,
    "pi-ai/oauth": {},
    "pi-ai/providers/all": {
      getBuiltinProviders: providers.getProviders,
      getBuiltinModels: providers.getModels,
      getBuiltinModel: providers.getModel,
      getAllBuiltinModels: providers.getAllBuiltinModels,
      builtinProviders: providers.builtinProviders,
    },
    "pi-agent-core": { ...agentCore },
  };
  const modules: Record<string, object> = Object.fromEntries(
    scopes.flatMap((scope) => Object.entries(packages).map(([name, module]) => [`${scope}/${name}`, module])),
  );
  const builder = { ...typebox };
  for (const name of ["typebox", "@sinclair/typebox"]) {
    modules[name] = builder;
    // Evaluated for those who import them: saves everybody else 15 ms.
    Object.defineProperty(modules, `${name}/value`, { enumerable: true, get: typeboxValue });
    Object.defineProperty(modules, `${name}/compile`, { enumerable: true, get: typeboxCompile });
  }
  return modules;
}
