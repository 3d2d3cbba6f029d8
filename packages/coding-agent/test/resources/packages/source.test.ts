import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { packageRoot } from "../../../src/resources/packages/locations.js";
import { hideCredentials, identityOf, isRemote, parseSource } from "../../../src/resources/packages/source.js";

describe("parseSource", () => {
  test.each([
    ["npm:x", { type: "npm", name: "x", spec: "x" }],
    ["npm:@a/b@1.2.3", { type: "npm", name: "@a/b", spec: "@a/b@1.2.3", pinned: "1.2.3" }],
    ["npm:x@^1.0.0", { type: "npm", name: "x", spec: "x@^1.0.0" }],
    ["npm:x@latest", { type: "npm", name: "x", spec: "x@latest" }],
  ])("%s", (text, source) => expect(parseSource(text)).toEqual(source));

  const git = (url: string, ref?: string, host = "h.test") => ({
    type: "git",
    url,
    host,
    path: "u/r",
    ...(ref && { ref }),
  });
  test.each([
    ["git:h.test/u/r@v1", git("https://h.test/u/r", "v1")],
    ["git:H.test/u/r.git", git("https://H.test/u/r.git")],
    ["git:git@h.test:u/r@v1", git("git@h.test:u/r", "v1")],
    ["https://h.test/u/r", git("https://h.test/u/r")],
    ["https://h.test/u/r.git@feature/x", git("https://h.test/u/r.git", "feature/x")],
    ["https://me:key@h.test:8443/u/r/", git("https://me:key@h.test:8443/u/r")],
    ["git:ssh://git@h.test/u/r", git("ssh://git@h.test/u/r")],
    ["ssh://git@h.test:22/u/r@abc123", git("ssh://git@h.test:22/u/r", "abc123")],
    ["git://h.test/u/r", git("git://h.test/u/r")],
    ["git+https://h.test/u/r", git("https://h.test/u/r")],
  ])("%s", (text, source) => expect(parseSource(text)).toEqual(source));

  test.each(["./x", "../x", "/x/y", "x", "~/x", "C:\\x"])("%s is a path", (text) =>
    expect(parseSource(text)).toEqual({ type: "local", path: text }),
  );

  test.each([
    "npm:",
    "npm:../x",
    "npm:-g",
    "npm:a b",
    "npm:x@",
    "git:",
    "git:h.test",
    "git:h.test/../../x",
    "git:h.test/u/.git/x",
    "git:h.test/-u/r",
    "git:-h/u/r",
    "git:h.test/u/r@-x",
    "git:h.test/u/r@",
    "https://h.test/",
    "https://h.test/u\\r",
    "git:h.test/u/r@a b",
  ])("refuses %s", (text) =>
    expect(() => parseSource(text)).toThrow(/it has to be written as (npm:name@version|git:host\/path@ref)$/),
  );
});

test("identityOf: versions, references, protocols and ways to write a path do not count", () => {
  const identity = (text: string) => identityOf(parseSource(text), "/base");
  expect(identity("npm:@a/b@1.0.0")).toBe(identity("npm:@a/b"));
  expect(
    new Set(
      ["git:h.test/u/r@v1", "https://k@h.test/u/r.git", "git:git@h.test:u/r", "ssh://git@H.test/u/r@x"].map(identity),
    ).size,
  ).toBe(1);
  expect(identity("./x/../y")).toBe(identity("/base/y"));
  expect(identity("npm:x")).not.toBe(identity("x"));
});

test("isRemote", () => {
  expect(["npm:x", "git:h/u/r", "https://h/u/r", "ssh://h/u/r"].every(isRemote)).toBe(true);
  expect(["./npm:x", "x", "/x", "file:///x"].some(isRemote)).toBe(false);
});

test("hideCredentials leaves everything but user and key", () => {
  expect(hideCredentials("fatal: https://me:k%40y@h.test/u/r@v1 and https://tok@h.test")).toBe(
    "fatal: https://h.test/u/r@v1 and https://h.test",
  );
  expect(hideCredentials("https://h.test/u/r@v1 git@h.test:u/r npm:@a/b@1")).toBe(
    "https://h.test/u/r@v1 git@h.test:u/r npm:@a/b@1",
  );
});

test("packageRoot never leaves the folder of packages, whatever is written", () => {
  const place = { cwd: "/project", agentDir: "/agent" };
  const part = fc.constantFrom(
    "..",
    ".",
    "a",
    "/",
    "@",
    ":",
    "-",
    "~",
    "git",
    "h.test",
    "x@y",
    " ",
    "\\",
    "//",
    "#",
    "?",
  );
  const text = fc
    .tuple(fc.constantFrom("npm:", "git:", "https://", "ssh://", "git:git@"), fc.array(part))
    .map(([start, parts]) => start + parts.join(""));
  fc.assert(
    fc.property(text, (written) => {
      let root: string;
      try {
        root = packageRoot(parseSource(written), "user", place);
      } catch (error) {
        expect((error as Error).message).toContain("it has to be written as");
        return;
      }
      expect(root).toMatch(/^\/agent\/(npm\/node_modules|git)\/[^/]/);
    }),
    { seed: 31, numRuns: 3000 },
  );
});
