// What a session is made of.

import type { AnyAgentTool } from "@earendil-works/pi-agent-core";
import type { Model, StreamOptions, stream, ThinkingLevel } from "@earendil-works/pi-ai";
import type { QueueMode } from "../modes/rpc/rpc-types.js";
import type { SessionManager } from "../sessions/session-manager.js";
import type { InputStageOptions } from "./input.js";
import type { ScopedModel } from "./models.js";
import type { RecoverySettings } from "./recovery.js";
import type { SessionExtensions } from "./session-extensions.js";

/** What the session needs to know of models: an interface so that tests need no files. */
export interface ModelSource {
  find(provider: string, id: string): Model | undefined;
  getAvailable(): readonly Model[];
  hasCredentials(model: Model): boolean;
  /** Key, headers and variables of a request; may run a command. Rejects with a text that says what is missing. */
  resolveRequest(model: Model): Promise<Pick<StreamOptions, "apiKey" | "headers" | "env">>;
  /** Asks servers that alone know their models, all or one provider's. Never rejects. Absent: there are none. */
  discover?(provider?: string): Promise<void>;
}

export interface AgentSessionOptions {
  store: SessionManager;
  /** Where commands work. Default: the store's directory. */
  cwd?: string | undefined;
  models: ModelSource;
  model: Model | null;
  thinkingLevel: ThinkingLevel;
  scopedModels: readonly ScopedModel[];
  /** Tools offered to the model, in order; read for every request. */
  tools: readonly AnyAgentTool[];
  /** Read for every request. */
  systemPrompt: string;
  /** Extensions that take part, and what the prompt is made of that they may change. */
  extensions?: SessionExtensions | undefined;
  /** Skills and templates in a text; absent without them. */
  expand?: ((text: string) => string | Promise<string>) | undefined;
  queueModes: Record<"steering" | "followUp", QueueMode>;
  images: Pick<InputStageOptions, "prepareImage" | "maxImages">;
  shell: { shellPath?: string | undefined; commandPrefix?: string | undefined };
  /** Environment of shell commands; session variables are added. */
  environment: () => Record<string, string | undefined>;
  /** Retry and compaction. */
  recovery: RecoverySettings;
  /** Resolves after so many milliseconds, or rejects when the signal aborts; replaced in tests. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** What every model call gets beside key, level and abort signal. */
  streamOptions: StreamOptions;
  /** The model as requests see it; absent: as it is. */
  modelForRequests?: (model: Model) => Model;
  /** Told of a bug that broke a run; the process goes on. */
  fault: (error: unknown) => void;
  /** The model call; replaced in tests. */
  stream?: typeof stream;
}
