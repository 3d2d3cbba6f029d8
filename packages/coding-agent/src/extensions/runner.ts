// Calls what extensions registered: handlers in order, each contained, and commands by name.

import type { AnyAgentTool } from "@earendil-works/pi-agent-core";
import type { CommandDefinition, ExtensionCommandContext, ExtensionContext, ReplacedSessionContext } from "./api.js";
import { commandContext, handlerContext, replacedContext, toolContext } from "./contexts.js";
import type { ExtensionEvent, ExtensionEventMap, ExtensionEventName, ExtensionResult } from "./events.js";
import type { Extension } from "./extension.js";
import type { ExtensionHost, RegisteredTool } from "./host.js";
import type { ExtensionRuntime } from "./runtime.js";
import { toAgentTool } from "./tool-definition.js";
import { WaitingSpan } from "./waiting-span.js";

/** Milliseconds after which a handler that has not returned is told of: 30 s. */
const slowAfterMs = 30_000;

/** A command under the name it is called by. */
export interface ResolvedCommand {
  name: string;
  definition: CommandDefinition;
  extension: Extension;
}

/** How a handler ended. An interrupted one goes on by itself, and nobody listens to it any more. */
export type HandlerOutcome =
  | { kind: "returned"; value: unknown }
  | { kind: "threw"; error: unknown }
  | { kind: "interrupted" };

export interface RunnerOptions {
  extensions: readonly Extension[];
  runtime: ExtensionRuntime;
  /** Replaced in tests. */
  slowAfterMs?: number;
}

/** The extensions of one session, in the order they were loaded. */
export class ExtensionRunner {
  readonly extensions: readonly Extension[];
  readonly runtime: ExtensionRuntime;
  readonly context: ExtensionContext;
  readonly commandContext: ExtensionCommandContext;
  readonly #slowAfterMs: number;
  #interrupted = new AbortController();

  constructor(options: RunnerOptions) {
    this.extensions = options.extensions;
    this.runtime = options.runtime;
    this.#slowAfterMs = options.slowAfterMs ?? slowAfterMs;
    const waiting = new WaitingSpan((name, span) => void (this.has(name) && this.each(name, span)));
    this.context = handlerContext(this.runtime, (ui) => waiting.around(ui));
    this.commandContext = commandContext(this.runtime, this.context);
  }

  bind(host: ExtensionHost): void {
    this.runtime.bind(host);
  }

  /** What `withSession` is given. */
  get replacedContext(): ReplacedSessionContext {
    return replacedContext(this.runtime, this.commandContext);
  }

  /** Whether anybody wants to hear of an event; asked before anything is prepared for it. */
  has(event: ExtensionEventName): boolean {
    return this.extensions.some((extension) => extension.handlersOf(event).length > 0);
  }

  /**
   * Calls every handler of an event in turn. `take` sees each result, and ends the round by returning true. What a
   * handler throws is told as a fault, and `failed` may end the round too. `context` is for events before there is a session.
   */
  async each<K extends ExtensionEventName>(
    name: K,
    payload: ExtensionEventMap[K]["event"],
    take?: (result: NonNullable<ExtensionResult<K>>, extension: Extension) => unknown,
    failed?: (outcome: Exclude<HandlerOutcome, { kind: "returned" }>, extension: Extension) => unknown,
    context: unknown = this.context,
  ): Promise<void> {
    const event = Object.assign(payload, { type: name }) as ExtensionEvent<K>;
    for (const extension of this.extensions) {
      for (const handler of extension.handlersOf(name)) {
        let outcome = await this.#call(extension, name, () => handler(event as never, context as ExtensionContext));
        if (outcome.kind === "returned") {
          if (!take || outcome.value === undefined || outcome.value === null) continue;
          try {
            if (typeof outcome.value !== "object" && name !== "before_provider_request")
              throw new Error("The answer of a handler is an object");
            if (take(outcome.value as NonNullable<ExtensionResult<K>>, extension) === true) return;
            continue;
          } catch (error) {
            // An answer nobody can make sense of is the handler's fault.
            outcome = { kind: "threw", error };
          }
        }
        if (outcome.kind === "threw") this.runtime.fault(extension.path, name, outcome.error);
        if (failed?.(outcome, extension) === true) return;
      }
    }
  }

  /** Lets nobody wait any longer for handlers that are running now. */
  interrupt(): void {
    this.#interrupted.abort();
    this.#interrupted = new AbortController();
  }

  /** Commands in load order; a name that several extensions have gets a number, as `name:1`. */
  get commands(): ResolvedCommand[] {
    const all = this.extensions.flatMap((extension) =>
      [...extension.commands].map(([name, definition]) => ({ name, definition, extension })),
    );
    const byName = new Map<string, ResolvedCommand[]>();
    for (const command of all) byName.set(command.name, [...(byName.get(command.name) ?? []), command]);
    return all.map((command) => {
      const namesakes = byName.get(command.name) ?? [];
      return namesakes.length < 2 ? command : { ...command, name: `${command.name}:${namesakes.indexOf(command) + 1}` };
    });
  }

  /** The command a text calls, with what follows the name; undefined when it calls none. */
  commandIn(text: string): { command: ResolvedCommand; args: string } | undefined {
    if (!text.startsWith("/")) return undefined;
    const space = text.indexOf(" ");
    const name = space < 0 ? text.slice(1) : text.slice(1, space);
    const command = this.commands.find((candidate) => candidate.name === name);
    return command && { command, args: space < 0 ? "" : text.slice(space + 1) };
  }

  /** Never rejects: what the command throws is told as a fault. */
  async runCommand({ name, definition }: ResolvedCommand, args: string): Promise<void> {
    const { runtime } = this;
    try {
      await definition.handler(args, this.commandContext);
    } catch (error) {
      runtime.fault(`command:${name}`, "command", error);
    }
  }

  /** The tools of all extensions, in load order. */
  get tools(): RegisteredTool[] {
    return this.extensions.flatMap(({ tools }) => [...tools.values()]);
  }

  agentTool({ definition }: RegisteredTool): AnyAgentTool {
    return toAgentTool(definition, (toolCallId) => toolContext(this.runtime, this.context, toolCallId));
  }

  /** The extension a stack leads to, by its path. */
  extensionOf(stack: string): Extension | undefined {
    return this.extensions.find(({ path, sourceInfo }) => {
      const { baseDir, origin } = sourceInfo;
      return stack.includes(path) || (origin === "package" && baseDir !== undefined && stack.includes(`${baseDir}/`));
    });
  }

  /** The session is gone: nothing of the extensions is called any more, and what they keep of it refuses. */
  invalidate(): void {
    this.interrupt();
    this.runtime.invalidate();
    for (const extension of this.extensions) extension.clear();
  }

  async #call(extension: Extension, event: string, run: () => unknown): Promise<HandlerOutcome> {
    let result: unknown;
    try {
      result = run();
    } catch (error) {
      return { kind: "threw", error };
    }
    if (!isPromise(result)) return { kind: "returned", value: result };
    return this.#wait(extension, event, result);
  }

  async #wait(extension: Extension, event: string, result: PromiseLike<unknown>): Promise<HandlerOutcome> {
    const { signal } = this.#interrupted;
    const slow = setTimeout(
      () => this.runtime.fault(extension.path, event, `The handler has not returned for ${this.#slowAfterMs / 1000} s`),
      this.#slowAfterMs,
    );
    slow.unref();
    let onInterrupt: (() => void) | undefined;
    const interrupted = new Promise<HandlerOutcome>((resolve) => {
      onInterrupt = () => resolve({ kind: "interrupted" });
      signal.addEventListener("abort", onInterrupt, { once: true });
    });
    try {
      const ended = Promise.resolve(result).then(
        (value): HandlerOutcome => ({ kind: "returned", value }),
        (error): HandlerOutcome => ({ kind: "threw", error }),
      );
      return await Promise.race([ended, interrupted]);
    } finally {
      clearTimeout(slow);
      if (onInterrupt) signal.removeEventListener("abort", onInterrupt);
    }
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
}
