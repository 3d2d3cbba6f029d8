// What extensions import as the agent loop: our agent, made and read in the form they know.

import {
  type AgentMessage,
  type AnyAgentTool,
  Agent as LoopAgent,
  type AgentOptions as LoopAgentOptions,
} from "@earendil-works/pi-agent-core";
import { clampThinkingLevel, type Model, type ThinkingLevel } from "@earendil-works/pi-ai";
import { stream } from "./ai/calls.js";

export { runAgentLoop } from "@earendil-works/pi-agent-core";

/** What an agent begins with. */
export interface AgentState {
  systemPrompt?: string;
  model?: Model;
  thinkingLevel?: ThinkingLevel;
  tools?: AnyAgentTool[];
  messages?: AgentMessage[];
}

export interface AgentOptions extends LoopAgentOptions {
  initialState?: AgentState;
  streamFn?: LoopAgentOptions["stream"];
  /** Gives the key of a provider at each call. */
  getApiKey?: (provider: string) => string | undefined | Promise<string | undefined>;
}

/** A conversation with a model that runs tools. */
export class Agent extends LoopAgent {
  #thinkingLevel: ThinkingLevel;

  constructor({ initialState = {}, streamFn, getApiKey, ...options }: AgentOptions = {}) {
    const { thinkingLevel = "off", ...state } = initialState;
    const call = streamFn ?? options.stream ?? stream;
    super({
      ...state,
      ...options,
      stream: async function* (this: void, model, context, callOptions) {
        const apiKey = await getApiKey?.(model.provider);
        const level = clampThinkingLevel(model, self().#thinkingLevel);
        yield* call(model, context, { ...callOptions, ...(apiKey && { apiKey }), thinkingLevel: level });
      },
    });
    const self = () => this;
    this.#thinkingLevel = thinkingLevel;
  }

  /** What the agent is now; assigning to its members changes the agent. */
  get state() {
    const agent = this;
    return {
      get systemPrompt() {
        return agent.systemPrompt ?? "";
      },
      set systemPrompt(text: string) {
        agent.systemPrompt = text;
      },
      get model() {
        return agent.model;
      },
      set model(model: Model | undefined) {
        agent.model = model;
      },
      get thinkingLevel() {
        return agent.#thinkingLevel;
      },
      set thinkingLevel(level: ThinkingLevel) {
        agent.#thinkingLevel = level;
      },
      get tools() {
        return agent.tools;
      },
      set tools(tools: AnyAgentTool[]) {
        agent.tools = tools;
      },
      get messages() {
        return agent.messages;
      },
      set messages(messages: AgentMessage[]) {
        agent.messages = messages;
      },
      get isStreaming() {
        return agent.isRunning;
      },
    };
  }

  /** Forgets the conversation. */
  reset(): void {
    this.messages = [];
  }
}
