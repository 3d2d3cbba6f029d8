// Where models on Azure are found, over the Responses API and over chat completions.

import { expect, test } from "vitest";
import { azureBaseUrl, azureDeployment } from "../../src/apis/azure.js";
import type { ApiStreamOptions } from "../../src/index.js";
import { question, testModel } from "../fixtures.js";
import { requestsOf } from "../requests.js";

const { request, failure } = requestsOf("azure-openai-responses", "/openai/v1");
const chat = requestsOf("openai-completions", "/openai/v1");

test("the key has a header of its own, the version is in the URL", async () => {
  const { path, headers, body } = await request({ env: {} });
  expect(path).toBe("/openai/v1/responses?api-version=v1");
  expect([headers["api-key"], headers.authorization]).toEqual(["key-for-tests", undefined]);
  expect(body).toMatchObject({ model: "test-model", store: false });
  expect((await request({ env: { AZURE_OPENAI_API_VERSION: "2026-01-01" } })).path).toMatch(/api-version=2026-01-01$/);
  const bearer = await request({ headers: { Authorization: "Bearer t" } });
  expect([bearer.headers["api-key"], bearer.headers.authorization]).toEqual([undefined, "Bearer t"]);
});

test("a deployment may have another name than its model, in both APIs", async () => {
  const env = { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "other=x, test-model = mine" };
  expect((await request({ env })).body.model).toBe("mine");
  const sent = await chat.request({ env }, { provider: "azure" });
  expect([sent.body.model, sent.path, sent.headers["api-key"]]).toEqual([
    "mine",
    "/openai/v1/chat/completions",
    "key-for-tests",
  ]);
  expect((await chat.request({ env })).body.model).toBe("test-model");
});

test("without a place to go the failure names the variables", async () => {
  expect(await failure({ env: {} }, { baseUrl: "" })).toMatchObject({
    stopReason: "error",
    error: { kind: "invalid_request" },
    errorMessage: 'Cannot call model "test-model" on Azure: set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME',
  });
  expect((await failure({ env: { AZURE_OPENAI_BASE_URL: "my place" } })).errorMessage).toBe(
    'Cannot call model "test-model" on Azure: its base URL is no http or https address',
  );
});

test.each([
  [{ AZURE_OPENAI_BASE_URL: "https://r.ai.azure.com/" }, "", "https://r.ai.azure.com/openai/v1"],
  [{ AZURE_OPENAI_BASE_URL: "https://r.openai.azure.com/openai" }, "", "https://r.openai.azure.com/openai/v1"],
  [{ AZURE_OPENAI_BASE_URL: "https://gateway.example/a/" }, "https://other", "https://gateway.example/a"],
  [{ AZURE_OPENAI_RESOURCE_NAME: "r" }, "https://other", "https://r.openai.azure.com/openai/v1"],
  [{}, "https://r.services.ai.azure.com", "https://r.services.ai.azure.com/openai/v1"],
  [{}, "https://r.cognitiveservices.azure.com/openai/v1/", "https://r.cognitiveservices.azure.com/openai/v1"],
])("azureBaseUrl with %j and the model's %j", (env, baseUrl, expected) => {
  const options = { env, signal: new AbortController().signal } as ApiStreamOptions;
  const call = { model: testModel("azure-openai-responses", baseUrl), context: question, options };
  expect(azureBaseUrl(call)).toBe(expected);
  expect(azureDeployment(call)).toBe("test-model");
});
