// What a table of the extension API is made of: a name, and the proof of what it does in each mode.

import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "../../../src/extensions/api.js";
import type { Mode, PlayOptions } from "../play.js";
import { type Played, play } from "../play.js";

/** Rejects when the member does not do what is documented, in this mode. */
export type Proof = (mode: Mode) => Promise<void>;

/** Name → proof. */
export type Rows<Name extends string> = Readonly<Record<Name, Proof>>;

/** Runs a mode with an extension whose command `/probe` does something; gives what it resolved with, and how it went. */
export async function probe<T>(
  mode: Mode,
  act: (ctx: ExtensionCommandContext, pi: ExtensionAPI) => T | Promise<T>,
  options: PlayOptions & { extension?: (pi: ExtensionAPI) => void } = {},
): Promise<Played & { value: T }> {
  const { extension, ...rest } = options;
  let result: { value: T } | undefined;
  const played = await play(
    mode,
    (pi) => {
      extension?.(pi);
      pi.registerCommand("probe", {
        handler: async (_, ctx) => {
          result = { value: await act(ctx, pi) };
        },
      });
    },
    { prompts: ["/probe"], ...rest },
  );
  if (!result) throw new Error(`The probe did not come to its end: ${JSON.stringify(played.faults)}`);
  return { ...played, value: result.value };
}

/** Payloads of events as they were heard, each copied at that time. */
export function listenTo(pi: ExtensionAPI, ...names: string[]): Record<string, unknown>[] {
  const heard: Record<string, unknown>[] = [];
  for (const name of names)
    pi.on(name, (event: object) => {
      heard.push({ ...event });
    });
  return heard;
}

/** Calls a tool of an extension once, by the model, and gives what the tool's `execute` gave. */
export type HandlerContext = ExtensionContext;
