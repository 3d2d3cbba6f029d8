// The order in which commands take effect: that of their arrival, whatever each of them waits for.

import { type CommandOrder, type RpcCommandName, rpcCommands } from "./rpc-types.js";

/** What an immediate command stops, even when it has not been started. */
const stoppedBy: Partial<Record<RpcCommandName, (item: LaneItem) => boolean>> = {
  abort: (item) => orderOf(item) === "text",
  abort_bash: ({ name }) => name === "bash",
};

function orderOf({ name, isFree }: Pick<LaneItem, "name" | "isFree">): CommandOrder | "free" | undefined {
  return isFree?.() ? "free" : rpcCommands[name].order;
}

export interface LaneItem {
  name: RpcCommandName;
  /**
   * Whether the command, as things are now, waits for no text and lets nothing wait for it: a text that calls a command
   * of an extension.
   */
  isFree?: () => boolean;
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
  /** Only what sees or stops something is started while this is true. */
  isStarting?: () => boolean;
}

/**
 * Starts commands in the order they arrived, and holds those behind one that changes state later than at its start, so that
 * the order of arrival is the order of effects, though answers of long commands may come later.
 */
export class CommandLane {
  readonly #options: LaneOptions;
  readonly #waiting: LaneItem[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Those that nothing waits for while input comes. */
  readonly #free = new Set<Promise<void>>();
  #openTexts = 0;
  #changing = false;
  #pumping = false;
  #closed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Texts that wait behind something else. */
  get waitingTexts(): number {
    return this.#waiting.filter((item) => orderOf(item) === "text").length;
  }

  submit(item: LaneItem): void {
    if (this.#closed) return;
    const order = orderOf(item);
    if (order === "immediate") {
      this.#start(item, this.#cancelFor(item.name));
    } else if (order === "onlooker" && (this.#seesPresent() || this.#options.isStarting?.())) this.#start(item);
    else if (order === "free" && !item.ready && this.#seesPresent() && !this.#isHeld()) this.#start(item);
    else {
      this.#waiting.push(item);
      void this.#pump();
    }
  }

  /** Nothing that was started is on its way. */
  get isQuiet(): boolean {
    return this.#running.size === 0;
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

  /** Resolves when the commands of extensions that were started have been answered. */
  async freeDone(): Promise<void> {
    while (this.#free.size > 0) await Promise.all(this.#free);
  }

  /** Resolves when everything that was started has been answered. */
  async answered(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Nothing but texts stands between an onlooker and now. */
  #seesPresent(): boolean {
    return (
      !this.#changing &&
      this.#waiting.every((item) => {
        const order = orderOf(item);
        return order === "text" || order === "onlooker";
      })
    );
  }

  #cancelFor(by: RpcCommandName): number {
    const isStopped = stoppedBy[by];
    if (!isStopped) return 0;
    const cancelled = this.#waiting.filter(isStopped);
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
    // Nothing is awaited between the last look at the list and the end: what comes then begins a round of its own.
    try {
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
    } finally {
      this.#pumping = false;
      this.#changed();
    }
  }

  #mustWait(item: LaneItem): boolean {
    const order = orderOf(item);
    const passesTexts = order === "text" || order === "onlooker" || order === "free";
    return this.#changing || (this.#openTexts > 0 && !passesTexts);
  }

  #isHeld(): boolean {
    return this.#options.hold() !== undefined;
  }

  #start(item: LaneItem, cancelled = 0): void {
    const { run } = item;
    const order = orderOf(item);
    const isText = order === "text";
    const changesSession = order === "exclusive";
    if (isText) this.#openTexts += 1;
    if (changesSession) this.#changing = true;
    const done = run(cancelled).finally(() => {
      this.#running.delete(done);
      this.#free.delete(done);
      if (isText) this.#openTexts -= 1;
      if (changesSession) this.#changing = false;
      if (isText || changesSession) this.#changed();
    });
    this.#running.add(done);
    if (order === "free") this.#free.add(done);
  }

  #listeners: (() => void)[] = [];

  #change(): Promise<void> {
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  #changed(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }
}
