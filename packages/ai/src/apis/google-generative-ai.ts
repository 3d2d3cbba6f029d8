// Speaks the Gemini API, to Google itself and to gateways that pass it on.

import { makeApi } from "../language-model/call.js";
import { googleDialect } from "./google.js";

/** The Gemini API; the base URL names the version. */
export const googleGenerativeAiApi = makeApi(
  googleDialect(
    ({ model }) => {
      const path = model.id.includes("/") ? model.id : `models/${model.id}`;
      return `${model.baseUrl.replace(/\/+$/, "")}/${path}:streamGenerateContent?alt=sse`;
    },
    {
      headers: ({ options }, custom) => ({
        ...(options.apiKey && !custom.authorization && { "x-goog-api-key": options.apiKey }),
        ...custom,
      }),
    },
  ),
);
