// What all extensions of one session share: the session they act on, the values of flags, the bus, and where faults go.

import { textOf } from "../lib/error-text.js";
import { createEventBus, type EventBus } from "./event-bus.js";
import type { Extension } from "./extension.js";
import type { ExtensionHost, ProviderRegistration } from "./host.js";

/** A fault of an extension, as `extension_error` tells of it. */
export interface ExtensionFault {
  extensionPath: string;
  event: string;
  error: string;
}

/** Where providers go that extensions bring. */
export interface ProviderTarget {
  register(name: string, config: ProviderRegistration): void;
  unregister(name: string): void;
}

/** Faults that are kept until somebody hears of them: the first ones tell why there are others. */
const mostUnreported = 100;

const notYet =
  "The extension runtime is not initialised yet: call this in a handler, a tool or a command, not while the extension loads";
const stale =
  "This extension context is stale: the session was replaced or reloaded. Use the ctx given to withSession, or that of the next event";

export class ExtensionRuntime {
  readonly bus: EventBus & { clear(): void };
  /** What the command line says of flags; without an entry a flag has its default. */
  flagValues: ReadonlyMap<string, boolean | string> = new Map();
  /** Environment of `pi.exec`. */
  environment: () => Record<string, string | undefined> = () => process.env;
  #host: ExtensionHost | undefined;
  #isStale = false;
  #providers: ProviderTarget | undefined;
  readonly #waitingProviders: (() => void)[] = [];
  #report: ((fault: ExtensionFault) => void) | undefined;
  readonly #unreported: ExtensionFault[] = [];
  #unkept = 0;
  /** What was asked for and is on its way. */
  readonly #actions = new Set<Promise<void>>();

  constructor() {
    this.bus = createEventBus((error, name) => this.fault("<runtime>", `events:${name}`, error));
  }

  /** The session. Throws before there is one, and after it was replaced. */
  get host(): ExtensionHost {
    this.assertLive();
    if (!this.#host) throw new Error(notYet);
    return this.#host;
  }

  get isBound(): boolean {
    return this.#host !== undefined;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  /** Throws after the session was replaced. */
  assertLive(): void {
    if (this.#isStale) throw new Error(stale);
  }

  bind(host: ExtensionHost): void {
    this.#host = host;
    this.environment = () => host.environment();
  }

  /** From here on faults are told; those that came before are told now. */
  onFault(report: (fault: ExtensionFault) => void): void {
    this.#report = report;
    for (const fault of this.#unreported.splice(0)) report(fault);
    const unkept = this.#unkept;
    this.#unkept = 0;
    if (unkept > 0) this.fault("<runtime>", "faults", `${unkept} more were not kept`);
  }

  fault(extensionPath: string, event: string, error: unknown): void {
    const fault = { extensionPath, event, error: textOf(error) };
    if (this.#report) this.#report(fault);
    else if (this.#unreported.length < mostUnreported) this.#unreported.push(fault);
    else this.#unkept += 1;
  }

  /** Acts on the session later than the call that asked for it; what goes wrong then is told as a fault. */
  later(event: string, action: () => Promise<void>): void {
    const done = action()
      .catch((error) => this.fault("<runtime>", event, error))
      .finally(() => this.#actions.delete(done));
    this.#actions.add(done);
  }

  /** Resolves when nothing that was asked for is on its way. */
  async idle(): Promise<void> {
    while (this.#actions.size > 0) await Promise.all(this.#actions);
  }

  /** Providers go there from now on; those that wait go at once. */
  bindProviders(target: ProviderTarget): void {
    this.#providers = target;
    for (const apply of this.#waitingProviders.splice(0)) apply();
  }

  registerProvider(extension: Extension, name: string, config: ProviderRegistration): void {
    this.#withProviders((target) => target.register(name, config), extension);
  }

  unregisterProvider(extension: Extension, name: string): void {
    this.#withProviders((target) => target.unregister(name), extension);
  }

  /** The session is gone: whatever is kept of it refuses from now on. */
  invalidate(): void {
    this.#isStale = true;
    this.#host = undefined;
    this.bus.clear();
  }

  #withProviders(act: (target: ProviderTarget) => void, extension: Extension): void {
    this.assertLive();
    if (this.#providers) {
      act(this.#providers);
      return;
    }
    this.#waitingProviders.push(() => {
      try {
        if (this.#providers) act(this.#providers);
      } catch (error) {
        this.fault(extension.path, "register_provider", error);
      }
    });
  }
}
