import type { Model } from "@earendil-works/pi-ai";
import { describe, expect, test } from "vitest";
import { imageLimits, imagesPerMessage, modelForRequests, requestSettings } from "../../src/core/request-settings.js";
import { defaultSettings, type Settings } from "../../src/resources/settings.js";

const settings = (changes: Partial<Settings> = {}): Settings => ({ ...defaultSettings(), ...changes });
const model = (images: unknown): Model => ({
  id: "m",
  name: "m",
  api: "a",
  provider: "p",
  baseUrl: "u",
  reasoning: false,
  input: ["text", "image"],
  contextWindow: 1,
  maxTokens: 1,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  inputLimits: { images },
});

describe("requestSettings", () => {
  test("by default only silence is watched", () => {
    expect(requestSettings(settings(), {})).toEqual({ idleTimeoutMs: 300_000 });
  });

  test("every setting has its option", () => {
    const { retry } = defaultSettings();
    const provider = { timeoutMs: 0, maxRetries: 2, maxRetryDelayMs: 0 };
    const changed = settings({
      httpIdleTimeoutMs: "disabled",
      retry: { ...retry, provider },
      thinkingBudgets: { low: 1, high: 2, huge: 3 },
    });
    expect(requestSettings(changed, { PI_CACHE_RETENTION: "long" })).toEqual({
      idleTimeoutMs: 0,
      requestTimeoutMs: 0,
      requestRetries: { count: 2, longestWaitMs: 0 },
      thinkingBudgets: { low: 1, high: 2 },
      cacheRetention: "long",
    });
  });

  test("a retention that is none is not heard", () => {
    expect(requestSettings(settings(), { PI_CACHE_RETENTION: "forever" })).not.toHaveProperty("cacheRetention");
  });
});

describe("images", () => {
  test("limits are the model's", () => {
    const resize = { maxWidth: 10, maxHeight: 20, maxBytes: 30, jpegQuality: 40.4 };
    expect(imageLimits(settings(), model({ resize }))).toEqual({
      maxWidth: 10,
      maxHeight: 20,
      maxBase64: 30,
      jpegQuality: 40,
    });
    expect(imageLimits(settings({ images: { autoResize: false, blockImages: false } }), null)).toEqual({
      resize: false,
    });
  });

  test.each([null, 7, "x", { resize: null }, { resize: { maxWidth: "wide", maxHeight: -1, jpegQuality: 0 } }])(
    "limits that are none count as absent: %j",
    (images) => expect(imageLimits(settings(), model(images))).toEqual({}),
  );

  test("the number in a message is the smallest of what is known", () => {
    expect(imagesPerMessage(null)).toBe(100);
    expect(imagesPerMessage(model({ maxPerMessage: 20 }))).toBe(20);
    expect(imagesPerMessage(model({ maxPerMessage: 20, maxPerRequest: 5 }))).toBe(5);
    expect(imagesPerMessage(model({ maxPerMessage: 5000 }))).toBe(100);
  });

  test("blocked images leave a model that takes text only; the model itself stays as it is", () => {
    const own = model({});
    expect(modelForRequests(settings(), own)).toBe(own);
    expect(modelForRequests(settings({ images: { autoResize: true, blockImages: true } }), own)).toEqual({
      ...own,
      input: ["text"],
    });
    expect(own.input).toEqual(["text", "image"]);
  });
});
