// A point where a scripted answer waits until the test lets it go on, so that no test needs to sleep.

/** Waits until `release` is called. `reached` resolves when somebody waits at it, `passed` when it was released. */
export class Hold {
  readonly reached: Promise<void>;
  readonly passed: Promise<void>;
  #markReached!: () => void;
  #markPassed!: () => void;

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#markReached = resolve;
    });
    this.passed = new Promise((resolve) => {
      this.#markPassed = resolve;
    });
  }

  /** Lets everything go on that waits here, now or later. */
  release(): void {
    this.#markPassed();
  }

  /** Waits here; resolves to false when the signal aborts first. */
  async wait(signal?: AbortSignal): Promise<boolean> {
    this.#markReached();
    if (!signal) {
      await this.passed;
      return true;
    }
    if (signal.aborted) return false;
    let stop: (() => void) | undefined;
    const aborted = new Promise<boolean>((resolve) => {
      stop = () => resolve(false);
      signal.addEventListener("abort", stop, { once: true });
    });
    const released = await Promise.race([this.passed.then(() => true), aborted]);
    if (stop) signal.removeEventListener("abort", stop);
    return released;
  }
}

/** A new point to wait at. */
export function hold(): Hold {
  return new Hold();
}
