// Keys and regions of profiles, as Amazon's own files tell them.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { awsKeys, awsRegion } from "../../src/apis/aws-credentials.js";
import type { ApiStreamOptions } from "../../src/apis/index.js";
import { question, testModel } from "../fixtures.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "pi-aws-"));
  mkdirSync(join(home, ".aws"));
  onTestFinished(() => rmSync(home, { recursive: true }));
});

function write(files: { credentials?: string; config?: string }): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, ".aws", name), text);
}

function found(env: Record<string, string>): { keys: unknown; region: string | undefined } {
  const options = { env: { HOME: home, ...env }, signal: new AbortController().signal } as ApiStreamOptions;
  let keys: unknown;
  try {
    keys = awsKeys({ model: testModel("bedrock-converse-stream", ""), context: question, options });
  } catch (error) {
    keys = (error as Error).message.replaceAll(home, "~");
  }
  return { keys, region: awsRegion(options) };
}

const pair = (name: string) => ({ accessKeyId: `id-${name}`, secretAccessKey: `secret-${name}` });
const lines = (name: string) => `aws_access_key_id = id-${name}\naws_secret_access_key = secret-${name}\n`;

describe("a profile", () => {
  test.each([
    ["of the credentials", { credentials: `[a]\n${lines("a")}[b]\n${lines("b")}region = r\n` }, "b", pair("b"), "r"],
    ["of the configuration", { config: `[profile b]\n${lines("b")}` }, "b", pair("b"), undefined],
    ["default", { config: `[default]\nregion=r\n${lines("d")}` }, "default", pair("d"), "r"],
    ["profile default", { config: `[profile default]\nregion=r\n${lines("d")}` }, "default", pair("d"), "r"],
    [
      "in both files",
      { credentials: `[a]\n${lines("a")}`, config: `[profile a]\n${lines("b")}region=r` },
      "a",
      pair("a"),
      "r",
    ],
    [
      "whose pair is broken in one",
      { credentials: "[a]\naws_access_key_id=x", config: `[profile a]\n${lines("b")}` },
      "a",
      pair("b"),
      undefined,
    ],
    [
      "with blanks, remarks and Windows' line ends",
      {
        credentials: `\uFEFF# top\r\n[ a ]\r\n; no = x\r\nAWS_ACCESS_KEY_ID=id-a # mine\r\naws_secret_access_key =  secret-a\t;x\r\n`,
      },
      "a",
      pair("a"),
      undefined,
    ],
    [
      "with settings of settings",
      { config: `[profile a]\ns3 =\n  region = no\n${lines("a")}region = r\n` },
      "a",
      pair("a"),
      "r",
    ],
    ["in quotes", { config: `[profile "my own"]\n${lines("a")}` }, "my own", pair("a"), undefined],
    [
      "with a secret that has signs in it",
      { credentials: "[a]\naws_access_key_id=i\naws_secret_access_key=a=b#c;d/+" },
      "a",
      { accessKeyId: "i", secretAccessKey: "a=b#c;d/+" },
      undefined,
    ],
    [
      "with a token",
      { credentials: `[a]\n${lines("a")}aws_session_token=t` },
      "a",
      { ...pair("a"), sessionToken: "t" },
      undefined,
    ],
  ])("%s", (_title, files, AWS_PROFILE, keys, region) => {
    write(files);
    expect(found({ AWS_PROFILE })).toEqual({ keys, region });
  });

  test("is no other one, and none without a name", () => {
    write({ credentials: `[a]\n${lines("a")}`, config: `[b]\n${lines("b")}[profile a]\nrole_arn = x` });
    const missing = (name: string) =>
      `Cannot sign the request for model "test-model": profile "${name}" has no access key in "~/.aws/credentials" or "~/.aws/config"; roles, single sign-on and credential processes are not supported`;
    expect(found({ AWS_PROFILE: "b" })).toEqual({ keys: missing("b"), region: undefined });
    expect(found({ AWS_PROFILE: "__proto__" })).toEqual({ keys: missing("__proto__"), region: undefined });
    expect(found({}).keys).toBe(
      'Cannot sign the request for model "test-model": set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE',
    );
  });

  test("is found in the files that variables name; a folder or a missing file has none", () => {
    writeFileSync(join(home, "own"), `[a]\n${lines("a")}`);
    const env = { AWS_PROFILE: "a", AWS_CONFIG_FILE: join(home, ".aws") };
    expect(found({ ...env, AWS_SHARED_CREDENTIALS_FILE: "~/own" }).keys).toEqual(pair("a"));
    expect(found({ ...env, AWS_SHARED_CREDENTIALS_FILE: join(home, "gone") }).keys).toEqual(expect.any(String));
  });
});

test("variables win over the profile, keys and region each for itself", () => {
  write({ credentials: `[a]\n${lines("a")}region = r\n` });
  const given = { AWS_ACCESS_KEY_ID: "id-v", AWS_SECRET_ACCESS_KEY: "secret-v", AWS_SESSION_TOKEN: "t" };
  expect(found({ AWS_PROFILE: "a", ...given })).toEqual({ keys: { ...pair("v"), sessionToken: "t" }, region: "r" });
  expect(found({ AWS_PROFILE: "a", AWS_DEFAULT_REGION: "v" })).toEqual({ keys: pair("a"), region: "v" });
});

test("keys that no header can carry are refused without showing them", () => {
  expect(found({ AWS_ACCESS_KEY_ID: "id-€", AWS_SECRET_ACCESS_KEY: "s" }).keys).toBe(
    'Cannot sign the request for model "test-model": the keys have characters that no HTTP header can carry',
  );
});
