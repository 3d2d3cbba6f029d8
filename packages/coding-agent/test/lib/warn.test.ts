import { expect, onTestFinished, test, vi } from "vitest";
import { warn } from "../../src/lib/warn.js";

test("warn: errors as they are, anything else as a text", () => {
  const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  onTestFinished(() => emitted.mockRestore());
  const error = new Error("bug");
  warn(error);
  warn({ toString: () => "odd" });
  expect(emitted.mock.calls).toEqual([[error], ["odd"]]);
});
