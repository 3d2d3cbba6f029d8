// Speaks the OpenAI Responses API of a resource on Azure.

import { makeApi } from "../language-model/call.js";
import { azureBaseUrl, azureDeployment } from "./azure.js";
import { affinityHeaders, responsesDialect } from "./openai-responses.js";
import { variableOf } from "./variables.js";

/** The Responses API of Azure; the version is `v1` unless `AZURE_OPENAI_API_VERSION` names another. */
export const azureOpenaiResponsesApi = makeApi(
  responsesDialect(
    (call) => {
      const version = variableOf(call.options, "AZURE_OPENAI_API_VERSION") ?? "v1";
      const url = `${azureBaseUrl(call)}/responses?api-version=${encodeURIComponent(version)}`;
      return { url, modelId: azureDeployment(call) };
    },
    (call, custom) => ({
      ...(call.options.apiKey && !custom.authorization && { "api-key": call.options.apiKey }),
      ...affinityHeaders(call),
      ...custom,
    }),
  ),
);
