// One loaded extension: where it comes from, and everything it has registered.

import type { SourceInfo } from "../modes/rpc/rpc-types.js";
import type { CommandDefinition, ExtensionContext, FlagDefinition } from "./api.js";
import type { RegisteredTool } from "./host.js";

/** A handler as it is kept: its event is known by name only. */
export type AnyHandler = (event: never, ctx: ExtensionContext) => unknown;

export class Extension {
  readonly path: string;
  readonly sourceInfo: SourceInfo;
  readonly tools = new Map<string, RegisteredTool>();
  readonly commands = new Map<string, CommandDefinition>();
  readonly flags = new Map<string, FlagDefinition>();
  /** What draws on terminals, by kind and name; kept for programs that look for it. */
  readonly renderers = new Map<string, unknown>();
  readonly #handlers = new Map<string, readonly AnyHandler[]>();

  constructor(path: string, sourceInfo: SourceInfo) {
    this.path = path;
    this.sourceInfo = sourceInfo;
  }

  /** Returns the function that takes away this registration and no other. */
  on(event: string, handler: AnyHandler): () => void {
    // A registration of its own, so that the same function can be registered twice.
    const registered: AnyHandler = (payload, ctx) => handler(payload, ctx);
    // Lists are replaced, never changed: a dispatch in progress goes on with the one it began with.
    this.#handlers.set(event, [...this.handlersOf(event), registered]);
    return () => {
      const others = this.handlersOf(event).filter((other) => other !== registered);
      this.#handlers.set(event, others);
    };
  }

  handlersOf(event: string): readonly AnyHandler[] {
    return this.#handlers.get(event) ?? [];
  }

  /** Lets go of everything: nothing of it is called any more. */
  clear(): void {
    this.#handlers.clear();
    for (const map of [this.tools, this.commands, this.flags, this.renderers]) map.clear();
  }
}
