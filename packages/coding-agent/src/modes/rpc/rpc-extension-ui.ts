// The extension UI spoken as records: requests that go out, answers that come in, dialogs that are closed on our side.

import { randomUUID } from "node:crypto";
import type { DialogOptions, UiTransport } from "../../extensions/ui.js";
import type { ModeIo } from "../io.js";
import type { RpcExtensionUIClosed, RpcExtensionUIRequest, UiMethodName } from "./rpc-types.js";

type ClosedReason = RpcExtensionUIClosed["reason"];

/** Milliseconds a timer of Node can run: 2^31 - 1, about 25 days. */
const longestTimer = 2 ** 31 - 1;

/** Why a dialog has no answer: what the client said of it, or why we closed it. */
type Ending = { value: unknown } | { cancelled: true };

interface OpenDialog {
  method: UiMethodName;
  /** What a select may be answered with. */
  options?: readonly string[];
  end: (ending: Ending) => void;
}

/** Any number of dialogs may be open; each keeps its id and settles once. */
export class RpcExtensionUI implements UiTransport {
  readonly #io: Pick<ModeIo, "write" | "log">;
  readonly #open = new Map<string, OpenDialog>();
  #isOver = false;

  constructor(io: Pick<ModeIo, "write" | "log">) {
    this.#io = io;
  }

  async select(title: string, options: string[], how: DialogOptions): Promise<string | undefined> {
    const choices = [...options];
    return this.#ask("select", { title, options: choices }, how, choices) as Promise<string | undefined>;
  }

  async confirm(title: string, message: string, how: DialogOptions): Promise<boolean | undefined> {
    return this.#ask("confirm", { title, message }, how) as Promise<boolean | undefined>;
  }

  async input(title: string, placeholder: string | undefined, how: DialogOptions): Promise<string | undefined> {
    return this.#ask("input", { title, placeholder }, how) as Promise<string | undefined>;
  }

  async editor(title: string, prefill: string | undefined, how: DialogOptions): Promise<string | undefined> {
    // The request has no timeout field; the limit holds on our side all the same.
    return this.#ask("editor", { title, prefill }, how) as Promise<string | undefined>;
  }

  notify(message: string, notifyType?: string): void {
    this.#tell("notify", { message, notifyType });
  }

  setStatus(statusKey: string, statusText: string | undefined): void {
    this.#tell("setStatus", { statusKey, statusText });
  }

  setWidget(widgetKey: string, widgetLines: string[] | undefined, widgetPlacement: string | undefined): void {
    this.#tell("setWidget", { widgetKey, widgetLines, widgetPlacement });
  }

  setTitle(title: string): void {
    this.#tell("setTitle", { title });
  }

  setEditorText(text: string): void {
    this.#tell("set_editor_text", { text });
  }

  /**
   * Takes a client's answer. One to a dialog that is not open any more, or never was, is ignored; one that does not fit
   * counts as cancelled and is noted in the log.
   */
  answer(record: Record<string, unknown>): void {
    const { id } = record;
    const dialog = typeof id === "string" ? this.#open.get(id) : undefined;
    if (!dialog) return;
    const { method, options } = dialog;
    if (record.cancelled === true) {
      dialog.end({ cancelled: true });
      return;
    }
    const value = method === "confirm" ? record.confirmed : record.value;
    const fits =
      method === "confirm"
        ? typeof value === "boolean"
        : typeof value === "string" && (options === undefined || options.includes(value));
    if (!fits) this.#io.log(`pi: the answer to ${method} dialog ${id} does not fit; it counts as cancelled`);
    dialog.end(fits ? { value } : { cancelled: true });
  }

  /** Closes every open dialog, and tells the client. */
  dismiss(reason: Exclude<ClosedReason, "timeout">): void {
    for (const [id, dialog] of [...this.#open]) this.#close(id, dialog, reason);
  }

  /** No answer can come any more: open dialogs are closed, and those to come end unanswered. */
  end(): void {
    this.#isOver = true;
    this.dismiss("shutdown");
  }

  #close(id: string, dialog: OpenDialog, reason: ClosedReason): void {
    dialog.end({ cancelled: true });
    this.#io.write({ type: "extension_ui_closed", id, reason });
  }

  #ask(
    method: UiMethodName,
    fields: object,
    { timeout, signal }: DialogOptions,
    options?: readonly string[],
  ): Promise<unknown> {
    if (this.#isOver || signal?.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const id = randomUUID();
      let timer: NodeJS.Timeout | undefined;
      const dialog: OpenDialog = {
        method,
        ...(options && { options }),
        end: (ending) => {
          this.#open.delete(id);
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          resolve("value" in ending ? ending.value : undefined);
        },
      };
      const onAbort = () => this.#close(id, dialog, "aborted");
      signal?.addEventListener("abort", onAbort, { once: true });
      // More than a timer can hold is no limit.
      const isLimited = typeof timeout === "number" && timeout > 0 && timeout <= longestTimer;
      if (isLimited) timer = setTimeout(() => this.#close(id, dialog, "timeout"), timeout);
      this.#open.set(id, dialog);
      this.#send(id, method, { ...fields, ...(isLimited && method !== "editor" && { timeout }) });
    });
  }

  #tell(method: UiMethodName, fields: object): void {
    this.#send(randomUUID(), method, fields);
  }

  /** Fields that are undefined are left out, as JSON does. */
  #send(id: string, method: UiMethodName, fields: object): void {
    this.#io.write({ type: "extension_ui_request", id, method, ...fields } as RpcExtensionUIRequest);
  }
}
