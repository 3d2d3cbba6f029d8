// What an error says to people, whatever was thrown.

const noText = "Something was thrown that has no text";

/** The message of an error; anything else that was thrown, as a string. Never throws. */
export function textOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    // It may be anything, also something that refuses to become a text.
    return noText;
  }
}

/** The stack of an error, for whoever mends it; without one, what it says. Never throws. */
export function stackOf(error: unknown): string {
  try {
    return error instanceof Error && error.stack ? String(error.stack) : textOf(error);
  } catch {
    return noText;
  }
}
