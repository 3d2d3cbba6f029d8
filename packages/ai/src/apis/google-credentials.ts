// Tokens for Google Cloud from the credentials of the machine: a file, a login, or the machine's own account.

import { GoogleAuth } from "google-auth-library";
import { ProviderError } from "../provider-error.js";

/** One for each credentials file, so that a token is asked for once an hour and not once a call. */
const sources = new Map<string, GoogleAuth>();

/**
 * A token for a bearer header. Without a file the places that Google documents are searched. Rejects with a
 * ProviderError of kind `auth` when there is none.
 */
export async function cloudToken(keyFile: string | undefined): Promise<string> {
  let source = sources.get(keyFile ?? "");
  if (!source) {
    source = new GoogleAuth({
      scopes: ["https://www.googleapis.com/auth/cloud-platform"],
      ...(keyFile && { keyFilename: keyFile }),
    });
    sources.set(keyFile ?? "", source);
  }
  let token: string | null | undefined;
  try {
    token = await source.getAccessToken();
  } catch (cause) {
    // The file may be there the next time.
    sources.delete(keyFile ?? "");
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ProviderError(`Cannot get credentials for Google Cloud: ${reason}`, { kind: "auth" }, { cause });
  }
  if (token) return token;
  throw new ProviderError("Cannot get credentials for Google Cloud: no token was given", { kind: "auth" });
}
