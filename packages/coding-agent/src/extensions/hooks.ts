// How the answers of several handlers become one: what chains, what the first decides, and what fails closed.

import { type BeforeToolCallResult, type FinishedToolCall, isBlock } from "@earendil-works/pi-agent-core";
import type { ToolCall } from "@earendil-works/pi-ai";
import { textOf } from "../lib/error-text.js";
import type { AgentMessage, NewEntry, SystemPromptOptions } from "./event-parts.js";
import type { ExtensionEventMap } from "./events.js";
import type { CustomMessageDraft, ExtensionMode } from "./host.js";
import type { ExtensionRunner } from "./runner.js";
import { createUi, type ExtensionUI } from "./ui.js";

type Payload<K extends keyof ExtensionEventMap> = ExtensionEventMap[K]["event"];
type Result<K extends keyof ExtensionEventMap> = ExtensionEventMap[K]["result"];

/** Transformations chain; the first handler that handles the text ends the round. */
export async function passInput<Input extends Payload<"input">>(
  runner: ExtensionRunner,
  input: Input,
): Promise<Input | "handled"> {
  const event = { ...input };
  let isHandled = false;
  await runner.each("input", event, (result) => {
    if (result.action === "handled") isHandled = true;
    if (result.action === "transform") {
      if (typeof result.text === "string") event.text = result.text;
      if (Array.isArray(result.images)) event.images = result.images;
    }
    return isHandled;
  });
  const { type: _, ...rest } = event as Input & { type?: string };
  return isHandled ? "handled" : (rest as unknown as Input);
}

/** What is changed before a run: its system prompt, and messages behind its first. */
export interface RunStart {
  systemPrompt: string;
  options: SystemPromptOptions;
  messages: CustomMessageDraft[];
}

/**
 * `build` makes the prompt of changed options; a prompt that a handler gives whole takes its place. `current` is told of
 * the prompt so far, for handlers that ask the session.
 */
export async function startRun(
  runner: ExtensionRunner,
  event: Payload<"before_agent_start">,
  build: (options: SystemPromptOptions) => string,
  current: (systemPrompt: string) => void,
): Promise<RunStart> {
  const messages: CustomMessageDraft[] = [];
  let forced: string | undefined;
  let known = JSON.stringify(event.systemPromptOptions);
  const update = () => {
    const options = event.systemPromptOptions;
    const now = JSON.stringify(options);
    if (options.forceSystemPrompt !== undefined) forced = options.forceSystemPrompt;
    else if (now !== known && forced === undefined) event.systemPrompt = build(options);
    known = now;
    if (forced !== undefined) event.systemPrompt = forced;
    current(event.systemPrompt);
  };
  current(event.systemPrompt);
  await runner.each("before_agent_start", event, (result) => {
    if (typeof result.systemPrompt === "string") forced = result.systemPrompt;
    if (result.message) messages.push(result.message);
    update();
  });
  update();
  return { systemPrompt: event.systemPrompt, options: event.systemPromptOptions, messages };
}

/** The first handler that blocks ends the round; one that throws, or is interrupted, blocks as well. */
export async function askBeforeToolCall(
  runner: ExtensionRunner,
  call: ToolCall,
  input: unknown,
  parentToolCallId?: string,
): Promise<BeforeToolCallResult | undefined> {
  let verdict: BeforeToolCallResult | undefined;
  const event: Payload<"tool_call"> = {
    toolName: call.name,
    toolCallId: call.id,
    input: input as Record<string, unknown>,
    ...(parentToolCallId !== undefined && { parentToolCallId }),
  };
  await runner.each(
    "tool_call",
    event,
    ({ block, reason, terminate }, { path }) => {
      if (!block) return false;
      verdict = { block: true, reason: reason ?? `Blocked by ${path}`, ...(terminate && { terminate }) };
      return true;
    },
    (outcome) => {
      verdict = { block: true, reason: outcome.kind === "threw" ? textOf(outcome.error) : "Aborted before it ran" };
      return true;
    },
  );
  return verdict;
}

/** Patches chain. A handler that throws makes the result an error: what it meant to take out must not pass. */
export async function patchToolResult(
  runner: ExtensionRunner,
  finished: FinishedToolCall,
  parentToolCallId?: string,
): Promise<FinishedToolCall> {
  const { toolCall, args, result, isError } = finished;
  const event: Payload<"tool_result"> = {
    toolName: toolCall.name,
    toolCallId: toolCall.id,
    input: args as Record<string, unknown>,
    content: result.content,
    details: result.details,
    isError,
    ...(result.structuredContent !== undefined && { structuredContent: result.structuredContent }),
    ...(result.usage && { usage: result.usage }),
    ...(parentToolCallId !== undefined && { parentToolCallId }),
  };
  let failure: unknown;
  await runner.each(
    "tool_result",
    event,
    (patch) => {
      if (Array.isArray(patch.content)) {
        event.content = patch.content;
        // Data beside a text that was replaced may not match it any more.
        if (!("structuredContent" in patch)) delete event.structuredContent;
      }
      if ("details" in patch) event.details = patch.details;
      if (patch.structuredContent !== undefined) event.structuredContent = patch.structuredContent;
      if (typeof patch.isError === "boolean") event.isError = patch.isError;
      if (patch.usage) event.usage = patch.usage;
    },
    (outcome) => {
      if (outcome.kind === "threw") failure = outcome.error ?? new Error("A tool_result handler failed");
      return outcome.kind === "threw";
    },
  );
  if (failure !== undefined) throw failure;
  const { content, details, structuredContent, usage } = event;
  return {
    ...finished,
    isError: event.isError,
    result: {
      content,
      ...(details !== undefined && { details }),
      ...(structuredContent !== undefined && { structuredContent }),
      ...(usage && { usage }),
      ...(result.terminate !== undefined && { terminate: result.terminate }),
    },
  };
}

/** Each handler sees the list the one before gave; `messages` must be the handlers' own. */
export async function transformMessages<Message>(
  runner: ExtensionRunner,
  name: "context" | "context_with_system",
  messages: Message[],
): Promise<Message[]> {
  const event = { messages: messages as never };
  await runner.each(name, event, (result) => {
    if (!Array.isArray(result.messages)) return;
    const isMessage = (message: unknown) => typeof (message as { role?: unknown } | null)?.role === "string";
    if (!(result.messages as unknown[]).every(isMessage)) throw new Error("messages must be a list of messages");
    event.messages = result.messages as never;
  });
  return event.messages as Message[];
}

/** The message that takes its place at its end; one of another role is refused and told of. */
export async function replaceMessage(runner: ExtensionRunner, message: AgentMessage): Promise<AgentMessage> {
  const event: Payload<"message_end"> = { message };
  await runner.each("message_end", event, (result, { path }) => {
    if (!result.message) return;
    if (result.message.role === message.role) event.message = checkedMessage(message, result.message);
    else runner.runtime.fault(path, "message_end", `A message of role "${message.role}" cannot become another role`);
  });
  return event.message;
}

/** The replacement with what it leaves out of the message. Throws when it could not be shown to a model or stored. */
function checkedMessage(message: AgentMessage, replacement: AgentMessage): AgentMessage {
  const { role, content } = replacement as { role: string; content?: unknown };
  const isPart = role === "assistant" ? isAnswerPart : isBlock;
  const isText = typeof content === "string" && (role === "user" || role === "custom");
  if ("content" in message && !isText && !(Array.isArray(content) && content.every(isPart)))
    throw new Error(`The content of a message of role "${role}" cannot be that`);
  JSON.stringify(replacement);
  return { ...message, ...replacement } as AgentMessage;
}

function isAnswerPart(part: unknown): boolean {
  const { type, text, thinking, id, name, arguments: args } = (part ?? {}) as Record<string, unknown>;
  if (type === "text") return typeof text === "string";
  if (type === "thinking") return typeof thinking === "string";
  return type === "toolCall" && typeof id === "string" && typeof name === "string" && typeof args === "object";
}

/** What handlers propose at the end of a turn or a run; each sees what those before it proposed. */
export async function proposeAt<K extends "turn_end" | "agent_before_settle">(
  runner: ExtensionRunner,
  name: K,
  payload: Payload<K>,
): Promise<{ entries: NewEntry[]; continue: boolean }> {
  const event = payload as Payload<"agent_before_settle">;
  await runner.each(name, payload, (given, { path }) => {
    const result = given as Result<"agent_before_settle">;
    if (Array.isArray(result.entries)) {
      const at = result.entries.findIndex((entry) => !entryTypes.has(entry?.type));
      if (at < 0) event.entries = result.entries;
      else {
        const type = String(result.entries[at]?.type);
        runner.runtime.fault(path, name, `Entries of type "${type}" cannot be appended here`);
      }
    }
    if (typeof result.continue === "boolean") event.continue = result.continue;
  });
  return { entries: event.entries, continue: event.continue };
}

const entryTypes = new Set<string>(["custom", "custom_message", "context_edit"]);

/** Whether a handler cancels. One that throws does not; one that is interrupted does. */
export async function isCancelled(
  runner: ExtensionRunner,
  name: "session_before_switch" | "session_before_fork",
  event: Payload<"session_before_switch"> | Payload<"session_before_fork">,
): Promise<boolean> {
  let cancelled = false;
  await runner.each(
    name,
    event as never,
    (result) => {
      cancelled = (result as { cancel?: boolean }).cancel === true;
      return cancelled;
    },
    (outcome) => {
      cancelled = outcome.kind === "interrupted";
      return cancelled;
    },
  );
  return cancelled;
}

/** The first handler that cancels or brings a summary decides. */
export async function beforeCompact(
  runner: ExtensionRunner,
  event: Payload<"session_before_compact">,
): Promise<Result<"session_before_compact"> | undefined> {
  let decision: Result<"session_before_compact"> | undefined;
  await runner.each("session_before_compact", event, (result, { path }) => {
    if (result.compaction && typeof result.compaction.summary !== "string")
      runner.runtime.fault(path, "session_before_compact", "A compaction needs a summary");
    else if (result.cancel || result.compaction) decision = result;
    return decision !== undefined;
  });
  return decision;
}

/** The first cancel ends the round; options and summaries of later handlers win. */
export async function beforeTree(
  runner: ExtensionRunner,
  event: Payload<"session_before_tree">,
): Promise<Result<"session_before_tree">> {
  const decision: Result<"session_before_tree"> = {};
  await runner.each("session_before_tree", event, (result) => {
    Object.assign(decision, result);
    return result.cancel === true;
  });
  return decision;
}

/** The first valid answer decides; a handler that throws blocks the command. */
export async function askUserBash(
  runner: ExtensionRunner,
  event: Payload<"user_bash">,
): Promise<Result<"user_bash"> | undefined> {
  let decision: Result<"user_bash"> | undefined;
  let failure: unknown;
  await runner.each(
    "user_bash",
    event,
    (result) => {
      const isValid = typeof result.result?.output === "string" || typeof result.operations?.exec === "function";
      if (isValid) decision = result;
      return isValid;
    },
    (outcome) => {
      failure = outcome.kind === "threw" ? outcome.error : new Error("Cancelled");
      return true;
    },
  );
  if (failure !== undefined) throw failure;
  return decision;
}

/** Any answer takes the payload's place. */
export async function replacePayload(runner: ExtensionRunner, payload: unknown): Promise<unknown> {
  const event = { payload };
  await runner.each("before_provider_request", event, (result) => {
    event.payload = result;
  });
  return event.payload;
}

/** Headers as handlers left them, those that were set to null taken out. */
export async function changeHeaders(
  runner: ExtensionRunner,
  headers: Record<string, string>,
): Promise<Record<string, string>> {
  const event: Payload<"before_provider_headers"> = { headers: { ...headers } };
  await runner.each("before_provider_headers", event);
  const kept = Object.entries(event.headers).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept) as Record<string, string>;
}

/** Paths that extensions add to what a directory brings. */
export async function discoverPaths(
  runner: ExtensionRunner,
  event: Payload<"resources_discover">,
): Promise<{ path: string; kind: "skill" | "prompt"; extensionPath: string }[]> {
  const found: { path: string; kind: "skill" | "prompt"; extensionPath: string }[] = [];
  await runner.each("resources_discover", event, ({ skillPaths, promptPaths }, { path: extensionPath }) => {
    for (const path of textsIn("skillPaths", skillPaths)) found.push({ path, kind: "skill", extensionPath });
    for (const path of textsIn("promptPaths", promptPaths)) found.push({ path, kind: "prompt", extensionPath });
  });
  return found;
}

/** The first yes or no decides. There is no session yet: the context has no more than the directory and the dialogs. */
export async function decideTrust(
  runner: ExtensionRunner,
  { cwd, mode, ui }: { cwd: string; mode: ExtensionMode; ui: ExtensionUI | undefined },
): Promise<Result<"project_trust"> | undefined> {
  const { select, confirm, input, notify } = ui ?? createUi(undefined, { theme: () => undefined });
  const context = { cwd, mode, hasUI: ui !== undefined, ui: { select, confirm, input, notify } };
  let decision: Result<"project_trust"> | undefined;
  const take = (result: Result<"project_trust">) => {
    if (result.trusted === "yes" || result.trusted === "no") decision = result;
    return decision !== undefined;
  };
  await runner.each("project_trust", { cwd }, take, undefined, context);
  return decision;
}

/** Throws for what is no list of texts. */
function textsIn(name: string, given: unknown): string[] {
  if (given === undefined || given === null) return [];
  if (Array.isArray(given) && given.every((item) => typeof item === "string")) return given;
  throw new Error(`${name} must be a list of paths`);
}
