// What settings, environment and model say about requests and the images in them.

import { type Model, type StreamOptions, type ThinkingLevel, thinkingLevels } from "@earendil-works/pi-ai";
import { type ImageLimits, maxImageCount } from "../lib/image.js";
import type { Settings } from "../resources/settings.js";

type RequestSettings = Pick<Settings, "httpIdleTimeoutMs" | "thinkingBudgets"> & {
  retry: Pick<Settings["retry"], "provider">;
};

/** What every model call gets. `PI_CACHE_RETENTION` is `none`, `short` or `long`; anything else is not heard. */
export function requestSettings(
  { httpIdleTimeoutMs = 300_000, thinkingBudgets, retry }: RequestSettings,
  env: Readonly<Record<string, string | undefined>>,
): StreamOptions {
  const { timeoutMs, maxRetries = 0, maxRetryDelayMs = 60_000 } = retry?.provider ?? {};
  const budgets = Object.entries(thinkingBudgets ?? {}).filter(([level]) => isLevel(level));
  const retention = (["none", "short", "long"] as const).find((name) => name === env.PI_CACHE_RETENTION);
  return {
    idleTimeoutMs: httpIdleTimeoutMs === "disabled" ? 0 : Number(httpIdleTimeoutMs),
    ...(timeoutMs !== undefined && { requestTimeoutMs: timeoutMs }),
    ...(maxRetries > 0 && { requestRetries: { count: maxRetries, longestWaitMs: maxRetryDelayMs } }),
    ...(budgets.length > 0 && { thinkingBudgets: Object.fromEntries(budgets) }),
    ...(retention && { cacheRetention: retention }),
  };
}

function isLevel(name: string): name is ThinkingLevel {
  return (thinkingLevels as readonly string[]).includes(name);
}

/** How an image is made to fit before it enters the conversation: as the model wants it, or not at all. */
export function imageLimits({ images }: Pick<Settings, "images">, model: Model | null): ImageLimits {
  const { maxWidth, maxHeight, maxBytes, jpegQuality } = numbersIn(imagesOf(model).resize);
  return {
    ...(maxWidth && { maxWidth }),
    ...(maxHeight && { maxHeight }),
    ...(maxBytes && { maxBase64: maxBytes }),
    ...(jpegQuality && { jpegQuality: Math.min(100, Math.round(jpegQuality)) }),
    ...(images?.autoResize === false && { resize: false }),
  };
}

/** How many images one message may carry. */
export function imagesPerMessage(model: Model | null): number {
  const { maxPerMessage, maxPerRequest } = numbersIn(imagesOf(model));
  return Math.min(maxImageCount, maxPerMessage ?? maxImageCount, maxPerRequest ?? maxImageCount);
}

/** The model as requests see it: one that takes no images when the settings block them. */
export function modelForRequests({ images }: Pick<Settings, "images">, model: Model): Model {
  return images?.blockImages ? { ...model, input: model.input.filter((kind) => kind !== "image") } : model;
}

function imagesOf(model: Model | null): Record<string, unknown> {
  return recordOr(model?.inputLimits?.images);
}

/** The members that are numbers above 0: limits come from files of the user's. */
function numbersIn(value: unknown): Record<string, number> {
  const members = Object.entries(recordOr(value));
  return Object.fromEntries(
    members.filter((member): member is [string, number] => typeof member[1] === "number" && member[1] > 0),
  );
}

function recordOr(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
