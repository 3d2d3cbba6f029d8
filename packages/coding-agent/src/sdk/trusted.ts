// Whether a project's own resources count for a program that asks nobody.

import { SettingsManager } from "../resources/settings-manager.js";
import { decideTrust } from "../resources/trust.js";
import type { Surroundings } from "./surroundings.js";

type Place = Pick<Surroundings, "cwd" | "agentDir">;

/**
 * As the program around decided for its own directory; elsewhere what is saved, then the user's setting, which is read
 * unless it is given.
 */
export function isTrustedIn(
  { cwd, agentDir }: Place,
  around: Surroundings | undefined,
  setting?: "ask" | "always" | "never",
): boolean {
  if (around?.cwd === cwd && around.agentDir === agentDir) return around.isTrusted;
  const defaultProjectTrust =
    setting ?? SettingsManager.load({ cwd, agentDir, trusted: false }).settings.defaultProjectTrust;
  return decideTrust({ cwd, agentDir, defaultProjectTrust }).isTrusted;
}
