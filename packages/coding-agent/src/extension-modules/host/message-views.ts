// Messages of a conversation as components: their text, as far as anybody looks at it.

import type { AssistantMessage } from "@earendil-works/pi-ai";
import { contentText } from "../ai/transcript.js";
import { getMarkdownTheme } from "../component-themes.js";
import type { ThemeBg } from "../theme.js";
import { defaultTheme } from "../theme.js";
import { Container } from "../tui/component.js";
import { Box } from "../tui/layout.js";
import { Markdown } from "../tui/markdown.js";
import { Text } from "../tui/text.js";

type Content = string | readonly { type: string; text?: string }[];

/** A view that shows less until it is expanded; here it always shows everything. */
class MessageView extends Container {
  setExpanded(_expanded: boolean): void {}
  setOutputPad(_columns: number): void {}

  /** Shows a text as Markdown on a background. */
  protected show(text: string, background?: ThemeBg): void {
    this.clear();
    const box = new Box(1, background ? 1 : 0, background && ((line) => defaultTheme().bg(background, line)));
    box.addChild(new Markdown(text, 0, 0, getMarkdownTheme()));
    this.addChild(box);
  }
}

export class UserMessageComponent extends MessageView {
  constructor(text = "", ..._options: unknown[]) {
    super();
    this.show(text, "userMessageBg");
  }
}

export class AssistantMessageComponent extends MessageView {
  constructor(message?: AssistantMessage, ..._options: unknown[]) {
    super();
    if (message) this.updateContent(message);
  }

  updateContent(message: AssistantMessage): void {
    this.show(contentText(message.content));
  }

  setHideThinkingBlock(_hide: boolean): void {}
  setHiddenThinkingLabel(_label: string): void {}
}

export class CustomMessageComponent extends MessageView {
  constructor(message: { customType?: string; content?: Content } = {}, ..._options: unknown[]) {
    super();
    const { customType, content = "" } = message;
    this.show(`${customType ? `**[${customType}]**\n\n` : ""}${contentText(content)}`, "customMessageBg");
  }
}

/** Shows the summary of a message that has one. */
class SummaryView extends MessageView {
  constructor(message: { summary?: string } = {}, ..._options: unknown[]) {
    super();
    this.show(message.summary ?? "", "customMessageBg");
  }
}

export class BranchSummaryMessageComponent extends SummaryView {}
export class CompactionSummaryMessageComponent extends SummaryView {}

export class SkillInvocationMessageComponent extends MessageView {
  constructor(skill: { name?: string; content?: string } = {}, ..._options: unknown[]) {
    super();
    this.show(`**[${skill.name ?? "skill"}]**\n\n${skill.content ?? ""}`, "customMessageBg");
  }
}

export class BashExecutionComponent extends MessageView {
  readonly #command: string;
  #output = "";

  constructor(command = "", ..._options: unknown[]) {
    super();
    this.#command = command;
    this.#update();
  }

  getCommand(): string {
    return this.#command;
  }

  getOutput(): string {
    return this.#output;
  }

  appendOutput(text: string): void {
    this.#output += text;
    this.#update();
  }

  setComplete(..._end: unknown[]): void {}

  #update(): void {
    this.clear();
    this.addChild(new Text(`$ ${this.#command}\n${this.#output}`.trimEnd(), 1, 0));
  }
}

export class ToolExecutionComponent extends MessageView {
  readonly #toolName: string;
  #args: unknown;
  #result: { content?: Content } | undefined;

  constructor(toolName = "", _toolCallId?: unknown, args?: unknown, ..._options: unknown[]) {
    super();
    this.#toolName = toolName;
    this.#args = args;
    this.#update();
  }

  updateArgs(args: unknown): void {
    this.#args = args;
    this.#update();
  }

  updateResult(result: { content?: Content }, ..._options: unknown[]): void {
    this.#result = result;
    this.#update();
  }

  markExecutionStarted(): void {}
  setArgsComplete(): void {}
  setShowImages(_show: boolean): void {}
  setImageWidthCells(_columns: number): void {}

  #update(): void {
    this.clear();
    const args = this.#args === undefined ? "" : ` ${JSON.stringify(this.#args)}`;
    this.addChild(new Text(`${defaultTheme().bold(this.#toolName)}${args}`, 1, 0));
    if (this.#result) this.addChild(new Text(contentText(this.#result.content ?? ""), 1, 0));
  }
}
