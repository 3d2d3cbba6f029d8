// The modules extensions import, completed by what needs sessions.

import { defaultTheme, extensionModules } from "./extension-modules/index.js";

export { defaultTheme };

/** Import name → module. */
export function hostModules(): Record<string, object> {
  return extensionModules();
}
