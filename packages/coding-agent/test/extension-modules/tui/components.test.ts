// The components: what they draw at a width, and what keys do to them.

import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  getMarkdownTheme,
  getSelectListTheme,
  getSettingsListTheme,
} from "../../../src/extension-modules/component-themes.js";
import * as tui from "../../../src/extension-modules/tui/index.js";
import type { MarkdownTheme } from "../../../src/extension-modules/tui/markdown.js";

const [up, down, enter, cancelKey] = ["\u001b[A", "\u001b[B", "\r", "\u001b"];
const shown = (lines: string[]) => lines.map((line) => tui.stripTerminalSequences(line).trimEnd());
const same = (text: string) => text;
const plainMarkdown = Object.fromEntries(
  Object.keys(getMarkdownTheme())
    .filter((name) => name !== "highlightCode")
    .map((name) => [name, same]),
) as unknown as MarkdownTheme;

describe("text and boxes", () => {
  it("wrap, pad and fill", () => {
    expect(new tui.Text("hello").render(10)).toEqual(["          ", " hello    ", "          "]);
    expect(new tui.Text("hello world", 0, 0).render(5)).toEqual(["hello", "world"]);
    expect(new tui.Text("  ", 1, 1).render(5)).toEqual([]);
    expect(new tui.Text("a", 1, 0, (line) => `[${line}]`).render(5)).toEqual(["[ a   ]"]);
    expect(shown(new tui.TruncatedText("hello world\nsecond").render(8))).toEqual(["hello..."]);
    const box = new tui.Box(1, 1, (line) => `[${line}]`);
    expect(box.render(6)).toEqual([]);
    box.addChild(new tui.Text("hi", 0, 0));
    expect(box.render(6)).toEqual(["[      ]", "[ hi   ]", "[      ]"]);
  });

  it("stand below and beside each other", () => {
    const [below, beside] = [new tui.VStack({ gap: 1 }), new tui.HStack({ gap: 1 })];
    for (const stack of [below, beside]) for (const text of ["a", "b"]) stack.addChild(new tui.Text(text, 0, 0));
    expect([shown(below.render(5)), beside.render(5)]).toEqual([["a", "", "b"], ["a  b "]]);
    const view = new tui.ScrollView(new tui.Text("1\n2\n3\n4", 0, 0), { viewportHeight: 2 });
    view.render(3);
    view.scrollToEnd();
    expect([shown(view.render(3)), view.isFollowingEnd()]).toEqual([["3", "4"], true]);
    const container = new tui.Container();
    container.addChild(new tui.Spacer(2));
    expect([container.render(5), container.children.length]).toEqual([["", ""], 1]);
  });
});

describe("Markdown", () => {
  it("draws what people write", () => {
    const text =
      "# Head\n\nSome *it* **b** `c` [l](http://x)\n\n- one\n- two\n  - three\n\n1. a\n\n> quote\n\n```js\nlet a=1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n<b>html</b>";
    expect(shown(new tui.Markdown(text, 0, 0, plainMarkdown).render(30))).toEqual([
      ...["Head", "", "Some it b c l (http://x)", "", "- one", "- two", "  - three", "", "1. a", "", "│ quote", ""],
      ...["```js", "  let a=1", "```", "", "┌───┬───┐", "│ a │ b │", "├───┼───┤", "│ 1 │ 2 │", "└───┴───┘", ""],
      ...["──────────────────────────────", "", "<b>html</b>"],
    ]);
  });

  it("is never wider than it may be", () => {
    const piece = fc.constantFrom(
      "# a long heading\n",
      "- item ",
      "中文字符",
      "| a | b |\n|-|-|\n|1|2|\n",
      "```\ncode code code\n```\n",
      "> q ",
      "\n\n",
      "**bold** ",
      "1. x",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 4, max: 40 }), (pieces, width) => {
        for (const line of new tui.Markdown(pieces.join(""), 1, 0, getMarkdownTheme()).render(width))
          expect(tui.visibleWidth(line)).toBe(width);
      }),
      { seed: 20_260, numRuns: 100 },
    );
  });
});

describe("lists", () => {
  it("let one value be chosen", () => {
    const items = [{ value: "a", label: "Alpha", description: "first" }, { value: "b" }, { value: "c" }];
    const list = new tui.SelectList(items, 2, getSelectListTheme());
    const [chosen, cancelled, moved] = [vi.fn(), vi.fn(), vi.fn()];
    Object.assign(list, { onSelect: chosen, onCancel: cancelled, onSelectionChange: moved });
    expect(shown(list.render(60))).toEqual([`→ Alpha${" ".repeat(27)}first`, "  b", "  (1/3)"]);
    for (const key of [down, down, down, up, enter, cancelKey]) list.handleInput(key);
    expect([chosen.mock.calls, cancelled.mock.calls.length, moved.mock.calls.length]).toEqual([[[items[2]]], 1, 4]);
    list.setFilter("x");
    expect([list.getSelectedItem(), shown(list.render(60))]).toEqual([null, ["  No matching items"]]);
  });

  it("let settings be changed and searched", () => {
    const [changed, cancelled] = [vi.fn(), vi.fn()];
    const items = [
      { id: "x", label: "X", currentValue: "on", values: ["on", "off"], description: "about" },
      { id: "y", label: "Long", currentValue: "1" },
    ];
    const list = new tui.SettingsList(items, 5, getSettingsListTheme(), changed, cancelled, { enableSearch: true });
    for (const key of [enter, "l", "o"]) list.handleInput(key);
    expect(changed.mock.calls).toEqual([["x", "off"]]);
    expect(shown(list.render(50)).slice(0, 3)).toEqual(["> lo", "", "→ Long  1"]);
    list.updateValue("y", "2");
    expect(shown(list.render(50))[2]).toBe("→ Long  2");
    list.handleInput(cancelKey);
    expect(cancelled).toHaveBeenCalledOnce();
  });
});

describe("Input and Editor", () => {
  it("edit one line", () => {
    const [input, submitted] = [new tui.Input(), vi.fn()];
    input.onSubmit = submitted;
    for (const key of ["h", "ï", "\u001b[200~ you\n\u001b[201~", "\u0017", "\u0019", "\u001b[D", "\u007f", enter])
      input.handleInput(key);
    expect(submitted.mock.calls).toEqual([["hï yu"]]);
    input.focused = true;
    const [line = ""] = input.render(20);
    expect([tui.visibleWidth(line), line.includes(tui.CURSOR_MARKER)]).toEqual([20, true]);
    input.setValue("a long long value 中文");
    for (const width of [3, 8, 15]) expect(tui.visibleWidth(input.render(width)[0] ?? "")).toBeLessThanOrEqual(width);
  });

  it("edit several lines", () => {
    const editor = new tui.Editor({ requestRender() {} }, { borderColor: same });
    const [submitted, changed] = [vi.fn(), vi.fn()];
    Object.assign(editor, { onSubmit: submitted, onChange: changed });
    editor.setText("one");
    for (const key of ["\n", "t", "w", "o", up, "\u0005", "!"]) editor.handleInput(key);
    expect([editor.getText(), editor.getCursor(), editor.getLines()]).toEqual([
      "one!\ntwo",
      { line: 0, col: 4 },
      ["one!", "two"],
    ]);
    editor.handleInput("\u001f");
    expect(editor.getText()).toBe("one\ntwo");
    expect(shown(editor.render(10))).toEqual(["──────────", "one", "two", "──────────"]);
    editor.handleInput(enter);
    expect([submitted.mock.calls, editor.getText()]).toEqual([[["one\ntwo"]], ""]);
    expect(changed).toHaveBeenLastCalledWith("");
  });
});

describe("loaders, images and the screen", () => {
  it("say what goes on, and stop when asked to", () => {
    const loader = new tui.CancellableLoader({ requestRender() {} }, same, same, "Working");
    const aborted = vi.fn();
    loader.onAbort = aborted;
    expect(loader.render(20)).toEqual(["", " ⠋ Working          "]);
    loader.handleInput(cancelKey);
    expect([loader.aborted, loader.signal.aborted, aborted.mock.calls.length]).toEqual([true, true, 1]);
  });

  it("stand for images by words", () => {
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    expect(new tui.Image(pixel, "image/png", {}, { filename: "f.png" }).render(40)).toEqual([
      "[Image: f.png [image/png] 1x1]",
    ]);
    expect(tui.getCapabilities()).toEqual({ images: null, trueColor: false, hyperlinks: false });
    expect(tui.allocateImageId()).not.toBe(tui.allocateImageId());
    expect(tui.deleteKittyImage(7)).toBe("\u001b_Ga=d,d=I,i=7,q=2\u001b\\");
    expect(tui.hyperlink("t", "http://x")).toBe("\u001b]8;;http://x\u001b\\t\u001b]8;;\u001b\\");
  });

  it("give the focus to an overlay and back", () => {
    const screen = new tui.TUI();
    const [below, above] = [new tui.Input(), new tui.Input()];
    screen.setFocus(below);
    const handle = screen.showOverlay(above);
    expect([below.focused, above.focused, screen.hasOverlay()]).toEqual([false, true, true]);
    handle.hide();
    expect([below.focused, screen.hasOverlay(), tui.isFocusable(below)]).toEqual([true, false, true]);
  });
});

describe("fuzzyFilter", () => {
  it("finds letters in order, the best first", () => {
    expect(tui.fuzzyFilter(["grape", "banana", "apple"], "ap", same)).toEqual(["apple", "grape"]);
    expect(tui.fuzzyFilter(["a b", "b a", "c"], "b a", same)).toHaveLength(2);
    expect(tui.fuzzyFilter(["x", "y"], " ", same)).toEqual(["x", "y"]);
    expect([tui.fuzzyMatch("x", "abc").matches, tui.fuzzyMatch("AB", "xaxb").matches]).toEqual([false, true]);
    expect(tui.fuzzyMatch("abc", "abc").score).toBeLessThan(tui.fuzzyMatch("abc", "a_b_c").score);
  });
});
