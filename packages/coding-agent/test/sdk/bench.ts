// A user's directories with a scripted model, and sessions made there as a program makes them.

import { type ScriptedModel, scriptedModel } from "@earendil-works/pi-ai/testing";
import { onTestFinished } from "vitest";
import { type CreateAgentSessionOptions, createAgentSession } from "../../src/sdk/create-agent-session.js";
import { ModelRuntime } from "../../src/sdk/model-runtime.js";
import { DefaultResourceLoader, type DefaultResourceLoaderOptions } from "../../src/sdk/resource-loader.js";
import { SessionManager } from "../../src/sessions/session-manager.js";
import { modelsFile } from "../helpers/models.js";
import { type Workspace, workspace } from "../helpers/workspace.js";

export interface SdkBench {
  place: Workspace;
  scripted: ScriptedModel;
  modelRuntime: ModelRuntime;
  /** Made and reloaded. */
  loader(options?: DefaultResourceLoaderOptions): Promise<DefaultResourceLoader>;
  /** In memory; disposed of when the test ends. */
  session(options?: CreateAgentSessionOptions): ReturnType<typeof createAgentSession>;
}

/** `files` lie below the workspace's root: `project/…`, `agent/…`. */
export function sdkBench(files: Record<string, unknown> = {}): SdkBench {
  const scripted = scriptedModel();
  onTestFinished(() => scripted.dispose());
  const place = workspace({ "agent/models.json": modelsFile(scripted.model.api, "http://127.0.0.1:1"), ...files });
  const { cwd, agentDir } = place;
  const modelRuntime = ModelRuntime.load({ agentDir, env: {} });
  return {
    place,
    scripted,
    modelRuntime,
    loader: async (options) => {
      const loader = new DefaultResourceLoader({ cwd, agentDir, ...options });
      await loader.reload();
      return loader;
    },
    session: async (options) => {
      const made = await createAgentSession({
        cwd,
        agentDir,
        modelRuntime,
        sessionManager: SessionManager.inMemory(cwd),
        ...options,
      });
      onTestFinished(() => made.session.dispose());
      return made;
    },
  };
}
