// The theme: codes around text, and no colour for names nobody knows.

import { describe, expect, it } from "vitest";
import { colorToHex, mixColors, parseColor, rgbColor } from "../../src/extension-modules/colour.js";
import { defaultTheme, Theme, type ThemeBg, type ThemeColor } from "../../src/extension-modules/theme.js";
import { backgrounds, foregrounds } from "../../src/extension-modules/theme-colours.js";

describe("Theme", () => {
  const theme = new Theme({ accent: 0x102030, text: null }, { selectedBg: "#405060" }, "truecolor");

  it("puts a colour around text and ends only that", () => {
    expect(theme.fg("accent", "x")).toBe("\u001b[38;2;16;32;48mx\u001b[39m");
    expect(theme.fg("text", "x")).toBe("\u001b[39mx\u001b[39m");
    expect(theme.bg("selectedBg", "x")).toBe("\u001b[48;2;64;80;96mx\u001b[49m");
    expect(theme.style("x", { fg: "accent", bg: rgbColor(1, 2, 3), bold: true })).toBe(
      "\u001b[48;2;1;2;3m\u001b[38;2;16;32;48m\u001b[1mx\u001b[22m\u001b[39m\u001b[49m",
    );
  });

  it("has the nearest of 256 colours where there are no more", () => {
    const poor = new Theme({ accent: 0xff0000 }, {}, "256color");
    expect([poor.getFgAnsi("accent"), poor.getColorMode()]).toEqual(["\u001b[38;5;196m", "256color"]);
  });

  it("throws for unknown names, and for text colours as backgrounds", () => {
    expect(() => theme.fg("nope" as ThemeColor, "x")).toThrow("Unknown theme color: nope");
    expect(() => theme.bg("accent" as ThemeBg, "x")).toThrow("Unknown theme color: accent");
    expect(() => theme.getFgAnsi("selectedBg" as ThemeColor)).toThrow("Unknown theme color: selectedBg");
  });

  it("has styles that end themselves", () => {
    const { bold, italic, underline, inverse, strikethrough } = defaultTheme();
    expect([bold, italic, underline, inverse, strikethrough].map((style) => style("x"))).toEqual([
      "\u001b[1mx\u001b[22m",
      "\u001b[3mx\u001b[23m",
      "\u001b[4mx\u001b[24m",
      "\u001b[7mx\u001b[27m",
      "\u001b[9mx\u001b[29m",
    ]);
  });

  it("knows every documented name, and is made once", () => {
    const own = defaultTheme();
    for (const name of Object.keys(foregrounds)) expect(own.fg(name as ThemeColor, "x")).toContain("x");
    for (const name of Object.keys(backgrounds)) expect(own.bg(name as ThemeBg, "x")).toContain("x");
    expect(Object.keys(own.colors)).toHaveLength(Object.keys(foregrounds).length + Object.keys(backgrounds).length);
    expect(own.getThinkingBorderColor("high")("x")).toBe(own.fg("thinkingHigh", "x"));
    expect(defaultTheme()).toBe(own);
    expect(own.name).toBe("default");
  });
});

describe("colours", () => {
  it("are read, mixed and written", () => {
    expect(colorToHex(parseColor("#0af"))).toBe("#00aaff");
    expect(colorToHex(parseColor(196))).toBe("#ff0000");
    expect(colorToHex(mixColors(rgbColor(0, 0, 0), rgbColor(255, 255, 255), 0.5))).toBe("#808080");
    expect(() => parseColor("red")).toThrow('Cannot read color "red"');
  });
});
