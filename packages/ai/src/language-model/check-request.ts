// Refuses a request that no HTTP client could send, before anybody tries and tries again.

import { ProviderError } from "../provider-error.js";
import { addressFault, isHeaderName, isHeaderValue } from "../sendable.js";

/** Throws a ProviderError, of a kind that is not tried again, for headers no request can carry. Shows no value. */
export function checkHeaders(model: { id: string }, headers: Readonly<Record<string, unknown>>, apiKey?: string): void {
  const fail = (what: string, kind: "auth" | "invalid_request") => {
    throw new ProviderError(`Cannot call model "${model.id}": ${what}`, { kind });
  };
  if (apiKey && !isHeaderValue(apiKey)) fail("the key has characters that no HTTP header can carry", "auth");
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name))
      fail(`${JSON.stringify(name.slice(0, 100))} is no name of an HTTP header`, "invalid_request");
    if (typeof value === "string" && !isHeaderValue(value))
      fail(`the value of header "${name}" has characters that no HTTP header can carry`, "invalid_request");
  }
}

/** Throws a ProviderError, of a kind that is not tried again, for an address no request can go to. Does not show it. */
export function checkAddress(model: { id: string }, address: string): void {
  const fault = addressFault(address);
  if (fault)
    throw new ProviderError(`Cannot call model "${model.id}": its base URL ${fault}`, { kind: "invalid_request" });
}
