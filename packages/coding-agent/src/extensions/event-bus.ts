// The bus extensions share: names of their own choosing, heard in the order of subscription.

/** `pi.events`. */
export interface EventBus {
  /** Returns the function that ends the subscription. */
  on(name: string, listener: (data: unknown) => void): () => void;
  emit(name: string, data?: unknown): void;
}

/** A listener that throws or rejects is told of as a fault, and keeps nobody else from hearing. */
export function createEventBus(fault: (error: unknown, name: string) => void): EventBus & { clear(): void } {
  const listeners = new Map<string, Set<(data: unknown) => unknown>>();
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set);
      set.add(listener);
      return () => void set.delete(listener);
    },
    emit(name, data) {
      for (const listener of [...(listeners.get(name) ?? [])]) {
        try {
          const result = listener(data);
          if (result instanceof Promise) result.catch((error) => fault(error, name));
        } catch (error) {
          fault(error, name);
        }
      }
    },
    clear: () => listeners.clear(),
  };
}
