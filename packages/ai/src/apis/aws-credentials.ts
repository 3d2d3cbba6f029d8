// Keys and region for Amazon: from variables, or from a profile in the two files that Amazon's tools share.

import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { DialectCall } from "../language-model/dialect.js";
import { ProviderError } from "../provider-error.js";
import { isHeaderValue } from "../sendable.js";
import type { StreamOptions } from "../types.js";
import { variableOf } from "./variables.js";

/** What a request is signed with. `sessionToken` belongs to keys that were lent for a while. */
export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

type Options = Pick<StreamOptions, "env">;
type Profile = Record<string, string>;

/**
 * The keys of the variables, else those of the profile that `AWS_PROFILE` names. Throws a ProviderError of kind `auth`
 * that says what is missing.
 */
export function awsKeys({ model, options }: DialectCall): AwsKeys {
  const fail = (reason: string) =>
    new ProviderError(`Cannot sign the request for model "${model.id}": ${reason}`, { kind: "auth" });
  const profile = variableOf(options, "AWS_PROFILE");
  const keys = keysOf((name) => variableOf(options, name.toUpperCase())) ?? (profile && profileKeys(profile, options));
  if (!keys && profile)
    throw fail(
      `profile "${profile}" has no access key in "${credentialsFile(options)}" or "${configFile(options)}"; roles, single sign-on and credential processes are not supported`,
    );
  if (!keys) throw fail("set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE");
  if (!Object.values(keys).every(isHeaderValue)) throw fail("the keys have characters that no HTTP header can carry");
  return keys;
}

/** The region of the variables, else that of the profile; undefined when neither tells. */
export function awsRegion(options: Options): string | undefined {
  const given = variableOf(options, "AWS_REGION", "AWS_DEFAULT_REGION");
  const profile = variableOf(options, "AWS_PROFILE");
  if (given !== undefined || profile === undefined) return given;
  return profilesOf(profile, options).find(({ region }) => region)?.region;
}

/** A pair of keys never comes from two places. */
function profileKeys(profile: string, options: Options): AwsKeys | undefined {
  return profilesOf(profile, options)
    .map((fields) => keysOf((name) => fields[name]))
    .find(Boolean);
}

function keysOf(read: (name: string) => string | undefined): AwsKeys | undefined {
  const [accessKeyId, secretAccessKey] = [read("aws_access_key_id"), read("aws_secret_access_key")];
  if (!accessKeyId || !secretAccessKey) return undefined;
  const sessionToken = read("aws_session_token");
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

/** What the files say of a profile, that of the file of credentials first. */
function profilesOf(name: string, options: Options): Profile[] {
  const credentials = readSections(credentialsFile(options)).get(name);
  const config = readSections(configFile(options));
  return [credentials, config.get(`profile ${name}`), name === "default" ? config.get(name) : undefined].filter(
    (profile) => profile !== undefined,
  );
}

function credentialsFile(options: Options): string {
  return placeOf(options, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
}

function configFile(options: Options): string {
  return placeOf(options, "AWS_CONFIG_FILE", "config");
}

function placeOf(options: Options, variable: string, name: string): string {
  const home = variableOf(options, "HOME", "USERPROFILE") ?? homedir();
  return variableOf(options, variable)?.replace(/^~(?=[/\\])/, () => home) ?? join(home, ".aws", name);
}

/** https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html; a file that cannot be read has no sections. */
function readSections(path: string): Map<string, Profile> {
  const sections = new Map<string, Profile>();
  let section: Profile | undefined;
  for (const line of textOf(path).split(/\r?\n/)) {
    const header = /^\[\s*(profile\s+)?["']?(.*?)["']?\s*\]/.exec(line);
    if (header) {
      const name = `${header[1] ? "profile " : ""}${header[2]}`;
      section = sections.get(name) ?? {};
      sections.set(name, section);
    }
    // A line that is indented belongs to a setting of settings, a `#` or `;` begins a remark.
    const field = /^([^\s#;[=][^=]*?)\s*=\s*(.*)$/.exec(line);
    if (section && field)
      section[(field[1] as string).toLowerCase()] = (field[2] as string).replace(/\s[#;].*$/, "").trim();
  }
  return sections;
}

function textOf(path: string): string {
  try {
    // Reading a pipe would wait for its writer.
    return statSync(path).isFile() ? readFileSync(path, "utf8").replace(/^\uFEFF/, "") : "";
  } catch {
    return "";
  }
}
