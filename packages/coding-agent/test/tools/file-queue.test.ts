import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withFileMutationQueue } from "../../src/tools/file-queue.js";
import { temporaryFolder } from "./temporary-folder.js";

const folder = temporaryFolder();

function blocker() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test("withFileMutationQueue does the changes to one file in order, by any of its names, after a failure too", async () => {
  const file = folder.write("file", "");
  symlinkSync("file", join(folder.path, "link"));
  const gate = blocker();
  const done: string[] = [];
  const step = (name: string) => async () => {
    done.push(name);
    return name;
  };
  const first = withFileMutationQueue(file, async () => {
    await gate.opened;
    done.push("first");
    throw new Error("first failed");
  });
  const second = withFileMutationQueue(join(folder.path, "link"), step("second"));
  const third = withFileMutationQueue(file, step("third"));
  expect(await withFileMutationQueue(join(folder.path, "other"), step("other"))).toBe("other");
  gate.open();
  await expect(first).rejects.toThrow("first failed");
  expect(await Promise.all([second, third])).toEqual(["second", "third"]);
  expect(done).toEqual(["other", "first", "second", "third"]);
});
