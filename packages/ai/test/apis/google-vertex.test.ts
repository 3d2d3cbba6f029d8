// Where Gemini is found on Google Cloud, and with which credentials.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { complete, type Model } from "../../src/index.js";
import { question, testModel } from "../fixtures.js";
import { requestsOf } from "../requests.js";

const api = "google-vertex";
const { request, failure, model } = requestsOf(api);
const folder = mkdtempSync(join(tmpdir(), "vertex-"));
afterAll(() => rmSync(folder, { recursive: true }));
const place = { GOOGLE_CLOUD_PROJECT: "p1", GOOGLE_CLOUD_LOCATION: "us-central1" };

test("a key needs no project", async () => {
  const { path, headers } = await request({ env: {} });
  expect(path).toBe("/v1/publishers/google/models/test-model:streamGenerateContent?alt=sse");
  expect(headers["x-goog-api-key"]).toBe("key-for-tests");
});

test("a bearer token of the caller is used in the project, in the version the URL names", async () => {
  const options = { apiKey: undefined, env: place, headers: { authorization: "Bearer t" } };
  const { path, headers } = await request(options, { baseUrl: `${model().baseUrl}/v1beta1/` });
  expect(path).toBe(
    "/v1beta1/projects/p1/locations/us-central1/publishers/google/models/test-model:streamGenerateContent?alt=sse",
  );
  expect([headers.authorization, headers["x-goog-api-key"]]).toEqual(["Bearer t", undefined]);
});

test("without a key the project and the location must be known", async () => {
  expect(await failure({ env: { GCLOUD_PROJECT: "p1" } })).toMatchObject({
    error: { kind: "auth" },
    errorMessage: 'Cannot call model "test-model" on Google Cloud: set GOOGLE_CLOUD_LOCATION',
  });
});

test.each([
  ["global", "https://aiplatform.googleapis.com"],
  ["eu", "https://aiplatform.eu.rep.googleapis.com"],
  ["europe-west1", "https://europe-west1-aiplatform.googleapis.com"],
])("location %s is at %s", async (location, host) => {
  const urls: string[] = [];
  const fetch = ((url: string) => {
    urls.push(url);
    return Promise.reject(new TypeError("fetch failed"));
  }) as typeof globalThis.fetch;
  const facts: Partial<Model> = { baseUrl: "https://{location}-aiplatform.googleapis.com" };
  const options = { fetch, env: { ...place, GOOGLE_CLOUD_LOCATION: location }, headers: { authorization: "Bearer t" } };
  await complete(testModel(api, "", facts), question, options);
  await complete(testModel(api, "", facts), question, { ...options, apiKey: "k" });
  const path = "publishers/google/models/test-model:streamGenerateContent?alt=sse";
  expect(urls).toEqual([
    `${host}/v1/projects/p1/locations/${location}/${path}`,
    `https://aiplatform.googleapis.com/v1/${path}`,
  ]);
});

describe("credentials of the machine", () => {
  test("a credentials file gives a token, asked for once", async () => {
    let asked = 0;
    const tokens = createServer((_request, response) => {
      asked += 1;
      response.setHeader("content-type", "application/json");
      response.end('{"access_token":"token-of-test","expires_in":3600,"token_type":"Bearer"}');
    });
    await new Promise<void>((resolve) => tokens.listen(0, "127.0.0.1", resolve));
    const file = join(folder, "account.json");
    writeFileSync(
      file,
      JSON.stringify({
        type: "external_account",
        audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
        token_url: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/v1/token`,
        credential_source: { file: join(folder, "subject") },
      }),
    );
    writeFileSync(join(folder, "subject"), "who I am");
    const options = { apiKey: undefined, env: { ...place, GOOGLE_APPLICATION_CREDENTIALS: file } };
    expect((await request(options)).headers.authorization).toBe("Bearer token-of-test");
    expect((await request(options)).headers.authorization).toBe("Bearer token-of-test");
    expect(asked).toBe(1);
    tokens.close();
  });

  test("a file that is not there is a failure of kind auth that names it", async () => {
    const file = join(folder, "missing.json");
    const message = await failure({ env: { ...place, GOOGLE_APPLICATION_CREDENTIALS: file } });
    expect(message.error?.kind).toBe("auth");
    expect(message.errorMessage).toMatch(/^Cannot get credentials for Google Cloud: .*missing\.json/);
  });
});
