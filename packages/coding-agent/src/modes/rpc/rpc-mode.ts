// RPC mode: reads commands, validates them, lets them take effect in order, and writes answers and events.

import { CommandError } from "../../core/errors.js";
import type { SessionRuntime } from "../../core/session-runtime.js";
import { createUi } from "../../extensions/ui.js";
import { stackOf } from "../../lib/error-text.js";
import { inTime } from "../../lib/in-time.js";
import { LineSplitter, type SplitLine } from "../../lib/jsonl.js";
import type { EndSignal, ModeIo } from "../io.js";
import { toJsonEvent } from "../json-event.js";
import { endOnSignal, endOutput, handlersAfterSignalMs, signalExitCodes, signalLimitOf } from "../shutdown.js";
import { shortenEchoes } from "./echoes.js";
import { type RpcCall, type RpcContext, rpcHandlers } from "./rpc-commands.js";
import { RpcExtensionUI } from "./rpc-extension-ui.js";
import { CommandLane } from "./rpc-lane.js";
import type { RpcCommandName, RpcFailure } from "./rpc-types.js";
import { checkParams, idOf, isCheckable, prepareCheck, type ReceivedCommand, receive } from "./rpc-validate.js";

/** A record above this many bytes is refused and skipped: 128 MB. */
export const maxRecordBytes = 128 * 1024 * 1024;
/** While more than this many bytes are unsent, commands wait: 8 MB. */
export const heldAboveUnsent = 8 * 1024 * 1024;

/** After a signal, what was received before it is waited for this long: half of what the signal leaves. */
const idleLimitMs = 500;

/** At the end of input commands of extensions that were started are waited for this long, as handlers of the end are: 10 s. */
const commandLimitMs = 10_000;

export type RpcModeOptions = Omit<RpcContext, "runtime" | "waitingTexts">;

/** Runs until stdin ends, a signal comes or the reader is gone; resolves with the exit code. */
export async function runRpcMode(
  runtime: SessionRuntime,
  io: ModeIo,
  options: RpcModeOptions,
  theme: () => unknown = () => undefined,
): Promise<number> {
  return new RpcMode(runtime, io, options, theme).run();
}

class RpcMode {
  readonly #runtime: SessionRuntime;
  readonly #io: ModeIo;
  readonly #context: RpcContext;
  readonly #lane: CommandLane;
  readonly #ui: RpcExtensionUI;
  #wantsEnd = false;
  #endNow: () => void = () => {};

  constructor(runtime: SessionRuntime, io: ModeIo, options: RpcModeOptions, theme: () => unknown) {
    this.#runtime = runtime;
    this.#io = io;
    this.#ui = new RpcExtensionUI(io);
    this.#lane = new CommandLane({
      hold: () =>
        runtime.starting ??
        runtime.replacing ??
        (io.unsent > heldAboveUnsent ? io.drained(heldAboveUnsent) : undefined),
      isStarting: () => runtime.starting !== undefined,
    });
    runtime.bind({
      mode: "rpc",
      ui: createUi(this.#ui, { theme }),
      shutdown: () => this.#requestEnd(),
      dismiss: (reason) => this.#ui.dismiss(reason),
    });
    this.#context = { ...options, runtime, waitingTexts: () => this.#lane.waitingTexts };
  }

  async run(): Promise<number> {
    const io = this.#io;
    this.#runtime.subscribe((event) => {
      if (event.type === "agent_settled") this.#endIfIdle();
      return io.write(toJsonEvent(event));
    });
    const wanted = new Promise<"wanted">((resolve) => {
      this.#endNow = () => resolve("wanted");
    });
    if (this.#runtime.session.runner) void this.#runtime.start().finally(() => this.#endIfIdle());
    const gone = new Promise<"closed" | EndSignal>((resolve) => {
      io.onClosed(() => resolve("closed"));
      io.onSignal((signal) => {
        // An interrupt during a run stops the run, as `abort` does; otherwise it ends the process.
        if (signal === "SIGINT" && this.#runtime.session.isStreaming) this.#interrupt();
        else resolve(signal);
      });
    });
    const eof = new Promise<undefined>((resolve) => {
      const lines = new LineSplitter({ maxBytes: maxRecordBytes });
      const take = (line: SplitLine) => (line.oversized ? this.#refuseOversized() : this.#receive(line.text));
      io.onInput(
        (chunk) => lines.push(chunk).forEach(take),
        () => {
          lines.end().forEach(take);
          resolve(undefined);
        },
      );
    });
    const first = await Promise.race([eof, gone, wanted]);
    // Nobody can answer a dialog any more.
    this.#ui.end();
    io.relax();
    // An end of input is carried out in order, unless the reader goes or a signal comes meanwhile.
    const cause = first ?? (await Promise.race([this.#endOfInput(), gone, wanted]));
    if (cause === undefined) return 0;
    if (cause === "wanted") {
      // What was not started yet is not started any more: the program was asked to end first.
      const end = this.#end().then(() => endOutput(io));
      const late = await Promise.race([end, gone]);
      if (late !== "closed" && late !== undefined) io.exit(signalExitCodes[late]);
      return 0;
    }
    if (cause === "closed") {
      this.#lane.close();
      await this.#runtime.dispose();
      return 0;
    }
    const end = async () => {
      await inTime(this.#lane.idle(), idleLimitMs);
      await this.#end(handlersAfterSignalMs);
      await io.drained();
    };
    return endOnSignal(io, cause, end, signalLimitOf(this.#runtime));
  }

  /** An extension asks for the end: now when nothing is under way, else when the command or the run is over. */
  #requestEnd(): void {
    this.#wantsEnd = true;
    setImmediate(() => this.#endIfIdle());
  }

  #endIfIdle(): void {
    if (!this.#wantsEnd || this.#runtime.starting) return;
    const { session } = this.#runtime;
    // The last event and the last answer go out first.
    setImmediate(() => {
      if (this.#lane.isQuiet && !session.isStreaming && session === this.#runtime.session) this.#endNow();
    });
  }

  async #endOfInput(): Promise<undefined> {
    await this.#lane.idle();
    // What an extension does may have no end.
    await inTime(this.#lane.freeDone(), commandLimitMs);
    await this.#lane.idle();
    await this.#end();
    await endOutput(this.#io);
  }

  /** What `abort` does, without an answer. */
  #interrupt(): void {
    const run = async () => void (await this.#runtime.abort());
    this.#lane.submit({ name: "abort", run, cancel: () => {} });
  }

  /** Ends what runs, in order: the run, the commands, and the answers they owe. */
  async #end(handlersMs?: number): Promise<void> {
    this.#lane.close();
    const { session } = this.#runtime;
    if (!session.isStreaming) await session.announceQueue();
    await this.#runtime.dispose({ ...(handlersMs !== undefined && { handlersMs }) });
    await this.#lane.answered();
  }

  #receive(line: string): void {
    const received = receive(line);
    if (received.kind === "refused") this.#io.write(received.failure);
    else if (received.kind === "command") this.#submit(received.command);
    else this.#ui.answer(received.record);
  }

  #refuseOversized(): void {
    const error = `Failed to parse command: a record may have ${maxRecordBytes} bytes at most`;
    this.#io.write({ type: "response", command: "parse", success: false, error, code: "invalid_request" });
  }

  #submit(command: ReceivedCommand): void {
    const { name, record } = command;
    this.#lane.submit({
      name,
      ...(name === "prompt" && { isFree: () => this.#callsCommand(record.message) }),
      ready: isCheckable(name) ? undefined : () => prepareCheck(name),
      run: (cancelled) => this.#run(command, cancelled),
      cancel: (by) => {
        const error = new CommandError("cancelled", `Cancelled by ${by} before it was accepted`);
        this.#io.write(failure(name, record, error));
      },
    });
  }

  async #run(command: ReceivedCommand, cancelled: number): Promise<void> {
    const { name, record } = command;
    try {
      const data = await this.#call(name, checkParams(command), record, cancelled);
      const answer = { ...idOf(record), type: "response", command: name, success: true };
      this.#io.write(data === undefined ? answer : { ...answer, data });
    } catch (error) {
      if (!(error instanceof CommandError)) this.#io.log(`pi: ${name} failed: ${stackOf(error)}`);
      this.#io.write(failure(name, record, error));
    }
    this.#endIfIdle();
  }

  /** Whether a text calls a command of an extension, which does not wait in the line of texts. */
  #callsCommand(message: unknown): boolean {
    const { runner } = this.#runtime.session;
    return typeof message === "string" && runner?.commandIn(message) !== undefined;
  }

  #call(name: RpcCommandName, params: object, record: { id?: unknown }, cancelled: number): unknown {
    // The table ties each handler to its parameters; that tie is erased here, where the name is only known as a union.
    const handler = rpcHandlers[name] as (context: RpcContext, params: object, call: RpcCall) => unknown;
    return handler(this.#context, params, { record, cancelled });
  }
}

/** The answer to a refused or failed command. A bug is told as `internal`, without an engine's own words. */
function failure(command: string, record: Record<string, unknown>, error: unknown): RpcFailure {
  const refusal = error instanceof CommandError ? error : undefined;
  return {
    ...idOf(record),
    type: "response",
    command,
    success: false,
    error: refusal ? shortenEchoes(refusal.message, record) : "Internal error; details are on stderr",
    code: refusal?.code ?? "internal",
    ...(refusal?.field && { field: refusal.field }),
  };
}
