// The order in which commands take effect: that of their arrival, whatever each of them waits for.

import type { RpcCommandName } from "./rpc-types.js";

/** Never held: they are what ends a wait. */
const immediate: ReadonlySet<RpcCommandName> = new Set(["abort", "abort_bash", "abort_retry"]);
/** They pass the input stage one after another, and everything behind them waits until their fate is known. */
const texts: ReadonlySet<RpcCommandName> = new Set(["prompt", "steer", "follow_up"]);
/** Everything behind them waits until they are done: they replace the session, or change it once its file is theirs. */
const changes: ReadonlySet<RpcCommandName> = new Set([
  ...(["new_session", "switch_session", "fork", "clone"] as const),
  ...(["set_model", "cycle_model", "set_thinking_level", "cycle_thinking_level", "set_session_name"] as const),
  ...(["navigate_tree", "set_label", "rename_session", "delete_session"] as const),
]);
/** What each of them stops, even when it has not been started. */
const stoppedBy: ReadonlyMap<RpcCommandName, ReadonlySet<RpcCommandName>> = new Map([
  ["abort", texts],
  ["abort_bash", new Set(["bash"] as const)],
]);
/** They look, and do not wait for texts whose fate is open. */
const onlookers: ReadonlySet<RpcCommandName> = new Set(["get_state", "get_capabilities"]);

export interface LaneItem {
  name: RpcCommandName;
  /** Resolves when the command may be started without waiting for anything; absent when it may be at once. */
  ready?: () => Promise<void>;
  /**
   * Starts the command; resolves when it has been answered, and never rejects. `cancelled` is the number of commands
   * that were cancelled on its behalf.
   */
  run: (cancelled: number) => Promise<void>;
  /** Answers the command as cancelled by another one instead. */
  cancel: (by: RpcCommandName) => void;
}

export interface LaneOptions {
  /** Holds every command that waits in line until its promise resolves (the reader is far behind). */
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
  #changing = false;
  #pumping = false;
  #closed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Texts that wait behind something else. */
  get waitingTexts(): number {
    return this.#waiting.filter(({ name }) => texts.has(name)).length;
  }

  submit(item: LaneItem): void {
    if (this.#closed) return;
    if (immediate.has(item.name)) {
      this.#start(item, this.#cancelFor(item.name));
    } else if (onlookers.has(item.name) && this.#seesPresent()) this.#start(item);
    else {
      this.#waiting.push(item);
      void this.#pump();
    }
  }

  /** Starts nothing more: what waits and what comes is forgotten without an answer. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
    this.#changed();
  }

  /** Resolves when everything submitted so far has been started, and texts and changes are answered. */
  async idle(): Promise<void> {
    while (this.#waiting.length > 0 || this.#openTexts > 0 || this.#changing) await this.#change();
  }

  /** Resolves when everything that was started has been answered. */
  async answered(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Nothing but texts stands between an onlooker and now. */
  #seesPresent(): boolean {
    return !this.#changing && this.#waiting.every(({ name }) => texts.has(name) || onlookers.has(name));
  }

  #cancelFor(by: RpcCommandName): number {
    const names = stoppedBy.get(by);
    if (!names) return 0;
    const cancelled = this.#waiting.filter(({ name }) => names.has(name));
    for (const item of cancelled) {
      this.#waiting.splice(this.#waiting.indexOf(item), 1);
      item.cancel(by);
    }
    if (cancelled.length > 0) this.#changed();
    return cancelled.length;
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    for (let head = this.#waiting[0]; head; head = this.#waiting[0]) {
      if (this.#mustWait(head)) await this.#change();
      else {
        // Asked for once: when the process ends nobody is held any more, however much is unsent.
        const held = this.#options.hold();
        if (held) await held;
        const { ready } = head;
        head.ready = undefined;
        if (ready) await ready();
        // Meanwhile it may have been cancelled, or something may stand in its way.
        if (this.#waiting[0] !== head || this.#mustWait(head)) continue;
        this.#waiting.shift();
        this.#start(head);
      }
    }
    this.#pumping = false;
    this.#changed();
  }

  #mustWait({ name }: LaneItem): boolean {
    return this.#changing || (this.#openTexts > 0 && !texts.has(name) && !onlookers.has(name));
  }

  #start({ name, run }: LaneItem, cancelled = 0): void {
    const isText = texts.has(name);
    const changesSession = changes.has(name);
    if (isText) this.#openTexts += 1;
    if (changesSession) this.#changing = true;
    const done = run(cancelled).finally(() => {
      this.#running.delete(done);
      if (isText) this.#openTexts -= 1;
      if (changesSession) this.#changing = false;
      if (isText || changesSession) this.#changed();
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
