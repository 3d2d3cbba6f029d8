// The records of a run and the contracts of the loop: messages, events, tools, hooks.

import {
  AssistantMessage,
  type AssistantMessageEvent,
  type Context,
  type ImageContent,
  type Message,
  type Model,
  type StreamOptions,
  type TextContent,
  type ToolCall,
  ToolResultMessage,
  type Usage,
  UserMessage,
} from "@earendil-works/pi-ai";
import type { Static, TSchema } from "typebox";
import * as Type from "typebox";

/** Applications add roles of their own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface CustomAgentMessages {}

/** What a conversation consists of: the model's three roles and whatever an application adds. */
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];

/** The schema of the roles the loop itself knows. */
export const CoreMessage = Type.Union([UserMessage, AssistantMessage, ToolResultMessage], { title: "CoreMessage" });

/** What a tool gives back. `details` is for people and programs, never sent to the model; `usage` is nested model work. */
export interface AgentToolResult<TDetails = unknown> {
  content: (TextContent | ImageContent)[];
  details?: TDetails;
  usage?: Usage;
  /** Data for programs that call the tool; never sent to the model. */
  structuredContent?: unknown;
  /** A failure that still has details; the model sees an error. */
  isError?: boolean;
  /** Ends the run after this batch instead of asking the model again, when every result of the batch says so. */
  terminate?: boolean;
}

/** Reports progress. A returned promise resolves when the reader has caught up; a tool that produces much waits for it. */
export type AgentToolUpdate<TDetails = unknown> = (partial: AgentToolResult<TDetails>) => undefined | Promise<void>;

/**
 * A tool the loop can run. `execute` gets validated parameters; it throws to report an error to the model (a `details`
 * property of the error becomes the result's), and stops at once when `signal` aborts. A tool that ignores its signal is given up after 5 seconds.
 */
export interface AgentTool<TParameters extends TSchema = TSchema, TDetails = unknown> {
  name: string;
  /** For people; the name stands in when it is absent. */
  label?: string;
  description: string;
  parameters: TParameters;
  /** Mends arguments before they are validated (old names, stringified lists). */
  prepareArguments?: (args: unknown) => unknown;
  /** `sequential` makes the whole batch run one call after the other. Default `parallel`. */
  executionMode?: "sequential" | "parallel";
  execute(
    toolCallId: string,
    params: Static<TParameters>,
    signal: AbortSignal | undefined,
    onUpdate: AgentToolUpdate<TDetails>,
  ): Promise<AgentToolResult<TDetails>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of tools of different parameters has no narrower type
export type AnyAgentTool = AgentTool<any, any>;

/** A tool result that a run is about to record; hooks may patch it. */
export interface FinishedToolCall {
  toolCall: ToolCall;
  /** The parameters it ran with. */
  args: unknown;
  result: AgentToolResult;
  isError: boolean;
}

/**
 * What happens during a run, in order. `message_update` carries the live message so far; `parentToolCallId` names the
 * call that a nested one was made by.
 */
export type AgentEvent =
  | { type: "agent_start" }
  | { type: "agent_end"; messages: AgentMessage[] }
  | { type: "turn_start" }
  | { type: "turn_end"; message: AgentMessage; toolResults: ToolResultMessage[] }
  | { type: "message_start"; message: AgentMessage }
  | { type: "message_update"; message: AgentMessage; assistantMessageEvent: AssistantMessageEvent }
  | { type: "message_end"; message: AgentMessage }
  | { type: "tool_execution_start"; toolCallId: string; toolName: string; args: unknown; parentToolCallId?: string }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      toolName: string;
      args: unknown;
      partialResult: AgentToolResult;
      parentToolCallId?: string;
    }
  | {
      type: "tool_execution_end";
      toolCallId: string;
      toolName: string;
      result: AgentToolResult;
      isError: boolean;
      /** Milliseconds the tool ran; absent when it did not run. */
      durationMs?: number;
      parentToolCallId?: string;
    };

/**
 * Takes an event. A returned promise holds the loop until the reader has caught up. The `message` of a `message_end` may be
 * replaced by another of its role: the run goes on with that one.
 */
export type EmitAgentEvent = (event: AgentEvent) => undefined | Promise<void>;

/** How one model call is made; read anew at the start of every turn, so a change takes effect with the next request. */
export interface TurnSetup {
  model: Model;
  systemPrompt?: string;
  tools: readonly AnyAgentTool[];
  options: StreamOptions;
}

/** Where messages wait that were sent while the agent runs. `take` removes and announces what it gives back. */
export interface MessageQueue {
  isEmpty(): boolean;
  take(): Promise<AgentMessage[]>;
}

/** What may be decided about a call before it runs. `block` gives the model `reason` as an error instead. */
export interface BeforeToolCallResult {
  block?: boolean;
  reason?: string;
  terminate?: boolean;
}

/** Everything the loop needs from outside. It keeps no state of its own between runs. */
export interface AgentLoopOptions {
  setup(): TurnSetup | Promise<TurnSetup>;
  /** The model a turn would be made with, asked before `setup`: it names an answer whose setup fails or is not awaited. */
  currentModel?(): Model | undefined;
  /** The conversation so far as the model sees it, without anything it must not see. */
  modelMessages(): readonly Message[] | Promise<readonly Message[]>;
  /** Sees, and may replace, what one request is made of. */
  transformContext?(context: Context): Context | Promise<Context>;
  stream: StreamFn;
  emit: EmitAgentEvent;
  signal: AbortSignal;
  steering: MessageQueue;
  followUps: MessageQueue;
  beforeToolCall?(call: ToolCall, args: unknown, tool: AnyAgentTool): Promise<BeforeToolCallResult | undefined>;
  afterToolCall?(finished: FinishedToolCall): Promise<FinishedToolCall | undefined>;
  /** Asked after a turn that went well: `true` makes another request even when nothing else asks for one. */
  wantsTurn?(): boolean;
  /** Runs between a turn and the next request; `false` ends the run. */
  beforeNextTurn?(): Promise<boolean>;
  /** Milliseconds a tool may ignore its abort before it is given up. Default 5000. */
  abortGraceMs?: number;
}

/** Makes one model call; ends in exactly one `done` or `error` event and never throws. */
export type StreamFn = (model: Model, context: Context, options: StreamOptions) => AsyncIterable<AssistantMessageEvent>;
