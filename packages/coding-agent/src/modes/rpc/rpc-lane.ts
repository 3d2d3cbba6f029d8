// The order in which commands take effect: that of their arrival, whatever each of them waits for.

import type { RpcCommandName } from "./rpc-types.js";

/** Never held: they are what ends a wait. */
const immediate: ReadonlySet<RpcCommandName> = new Set(["abort", "abort_bash", "abort_retry"]);
/** They pass the input stage one after another, and everything behind them waits until their fate is known. */
const texts: ReadonlySet<RpcCommandName> = new Set(["prompt", "steer", "follow_up"]);
/** Everything behind them waits until the session is replaced. */
const replacements: ReadonlySet<RpcCommandName> = new Set(["new_session", "switch_session", "fork", "clone"]);
/** They look, and do not wait for texts whose fate is open. */
const onlookers: ReadonlySet<RpcCommandName> = new Set(["get_state", "get_capabilities"]);

export interface LaneItem {
  name: RpcCommandName;
  /** Resolves when the command may be started without waiting for anything; absent when it may be at once. */
  ready?: () => Promise<void>;
  /** Starts the command; resolves when it has been answered, and never rejects. */
  run: () => Promise<void>;
  /** Answers the command as cancelled instead. */
  cancel: () => void;
}

export interface LaneOptions {
  /** Holds every command that is not immediate while it returns a promise (the reader is far behind). */
  hold: () => undefined | Promise<void>;
}

/**
 * Starts commands in the order they arrived. A started command changes state before it waits for anything, so that
 * order is the order of effects, though answers of long commands may come later.
 */
export class CommandLane {
  readonly #options: LaneOptions;
  readonly #waiting: LaneItem[] = [];
  readonly #running = new Set<Promise<void>>();
  #openTexts = 0;
  #replacing = false;
  #pumping = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Texts that wait behind something else. */
  get waitingTexts(): number {
    return this.#waiting.filter(({ name }) => texts.has(name)).length;
  }

  submit(item: LaneItem): void {
    if (immediate.has(item.name)) {
      if (item.name === "abort") this.#cancelTexts();
      this.#start(item);
    } else if (onlookers.has(item.name) && this.#seesPresent()) this.#start(item);
    else {
      this.#waiting.push(item);
      void this.#pump();
    }
  }

  /** Resolves when everything submitted so far has been started, and texts and replacements are answered. */
  async idle(): Promise<void> {
    while (this.#waiting.length > 0 || this.#openTexts > 0 || this.#replacing) await this.#change();
  }

  /** Resolves when everything that was started has been answered. */
  async answered(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Nothing but texts stands between an onlooker and now. */
  #seesPresent(): boolean {
    return !this.#replacing && this.#waiting.every(({ name }) => texts.has(name) || onlookers.has(name));
  }

  #cancelTexts(): void {
    for (let at = this.#waiting.length - 1; at >= 0; at -= 1) {
      const item = this.#waiting[at] as LaneItem;
      if (!texts.has(item.name)) continue;
      this.#waiting.splice(at, 1);
      item.cancel();
    }
    this.#changed();
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    for (let head = this.#waiting[0]; head; head = this.#waiting[0]) {
      const wait = this.#blocked(head) ?? this.#options.hold() ?? head.ready?.();
      if (wait) {
        head.ready = undefined;
        await wait;
        continue; // the head may have been cancelled meanwhile
      }
      this.#waiting.shift();
      this.#start(head);
    }
    this.#pumping = false;
    this.#changed();
  }

  #blocked({ name }: LaneItem): Promise<void> | undefined {
    const mustWait = this.#replacing || (this.#openTexts > 0 && !texts.has(name) && !onlookers.has(name));
    return mustWait ? this.#change() : undefined;
  }

  #start({ name, run }: LaneItem): void {
    const isText = texts.has(name);
    const replaces = replacements.has(name);
    if (isText) this.#openTexts += 1;
    if (replaces) this.#replacing = true;
    const done = run().finally(() => {
      this.#running.delete(done);
      if (isText) this.#openTexts -= 1;
      if (replaces) this.#replacing = false;
      if (isText || replaces) this.#changed();
    });
    this.#running.add(done);
  }

  #listeners: (() => void)[] = [];

  #change(): Promise<void> {
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  #changed(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }
}
