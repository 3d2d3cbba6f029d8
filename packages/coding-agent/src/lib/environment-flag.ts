// Switches in the environment: which values mean "on".

/** True for `1`, `true` and `yes` in any case; false for anything else, and when it is not set. */
export function isFlagSet(value: string | undefined): boolean {
  return /^(?:1|true|yes)$/i.test(value ?? "");
}
