// Providers that several sessions bring to one runtime: each session's own are taken back at its end.

import type { ExtensionProviders } from "../core/extension-providers.js";
import type { ProviderRegistration } from "../extensions/host.js";
import type { ProviderTarget } from "../extensions/runtime.js";

/** Where the extensions of one session bring their providers. */
export interface SessionTarget extends ProviderTarget {
  /** Takes back what the session brought; the target can be used again. */
  clear(): void;
}

export class SessionProviders {
  readonly #providers: ExtensionProviders;
  readonly #isForeign: (name: string) => boolean;
  /** Who registered a name, the one that counts last. */
  readonly #owners = new Map<string, { owner: object; config: ProviderRegistration }[]>();

  /** `isForeign` names the providers that are not to be changed. */
  constructor(providers: ExtensionProviders, isForeign: (name: string) => boolean) {
    this.#providers = providers;
    this.#isForeign = isForeign;
  }

  /** For one more session. Of a name the last that was registered counts; when it goes, the one before counts again. */
  target(): SessionTarget {
    const owner = {};
    const unregister = (name: string) => this.#unregister(owner, name);
    return {
      register: (name, config) => this.#register(owner, name, config),
      unregister,
      clear: () => {
        for (const [name, owners] of [...this.#owners])
          if (owners.some((other) => other.owner === owner)) unregister(name);
      },
    };
  }

  #register(owner: object, name: string, config: ProviderRegistration): void {
    if (!this.#owners.has(name) && this.#isForeign(name)) return;
    this.#providers.register(name, config);
    this.#owners.set(name, [...this.#others(owner, name), { owner, config }]);
  }

  #unregister(owner: object, name: string): void {
    const owners = this.#owners.get(name) ?? [];
    const others = this.#others(owner, name);
    if (others.length === owners.length) return;
    if (others.length > 0) this.#owners.set(name, others);
    else this.#owners.delete(name);
    if (owners.at(-1)?.owner !== owner) return;
    const before = others.at(-1);
    if (before) this.#providers.register(name, before.config);
    else this.#providers.unregister(name);
  }

  #others(owner: object, name: string) {
    return (this.#owners.get(name) ?? []).filter((other) => other.owner !== owner);
  }
}
