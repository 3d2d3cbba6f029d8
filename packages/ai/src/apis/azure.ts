// Where models on Azure are found: the resource, the API's version and the name of the deployment.

import type { DialectCall } from "../language-model/dialect.js";
import { ProviderError } from "../provider-error.js";
import { addressFault } from "../sendable.js";
import { variableOf } from "./variables.js";

/** Hosts of Azure, whose root stands for the path of the OpenAI API. */
const azureHosts = /\.(?:ai\.azure\.com|cognitiveservices\.azure\.com|openai\.azure\.com)$/;

/**
 * The base URL of the resource, without a slash at its end: from the environment, else the model's own. Throws a
 * ProviderError that names the variables when there is none.
 */
export function azureBaseUrl({ model, options }: DialectCall): string {
  const resource = variableOf(options, "AZURE_OPENAI_RESOURCE_NAME");
  const given =
    variableOf(options, "AZURE_OPENAI_BASE_URL") ??
    (resource === undefined ? model.baseUrl : `https://${resource}.openai.azure.com`);
  const fault = addressFault(given);
  if (fault) {
    const what = given === "" ? "set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME" : `its base URL ${fault}`;
    throw new ProviderError(`Cannot call model "${model.id}" on Azure: ${what}`, { kind: "invalid_request" });
  }
  const url = new URL(given);
  const path = url.pathname.replace(/\/+$/, "");
  if (azureHosts.test(url.hostname) && (path === "" || path === "/openai")) return `${url.origin}/openai/v1`;
  return `${url.origin}${path}`;
}

/** The name the resource knows a model by: `AZURE_OPENAI_DEPLOYMENT_NAME_MAP` is a list of `model=deployment`. */
export function azureDeployment({ model, options }: DialectCall): string {
  for (const entry of (variableOf(options, "AZURE_OPENAI_DEPLOYMENT_NAME_MAP") ?? "").split(",")) {
    const at = entry.indexOf("=");
    if (at > 0 && entry.slice(0, at).trim() === model.id) return entry.slice(at + 1).trim() || model.id;
  }
  return model.id;
}
