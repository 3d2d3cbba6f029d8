// The tools of one session: which there are, which of them the model is offered, and the system prompt that follows from it.

import type { AnyAgentTool } from "@earendil-works/pi-agent-core";
import type { SystemPromptOptions } from "../extensions/event-parts.js";
import type { RegisteredTool, ToolInfo } from "../extensions/host.js";
import type { SourceInfo } from "../modes/rpc/rpc-types.js";
import { buildSystemPrompt } from "../resources/system-prompt.js";
import type { AnyBuiltInTool } from "../tools/index.js";
import { isSelectable, selectTools, type ToolSelection } from "./tool-selection.js";

/** A tool with what is known of it. */
interface KnownTool {
  tool: AnyAgentTool;
  snippet?: string | undefined;
  guidelines?: readonly string[] | undefined;
  exposure: ToolInfo["exposure"];
  defaultActive: boolean;
  sourceInfo: SourceInfo;
}

/** What the prompt says beside the tools. */
export type PromptFacts = Pick<SystemPromptOptions, "customPrompt" | "appendSystemPrompt" | "cwd" | "contextFiles"> & {
  skills: () => SystemPromptOptions["skills"];
};

export interface ToolBoxOptions {
  builtIn: readonly AnyBuiltInTool[];
  /** Tools of the program that embeds this one; a built-in name replaces the built-in tool. */
  custom: readonly AnyAgentTool[];
  /** Those of extensions, likewise. */
  registered: readonly RegisteredTool[];
  toAgentTool: (tool: RegisteredTool) => AnyAgentTool;
  selection: ToolSelection;
  /** The setting `defaultTools`. */
  defaults: readonly string[] | undefined;
  prompt: PromptFacts;
}

export class ToolBox {
  readonly #options: ToolBoxOptions;
  readonly #known = new Map<string, KnownTool>();
  #active: string[];
  #tools: AnyAgentTool[] | undefined;
  #systemPrompt: string | undefined;

  /** Throws an error that names what is wrong with the selection. */
  constructor(options: ToolBoxOptions) {
    this.#options = options;
    for (const tool of options.builtIn) this.#known.set(tool.name, ofBuiltIn(tool));
    for (const tool of options.custom) this.#known.set(tool.name, ofProgram(tool));
    for (const tool of options.registered) this.#add(tool);
    // One that takes a built-in tool's place is on like any other that was registered.
    const others = [...this.#known].filter(([, tool]) => tool.sourceInfo.source !== "builtin" && isOffered(tool));
    const names = [...this.#known].filter(([, tool]) => tool.exposure !== "hidden").map(([name]) => name);
    this.#active = selectTools(
      names,
      options.selection,
      options.defaults,
      others.map(([name]) => name),
    );
  }

  /** Those the model is offered, in order. */
  get tools(): readonly AnyAgentTool[] {
    this.#tools ??= this.#active.map((name) => (this.#known.get(name) as KnownTool).tool);
    return this.#tools;
  }

  get systemPrompt(): string {
    this.#systemPrompt ??= this.build(this.promptOptions());
    return this.#systemPrompt;
  }

  get active(): readonly string[] {
    return this.#active;
  }

  get all(): ToolInfo[] {
    return [...this.#known.values()].map(({ tool, guidelines, exposure, sourceInfo }) => ({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters as object,
      ...(guidelines && { promptGuidelines: guidelines }),
      exposure,
      sourceInfo,
    }));
  }

  /** What other tools may call: whatever is active or meant for it. */
  get callable(): ToolInfo[] {
    return this.all.filter(
      ({ name, exposure }) =>
        exposure === "codemode" || exposure === "deferred" || (exposure === "direct" && this.#active.includes(name)),
    );
  }

  find(name: string): AnyAgentTool | undefined {
    return this.#known.get(name)?.tool;
  }

  /** Unknown and hidden names, and those the selection keeps out, are left out. Counts from the next request on. */
  setActive(names: readonly string[]): void {
    const chosen = [...new Set(names)].filter(
      (name) =>
        (this.#known.get(name)?.exposure ?? "hidden") !== "hidden" && isSelectable(name, this.#options.selection),
    );
    this.#active = chosen;
    this.#changed();
  }

  /** A tool that an extension registered while the session is in use. */
  register(registered: RegisteredTool): void {
    const { name } = registered.definition;
    const isNew = !this.#known.has(name);
    const tool = this.#add(registered);
    if (tool.exposure === "hidden") this.#active = this.#active.filter((active) => active !== name);
    else if (isNew && isOffered(tool) && isSelectable(name, this.#options.selection)) this.#active.push(name);
    this.#changed();
  }

  /** Skills or the like have changed. */
  promptChanged(): void {
    this.#systemPrompt = undefined;
  }

  /** What the prompt is made of now; a copy for whoever wants to change it. */
  promptOptions(): SystemPromptOptions {
    const { customPrompt, appendSystemPrompt, cwd, contextFiles, skills } = this.#options.prompt;
    const offered = this.#active.map((name) => [name, this.#known.get(name) as KnownTool] as const);
    const withSnippet = offered.filter(([, { snippet }]) => snippet);
    const withRules = offered.filter(([, { guidelines }]) => guidelines?.length);
    return {
      ...(customPrompt !== undefined && { customPrompt }),
      ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
      selectedTools: [...this.#active],
      hiddenTools: [],
      toolSnippets: Object.fromEntries(withSnippet.map(([name, { snippet }]) => [name, snippet as string])),
      toolGuidelines: Object.fromEntries(withRules.map(([name, { guidelines }]) => [name, [...(guidelines ?? [])]])),
      promptGuidelines: [],
      sections: {},
      cwd,
      contextFiles: contextFiles.map((file) => ({ ...file })),
      skills: skills().map((skill) => ({ ...skill })),
    };
  }

  /** The prompt that is made of such options. */
  build(options: SystemPromptOptions): string {
    if (options.forceSystemPrompt !== undefined) return options.forceSystemPrompt;
    const { customPrompt, appendSystemPrompt } = options;
    const snippetOf = (name: string) => options.toolSnippets[name];
    return buildSystemPrompt({
      cwd: options.cwd,
      tools: options.selectedTools
        .filter((name) => this.#known.has(name))
        .map((name) => ({
          name,
          ...(snippetOf(name) !== undefined && { snippet: snippetOf(name) as string }),
          guidelines: options.toolGuidelines[name] ?? [],
        })),
      rules: options.promptGuidelines,
      sections: options.sections,
      contextFiles: options.contextFiles,
      ...(customPrompt !== undefined && { customPrompt }),
      ...(appendSystemPrompt !== undefined && { appendPrompts: [appendSystemPrompt] }),
      skills: options.skills.map(({ name, description, filePath }) => ({ name, description, path: filePath })),
    });
  }

  #add(registered: RegisteredTool): KnownTool {
    const { definition, sourceInfo } = registered;
    const { exposure = "direct", defaultActive = true, promptSnippet, promptGuidelines } = definition;
    const known: KnownTool = {
      tool: this.#options.toAgentTool(registered),
      snippet: promptSnippet,
      guidelines: promptGuidelines,
      exposure,
      defaultActive,
      sourceInfo,
    };
    this.#known.set(definition.name, known);
    return known;
  }

  #changed(): void {
    this.#tools = undefined;
    this.#systemPrompt = undefined;
  }
}

/** Whether a tool is active without being asked for. */
function isOffered({ exposure, defaultActive }: KnownTool): boolean {
  return defaultActive && (exposure === "direct" || exposure === "model-only");
}

function ofBuiltIn(tool: AnyBuiltInTool): KnownTool {
  return {
    tool,
    snippet: tool.promptSnippet,
    guidelines: tool.promptGuidelines,
    exposure: "direct",
    defaultActive: true,
    sourceInfo: { path: `builtin:${tool.name}`, source: "builtin", scope: "temporary", origin: "top-level" },
  };
}

function ofProgram(tool: AnyAgentTool): KnownTool {
  const { promptSnippet, promptGuidelines } = tool as Partial<AnyBuiltInTool>;
  return {
    tool,
    snippet: promptSnippet,
    guidelines: promptGuidelines,
    exposure: "direct",
    defaultActive: true,
    sourceInfo: { path: `sdk:${tool.name}`, source: "sdk", scope: "temporary", origin: "top-level" },
  };
}
