// The extensions of a session as programs ask for them: `session.extensionRunner`.

import type { ExtensionEventName } from "../extensions/events.js";
import type { ExtensionRunner } from "../extensions/runner.js";

export class RunnerView {
  readonly #runner: () => ExtensionRunner | undefined;
  readonly #end: () => Promise<void>;

  constructor(runner: () => ExtensionRunner | undefined, end: () => Promise<void>) {
    this.#runner = runner;
    this.#end = end;
  }

  hasHandlers(event: string): boolean {
    return this.#runner()?.has(event as ExtensionEventName) ?? false;
  }

  /** Tells the extensions of an event. Of the session's end they are told by ending it: `session_shutdown` comes once. */
  async emit(event: { type: string; [key: string]: unknown }): Promise<void> {
    if (event.type === "session_shutdown") return this.#end();
    await this.#runner()?.each(event.type as ExtensionEventName, { ...event } as never);
  }

  getExtensionPaths(): string[] {
    return this.#runner()?.extensions.map(({ path }) => path) ?? [];
  }

  getAllRegisteredTools() {
    return this.#runner()?.tools ?? [];
  }

  getRegisteredCommands() {
    return this.#runner()?.commands.map(({ name, definition }) => ({ ...definition, name })) ?? [];
  }

  getCommand(name: string) {
    return this.getRegisteredCommands().find((command) => command.name === name);
  }

  /** The context that handlers get. */
  createContext() {
    return this.#runner()?.context;
  }
}
