import { describe, expect, test } from "vitest";
import { selectTools, type ToolSelection } from "../../src/core/tool-selection.js";

const available = ["read", "bash", "edit", "write", "grep", "find", "ls", "deploy"];

describe("selectTools", () => {
  test.each<[string, ToolSelection, readonly string[] | undefined, string[]]>([
    ["the defaults", {}, undefined, ["read", "bash", "edit", "write"]],
    ["names, in the order there are", { tools: ["ls", "read"] }, undefined, ["read", "ls"]],
    ["a pattern", { tools: ["*e*"] }, undefined, ["read", "edit", "write", "grep", "deploy"]],
    ["one more", { tools: ["+grep"] }, undefined, ["read", "bash", "edit", "write", "grep"]],
    ["one less", { tools: ["-bash", "-edit"] }, undefined, ["read", "write"]],
    ["white space and empty entries do not count", { tools: [" read ", "", " "] }, undefined, ["read"]],
    ["defaults of the settings", {}, ["read", "ls"], ["read", "ls"]],
    ["changes to the built-in defaults in the settings", {}, ["+deploy", "-write"], ["read", "bash", "edit", "deploy"]],
    ["changes to the defaults of the settings", { tools: ["+ls"] }, ["read"], ["read", "ls"]],
    ["exclusions win", { tools: ["read", "bash"], exclude: ["bash", "nothing"] }, undefined, ["read"]],
    ["a pattern of exclusions", { exclude: ["*it*"] }, undefined, ["read", "bash"]],
    ["none", { none: true, tools: ["read"] }, undefined, []],
    ["no built-in ones", { noBuiltin: true }, undefined, []],
    ["no built-in ones but those named", { noBuiltin: true, tools: ["+deploy"] }, undefined, ["deploy"]],
    ["unknown names of the settings are left out", {}, ["red", "read"], ["read"]],
    ["a dot in a pattern is a dot", { tools: ["rea.*", "read"] }, undefined, ["read"]],
  ])("%s", (_, selection, defaults, names) => {
    expect(selectTools(available, selection, defaults)).toEqual(names);
  });

  test.each<[ToolSelection, readonly string[] | undefined, string]>([
    [{ tools: ["red"] }, undefined, `Unknown tool "red": there are ${available.join(", ")}`],
    [{ tools: ["+red"] }, undefined, `Unknown tool "red": there are ${available.join(", ")}`],
    [{ tools: ["-red"] }, undefined, `Unknown tool "red": there are ${available.join(", ")}`],
    [{ tools: ["read", "-bash"] }, undefined, "Cannot select tools: names and +name/-name entries cannot be mixed"],
  ])("refuses %j", (selection, defaults, message) => {
    expect(() => selectTools(available, selection, defaults)).toThrow(new Error(message));
  });
});
