// The members of `ctx.ui`: records in RPC mode, the empty answer elsewhere, and what only a terminal can do.

import { expect } from "vitest";
import type { ExtensionUI } from "../../../src/extensions/ui.js";
import type { JsonRecord } from "../../helpers/records.js";
import type { Mode } from "../play.js";
import { type Proof, probe, type Rows } from "./row.js";

const id = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-/);

/** A dialog: what it asks, what the answer gives, and what it gives without a user. */
function dialog(
  method: string,
  ask: (ui: ExtensionUI, how: { timeout?: number; signal?: AbortSignal }) => Promise<unknown>,
  expected: { fields: object; answer: object; value: unknown; none: unknown; hasTimeout?: boolean },
): Proof {
  return async (mode) => {
    const { fields, answer, value: answered, none, hasTimeout = true } = expected;
    const aborted = new AbortController();
    aborted.abort();
    const { value, ui } = await probe(
      mode,
      async ({ ui: asked }) => [
        await ask(asked, {}),
        await ask(asked, { timeout: 50_000 }),
        await ask(asked, {}),
        await ask(asked, { signal: aborted.signal }),
      ],
      { answerDialog: oneAfterAnother([answer, answer, { cancelled: true }]) },
    );
    if (mode !== "rpc") return expect([value, ui]).toEqual([[none, none, none, none], []]);
    const request = { type: "extension_ui_request", id, method, ...fields };
    expect(ui).toEqual([request, { ...request, ...(hasTimeout && { timeout: 50_000 }) }, request]);
    expect(value).toEqual([answered, answered, none, none]);
  };
}

/** Something that is told, and not answered. */
function told(tell: (ui: ExtensionUI) => unknown, expected: readonly object[]): Proof {
  return async (mode) => {
    const { value, ui, code } = await probe(mode, ({ ui: asked }) => tell(asked));
    expect([value, code]).toEqual([undefined, 0]);
    expect(ui).toEqual(
      mode === "rpc" ? expected.map((fields) => ({ type: "extension_ui_request", id, ...fields })) : [],
    );
  };
}

/** Something only a terminal can do: there, silent, and empty. */
function empty(call: (ui: ExtensionUI) => unknown, expected: unknown): Proof {
  return async (mode) => {
    let calls = 0;
    const { value, ui, faults } = await probe(mode, async ({ ui: asked }) => {
      const factory = () => {
        calls += 1;
      };
      return call(new Proxy(asked, { get: (target, name) => withFactory(target, name as keyof ExtensionUI, factory) }));
    });
    expect([value, ui, faults, calls]).toEqual([expected, [], [], 0]);
  };
}

/** Calls a member with a function, which nobody may call. */
function withFactory(ui: ExtensionUI, name: keyof ExtensionUI, factory: () => void): unknown {
  const member = ui[name];
  return typeof member === "function" ? () => (member as (given: unknown) => unknown)(factory) : member;
}

export const uiMembers: Rows<keyof ExtensionUI> = {
  select: dialog("select", (ui, how) => ui.select("Which?", ["a", "b"], how), {
    fields: { title: "Which?", options: ["a", "b"] },
    answer: { value: "b" },
    value: "b",
    none: undefined,
  }),
  confirm: dialog("confirm", (ui, how) => ui.confirm("Sure?", "It is final", how), {
    fields: { title: "Sure?", message: "It is final" },
    answer: { confirmed: true },
    value: true,
    none: false,
  }),
  input: dialog("input", (ui, how) => ui.input("Name?", undefined, how), {
    fields: { title: "Name?" },
    answer: { value: "" },
    value: "",
    none: undefined,
  }),
  editor: dialog("editor", (ui, how) => ui.editor("Text?", "draft", how), {
    fields: { title: "Text?", prefill: "draft" },
    answer: { value: "one\ntwo" },
    value: "one\ntwo",
    none: undefined,
    hasTimeout: false,
  }),
  custom: empty((ui) => ui.custom(), undefined),
  notify: told(
    (ui) => {
      ui.notify("Plain");
      ui.notify("Bad", "error");
    },
    [
      { method: "notify", message: "Plain" },
      { method: "notify", message: "Bad", notifyType: "error" },
    ],
  ),
  setStatus: told(
    (ui) => {
      ui.setStatus("k", "\u001b[1mbusy");
      ui.setStatus("k", undefined);
    },
    [
      { method: "setStatus", statusKey: "k", statusText: "\u001b[1mbusy" },
      { method: "setStatus", statusKey: "k" },
    ],
  ),
  setWidget: told(
    (ui) => {
      ui.setWidget("w", ["one", "two"], { placement: "belowEditor" });
      ui.setWidget("w", () => ["drawn"]);
      ui.setWidget("w", undefined);
    },
    [
      { method: "setWidget", widgetKey: "w", widgetLines: ["one", "two"], widgetPlacement: "belowEditor" },
      { method: "setWidget", widgetKey: "w" },
    ],
  ),
  setTitle: told((ui) => ui.setTitle("Spring"), [{ method: "setTitle", title: "Spring" }]),
  setEditorText: told((ui) => ui.setEditorText("draft"), [{ method: "set_editor_text", text: "draft" }]),
  pasteToEditor: told((ui) => ui.pasteToEditor("paste"), [{ method: "set_editor_text", text: "paste" }]),
  getEditorText: empty((ui) => ui.getEditorText(), ""),
  onTerminalInput: async (mode) => {
    const { value } = await probe(mode, ({ ui }) => {
      const end = ui.onTerminalInput(() => {});
      return [typeof end, end()];
    });
    expect(value).toEqual(["function", undefined]);
  },
  setEditorComponent: empty((ui) => ui.setEditorComponent(), undefined),
  getEditorComponent: empty((ui) => ui.getEditorComponent(), undefined),
  setWorkingMessage: empty((ui) => ui.setWorkingMessage(), undefined),
  setWorkingIndicator: empty((ui) => ui.setWorkingIndicator(), undefined),
  setWorkingVisible: empty((ui) => ui.setWorkingVisible(), undefined),
  setHiddenThinkingLabel: empty((ui) => ui.setHiddenThinkingLabel(), undefined),
  setFooter: empty((ui) => ui.setFooter(), undefined),
  setHeader: empty((ui) => ui.setHeader(), undefined),
  addAutocompleteProvider: empty((ui) => ui.addAutocompleteProvider(), undefined),
  setToolsExpanded: empty((ui) => ui.setToolsExpanded(), undefined),
  getToolsExpanded: empty((ui) => ui.getToolsExpanded(), false),
  theme: async (mode) => expect((await probe(mode, ({ ui }) => ui.theme)).value).toBe("the theme"),
  getAllThemes: empty((ui) => ui.getAllThemes(), []),
  getTheme: empty((ui) => ui.getTheme(), undefined),
  setTheme: empty((ui) => ui.setTheme(), { success: false, error: "Themes can only be switched on a terminal" }),
};

function oneAfterAnother(answers: object[]): (request: JsonRecord) => object | undefined {
  return () => answers.shift();
}

/** What a UI has at run time. */
export async function membersOfUi(mode: Mode): Promise<string[]> {
  return (await probe(mode, ({ ui }) => Object.keys(ui))).value;
}
