// What an error says to people, whatever was thrown.

/** The message of an error; anything else that was thrown, as a string. Never throws. */
export function textOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // Such as an object without a prototype.
    return "something that is no error";
  }
}

/** The stack of an error, for whoever mends it; without one, what it says. Never throws. */
export function stackOf(error: unknown): string {
  return (error instanceof Error && error.stack) || textOf(error);
}
