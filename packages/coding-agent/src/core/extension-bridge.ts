// Joins extensions to one session: which moment of a run is which event, and what their answers change.

import type { AgentLoopOptions, FinishedToolCall } from "@earendil-works/pi-agent-core";
import {
  addUsage,
  type Context,
  type ImageContent,
  type Message,
  type Model,
  type StreamOptions,
  type ThinkingLevel,
  type Usage,
  type UserMessage,
} from "@earendil-works/pi-ai";
import type { NewEntry, SystemPromptOptions } from "../extensions/event-parts.js";
import type { ExtensionEventMap, ExtensionEventName } from "../extensions/events.js";
import {
  askBeforeToolCall,
  changeHeaders,
  passInput,
  patchToolResult,
  proposeAt,
  replaceMessage,
  replacePayload,
  startRun,
  transformMessages,
} from "../extensions/hooks.js";
import type { CustomMessageDraft } from "../extensions/host.js";
import type { ExtensionRunner } from "../extensions/runner.js";
import { customMessage } from "./custom-message.js";
import type { AgentSessionEvent } from "./events.js";
import type { TypedInput } from "./input.js";
import type { AgentMessage, CustomMessage } from "./messages.js";
import { toLlmMessage } from "./to-llm.js";
import { userText } from "./user-text.js";

export interface ExtensionBridgeOptions {
  runner: ExtensionRunner;
  messages: () => readonly AgentMessage[];
  /** The prompt without what extensions change for a run. */
  systemPrompt: () => string;
  promptOptions: () => SystemPromptOptions;
  buildPrompt: (options: SystemPromptOptions) => string;
  setActiveTools: (names: readonly string[]) => void;
  /** The entry a message of the conversation stands in. */
  entryIdOf: (message: AgentMessage) => string | undefined;
  appendEntries: (entries: readonly NewEntry[]) => void;
  /** Puts another message in the place of one that is in the conversation already. */
  replace: (message: AgentMessage, replacement: AgentMessage) => void;
  isStored: (message: AgentMessage) => boolean;
  /** Everything announced so far has been heard. */
  flushed: () => Promise<void>;
  /** A turn has ended; what waited for that is recorded. */
  turnEnded: () => Promise<void>;
}

/** What a run is made of when handlers have changed it. */
interface RunPrompt {
  text: string;
  options: SystemPromptOptions;
  isForced: boolean;
}

/** The events of the session that are extensions' events under the same name. */
const sameNames = new Set<string>([
  "agent_start",
  "agent_end",
  "agent_settled",
  "message_start",
  "message_update",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "session_info_changed",
]);

export class ExtensionBridge {
  readonly #options: ExtensionBridgeOptions;
  readonly #runner: ExtensionRunner;
  #turnIndex = 0;
  #wantsTurn = false;
  /** Model work of calls inside a tool, by the call that made them, until its own result is there. */
  readonly #nestedUsage = new Map<string, Usage>();
  #run: RunPrompt | undefined;

  constructor(options: ExtensionBridgeOptions) {
    this.#options = options;
    this.#runner = options.runner;
  }

  /** The prompt in force: that of the run under way, or the session's. */
  get systemPrompt(): string {
    const run = this.#run;
    if (!run) return this.#options.systemPrompt();
    if (run.isForced) return run.text;
    const { selectedTools, toolSnippets, toolGuidelines } = this.#options.promptOptions();
    if (selectedTools.join() === run.options.selectedTools.join()) return run.text;
    run.options = { ...run.options, selectedTools, toolSnippets, toolGuidelines };
    run.text = this.#options.buildPrompt(run.options);
    return run.text;
  }

  /** The extensions' step of the event line; nothing when nobody wants to hear of the event. */
  hear(event: AgentSessionEvent): undefined | Promise<void> {
    const { type } = event;
    if (type === "agent_start") {
      this.#turnIndex = 0;
      this.#wantsTurn = false;
    }
    if (type === "turn_start") return this.#tell("turn_start", { turnIndex: this.#turnIndex, timestamp: Date.now() });
    if (type === "turn_end") return this.#endTurn(event);
    if (type === "message_end") return this.#endMessage(event);
    if (type === "agent_settled") this.#run = undefined;
    // Asked before anything is made for them: there is an event for every delta.
    if (!sameNames.has(type) || !this.#runner.has(type as ExtensionEventName)) return undefined;
    const { type: _, ...payload } = event;
    return this.#runner.each(type as ExtensionEventName, payload as never);
  }

  /** Told by the selection of models. */
  readonly selected = (model: Model, previous: Model | null, source: "set" | "cycle"): Promise<void> =>
    this.#runner.each("model_select", { model, source, ...(previous && { previousModel: previous }) });

  readonly levelSelected = (level: ThinkingLevel, previousLevel: ThinkingLevel): Promise<void> =>
    this.#runner.each("thinking_level_select", { level, previousLevel });

  /** The hooks of the loop. Those nobody uses are absent, so that a run without them waits for nothing. */
  get loopHooks(): Partial<AgentLoopOptions> {
    return {
      ...this.toolHooks(),
      transformContext: (context) => this.#transform(context),
      wantsTurn: () => {
        const wanted = this.#wantsTurn;
        this.#wantsTurn = false;
        return wanted;
      },
    };
  }

  /** What calls of tools are seen through; `parentToolCallId` names the call that makes them. */
  toolHooks(parentToolCallId?: string): Pick<AgentLoopOptions, "beforeToolCall" | "afterToolCall"> {
    const runner = this.#runner;
    return {
      beforeToolCall: async (call, args) => {
        if (!runner.has("tool_call")) return undefined;
        // Handlers find the message that makes the call in the session.
        await this.#options.flushed();
        return askBeforeToolCall(runner, call, args, parentToolCallId);
      },
      afterToolCall: async (finished) => {
        const seen = runner.has("tool_result") ? await patchToolResult(runner, finished, parentToolCallId) : finished;
        return this.#withNestedUsage(seen, parentToolCallId);
      },
    };
  }

  /** What requests of a model are seen through; empty when nobody looks. */
  requestHooks(model: Model): Pick<StreamOptions, "onPayload" | "onResponse" | "onHeaders" | "onStreamEvent"> {
    const runner = this.#runner;
    const { provider, api, id } = model;
    return {
      ...(runner.has("before_provider_request") && { onPayload: (payload) => replacePayload(runner, payload) }),
      ...(runner.has("before_provider_headers") && { onHeaders: (headers) => changeHeaders(runner, headers) }),
      ...(runner.has("after_provider_response") && {
        onResponse: async ({ status, headers }) => runner.each("after_provider_response", { status, headers }),
      }),
      ...(runner.has("provider_stream_event") && {
        onStreamEvent: (data) => runner.each("provider_stream_event", { provider, api, model: id, data }),
      }),
    };
  }

  /** What was typed, after the handlers of `input`. */
  async input(input: TypedInput): Promise<TypedInput | "handled"> {
    if (!this.#runner.has("input")) return input;
    const { text, images, source, streamingBehavior } = input;
    const passed = await passInput(this.#runner, {
      text,
      source,
      ...(images?.length && { images: [...images] }),
      ...(streamingBehavior && { streamingBehavior }),
    });
    if (passed === "handled") return passed;
    return { ...input, text: passed.text, images: passed.images };
  }

  /** Before a run begins: what handlers add to its messages, and change in its prompt. */
  async beforeRun(prompts: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    this.#run = undefined;
    const first = prompts[0];
    if (!first || !this.#runner.has("before_agent_start")) return prompts;
    const { promptOptions, buildPrompt, systemPrompt, setActiveTools } = this.#options;
    const options = promptOptions();
    const before = systemPrompt();
    const toolsBefore = options.selectedTools.join();
    const event = { ...origin(first), systemPrompt: before, systemPromptOptions: options };
    const started = await startRun(this.#runner, event, buildPrompt, (text) => {
      this.#run = { text, options, isForced: true };
    });
    const isForced = started.systemPrompt !== buildPrompt(started.options);
    this.#run = { text: started.systemPrompt, options: started.options, isForced };
    if (started.systemPrompt === before) this.#run = undefined;
    if (started.options.selectedTools.join() !== toolsBefore) setActiveTools(started.options.selectedTools);
    return [...prompts, ...started.messages.flatMap((draft) => this.#asMessage(draft))];
  }

  /** When nothing is left to do: entries that handlers append; true when another request is to follow. */
  async beforeSettle(last: AgentMessage | undefined): Promise<boolean> {
    if (!last || !this.#runner.has("agent_before_settle")) return false;
    const outcome = outcomeOf(last);
    const context = [...this.#options.messages()];
    const proposal = await proposeAt(this.#runner, "agent_before_settle", {
      outcome,
      entries: [],
      continue: false,
      context,
    });
    this.#options.appendEntries(proposal.entries);
    return proposal.continue && outcome === "completed";
  }

  #asMessage(draft: CustomMessageDraft): CustomMessage[] {
    try {
      return [customMessage(draft)];
    } catch (error) {
      this.#runner.runtime.fault("<runtime>", "before_agent_start", error);
      return [];
    }
  }

  /** A tool reports its own model work; that of the tools it called, at every depth, is added here. */
  #withNestedUsage(finished: FinishedToolCall, parentToolCallId: string | undefined): FinishedToolCall {
    const { toolCall, result } = finished;
    const nested = this.#nestedUsage.get(toolCall.id);
    this.#nestedUsage.delete(toolCall.id);
    const usage = nested && result.usage ? addUsage(result.usage, nested) : (nested ?? result.usage);
    if (usage && parentToolCallId !== undefined) {
      const others = this.#nestedUsage.get(parentToolCallId);
      this.#nestedUsage.set(parentToolCallId, others ? addUsage(others, usage) : usage);
    }
    return nested ? { ...finished, result: { ...result, ...(usage && { usage }) } } : finished;
  }

  #tell<K extends ExtensionEventName>(name: K, payload: ExtensionEventMap[K]["event"]): undefined | Promise<void> {
    return this.#runner.has(name) ? this.#runner.each(name, payload) : undefined;
  }

  #endMessage(event: Extract<AgentSessionEvent, { type: "message_end" }>): undefined | Promise<void> {
    if (!this.#runner.has("message_end")) return undefined;
    const { message } = event;
    return replaceMessage(this.#runner, message).then((replacement) => {
      if (replacement === message) return;
      event.message = replacement;
      if (this.#options.isStored(message)) this.#options.replace(message, replacement);
    });
  }

  #endTurn({ message, toolResults }: Extract<AgentSessionEvent, { type: "turn_end" }>): undefined | Promise<void> {
    const turnIndex = this.#turnIndex;
    this.#turnIndex += 1;
    // Nobody waits for it here, or the line would wait for itself.
    this.#options.turnEnded().catch((error) => this.#runner.runtime.fault("<runtime>", "send_message", error));
    if (!this.#runner.has("turn_end")) return undefined;
    const { entryIdOf, messages, appendEntries } = this.#options;
    const messageEntryId = entryIdOf(message);
    return proposeAt(this.#runner, "turn_end", {
      turnIndex,
      message,
      toolResults,
      ...(messageEntryId !== undefined && { messageEntryId }),
      toolResultEntryIds: toolResults.flatMap((result) => entryIdOf(result) ?? []),
      outcome: outcomeOf(message),
      entries: [],
      continue: false,
      context: [...messages()],
    }).then((proposal) => {
      appendEntries(proposal.entries);
      this.#wantsTurn = proposal.continue;
    });
  }

  async #transform(context: Context): Promise<Context> {
    const runner = this.#runner;
    let messages = context.messages;
    if (runner.has("context")) {
      const own = structuredClone([...this.#options.messages()]);
      const transformed = await transformMessages(runner, "context", own);
      messages = transformed.map(toLlmMessage).filter((message): message is Message => message !== undefined);
    }
    if (!runner.has("context_with_system")) return { ...context, messages };
    const system = { role: "system", content: context.systemPrompt ?? "", timestamp: Date.now() };
    const all = await transformMessages<unknown>(runner, "context_with_system", structuredClone([system, ...messages]));
    const isSystem = (message: unknown): message is typeof system => (message as { role?: string }).role === "system";
    const prompts = all.filter(isSystem).map(({ content }) => content);
    return {
      ...context,
      systemPrompt: prompts.join("\n\n"),
      messages: all.filter((message) => !isSystem(message)) as Message[],
    };
  }
}

function origin(message: AgentMessage) {
  if (message.role === "custom") return { messageType: "custom" as const, message };
  const { content } = message as UserMessage;
  const images =
    typeof content === "string" ? [] : content.filter((block): block is ImageContent => block.type === "image");
  return {
    messageType: "user" as const,
    prompt: userText(message as UserMessage),
    ...(images.length > 0 && { images }),
  };
}

function outcomeOf(message: AgentMessage): "completed" | "error" | "aborted" {
  const { stopReason } = message as { stopReason?: string };
  return stopReason === "error" || stopReason === "aborted" ? stopReason : "completed";
}
