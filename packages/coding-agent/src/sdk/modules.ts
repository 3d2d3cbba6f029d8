// The modules extensions import, with the names that need a session.

import { extensionModules } from "../extension-modules/index.js";
import { sdkNames } from "./names.js";
import type { Around } from "./surroundings.js";

/** Import name → module. */
export function sdkModules(around: Around): Record<string, object> {
  return extensionModules(sdkNames(around));
}
