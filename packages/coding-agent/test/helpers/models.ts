// The models of tests: a provider of two, described in models.json as a user would.

/** `scripted/thinker` reasons and sees images, `scripted/plain` does neither. */
export function modelsFile(api: string, baseUrl: string): object {
  return {
    providers: {
      scripted: {
        api,
        baseUrl,
        apiKey: "key-for-tests",
        models: [
          { id: "thinker", name: "Thinker", reasoning: true, input: ["text", "image"], contextWindow: 128_000 },
          { id: "plain", name: "Plain", contextWindow: 32_000 },
        ],
      },
    },
  };
}
