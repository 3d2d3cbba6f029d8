// The modules extensions import, completed by what needs sessions.

import { defaultTheme } from "./extension-modules/index.js";
import type { SharedDirectory } from "./load-directory.js";
import { ModelRuntime } from "./sdk/model-runtime.js";
import { sdkModules } from "./sdk/modules.js";

export { defaultTheme };

/** Import name → module. `shared` gives what sessions made by extensions share with the session in use. */
export function hostModules(shared: () => SharedDirectory | undefined): Record<string, object> {
  return sdkModules(() => {
    const now = shared();
    if (!now) return undefined;
    const { cwd, agentDir, isTrusted, models, auth } = now.resources;
    const { registry: access, extensionLoader, flags } = now;
    return {
      cwd,
      agentDir,
      isTrusted,
      modelRuntime: ModelRuntime.over({ models, auth, access }),
      extensionLoader,
      flags,
    };
  });
}
