// `--list-models`: the models with credentials, as a table for people.

import type { Model } from "@earendil-works/pi-ai";
import { searchModels } from "./resources/model-patterns.js";
import type { ModelRegistry } from "./resources/model-registry.js";

/** `search` narrows the list, best matches first. Without credentials the text says how to get some. */
export function listModels(registry: ModelRegistry, search: string | true): string {
  const available = registry.getAvailable();
  if (available.length === 0)
    return "No models with credentials. Set a provider's key in the environment, in auth.json or in models.json.\n";
  const models = search === true ? available : searchModels(available, search);
  if (models.length === 0) return `No model matches "${search}".\n`;
  const rows = [["provider", "model", "context", "output", "thinking", "images"], ...models.map(row)];
  const widths = (rows[0] as string[]).map((_, at) => Math.max(...rows.map((cells) => (cells[at] as string).length)));
  return rows
    .map(
      (cells) =>
        `${cells
          .map((cell, at) => cell.padEnd(widths[at] as number))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function row({ provider, id, contextWindow, maxTokens, reasoning, input }: Model): string[] {
  return [
    provider,
    id,
    thousands(contextWindow),
    thousands(maxTokens),
    reasoning ? "yes" : "no",
    input.includes("image") ? "yes" : "no",
  ];
}

function thousands(tokens: number): string {
  return tokens >= 1_000_000 ? `${tokens / 1_000_000}M` : `${Math.round(tokens / 1000)}K`;
}
