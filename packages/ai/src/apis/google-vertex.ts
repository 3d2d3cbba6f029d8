// Speaks to Gemini on Google Cloud, with a key or with the credentials of the machine.

import { makeApi } from "../language-model/call.js";
import type { DialectCall } from "../language-model/dialect.js";
import { ProviderError } from "../provider-error.js";
import { googleDialect } from "./google.js";
import { variableOf } from "./variables.js";

/** Gemini on Vertex AI. A key needs no project; credentials of the machine need a project and a location. */
export const googleVertexApi = makeApi(
  googleDialect(
    (call) => `${resourceOf(call)}/publishers/google/models/${call.model.id}:streamGenerateContent?alt=sse`,
    {
      headers: ({ options }, custom) => ({
        ...(options.apiKey && !custom.authorization && { "x-goog-api-key": options.apiKey }),
        ...custom,
      }),
      authorize: async ({ headers }, { options }): Promise<Record<string, string>> => {
        if (headers.authorization || headers["x-goog-api-key"]) return {};
        return { authorization: `Bearer ${await accessToken(variableOf(options, "GOOGLE_APPLICATION_CREDENTIALS"))}` };
      },
    },
  ),
);

/** https://cloud.google.com/vertex-ai/docs/reference/rest */
function resourceOf(call: DialectCall): string {
  const { model, options } = call;
  const location = variableOf(options, "GOOGLE_CLOUD_LOCATION");
  const project = variableOf(options, "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT");
  const root = withVersion(rootOf(model.baseUrl, options.apiKey ? "global" : (location ?? "global")));
  if (options.apiKey) return root;
  if (project && location) return `${root}/projects/${project}/locations/${location}`;
  const missing = [project ? "" : "GOOGLE_CLOUD_PROJECT", location ? "" : "GOOGLE_CLOUD_LOCATION"].filter(Boolean);
  throw new ProviderError(`Cannot call model "${model.id}" on Google Cloud: set ${missing.join(" and ")}`, {
    kind: "auth",
  });
}

/** The host of a location; some are no regions and have hosts of another form. */
function rootOf(baseUrl: string, location: string): string {
  if (!baseUrl.includes("{location}")) return baseUrl.replace(/\/+$/, "");
  if (location === "global") return "https://aiplatform.googleapis.com";
  if (location === "eu" || location === "us") return `https://aiplatform.${location}.rep.googleapis.com`;
  return baseUrl.replace("{location}", location).replace(/\/+$/, "");
}

function withVersion(root: string): string {
  return /\/v\d+(?:beta\d*)?$/.test(root) ? root : `${root}/v1`;
}

async function accessToken(keyFile: string | undefined): Promise<string> {
  // Loaded lazily: it costs 150 ms, and a key needs none of it.
  const { cloudToken } = await import("./google-credentials.js");
  return cloudToken(keyFile);
}
