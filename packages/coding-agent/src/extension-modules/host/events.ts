// Small helps for writing extensions: telling events apart, declaring tools, a bus of one's own.

interface ToolEvent {
  toolName: string;
}

/** Whether a `tool_call` event is of the tool, so that its input has that tool's parameters. */
export function isToolCallEventType(toolName: string, event: ToolEvent): boolean {
  return event.toolName === toolName;
}

const isResultOf = (toolName: string) => (event: ToolEvent) => event.toolName === toolName;

export const isBashToolResult = isResultOf("bash");
export const isPowerShellToolResult = isResultOf("powershell");
export const isReadToolResult = isResultOf("read");
export const isEditToolResult = isResultOf("edit");
export const isWriteToolResult = isResultOf("write");
export const isGrepToolResult = isResultOf("grep");
export const isFindToolResult = isResultOf("find");
export const isLsToolResult = isResultOf("ls");

/** The definition as it is; it gives the parameters of `execute` their types. */
export function defineTool<T>(definition: T): T {
  return definition;
}

/** Where something comes from that no file brought. */
export function createSyntheticSourceInfo(path: string, from: { source: string; scope?: string; origin?: string }) {
  return { path, scope: "temporary", origin: "top-level", ...from };
}

export interface EventBus {
  emit(name: string, data?: unknown): void;
  /** Returns the function that takes the listener back. */
  on(name: string, listener: (data: unknown) => unknown): () => void;
  clear(): void;
}

/** A bus for events between extensions. A listener that fails keeps no other from hearing. */
export function createEventBus(onError: (error: unknown) => void = () => {}): EventBus {
  const listeners = new Map<string, Set<(data: unknown) => unknown>>();
  const call = async (listener: (data: unknown) => unknown, data: unknown) => listener(data);
  return {
    emit(name, data) {
      for (const listener of [...(listeners.get(name) ?? [])]) call(listener, data).catch(onError);
    },
    on(name, listener) {
      const of = listeners.get(name) ?? new Set();
      listeners.set(name, of.add(listener));
      return () => void of.delete(listener);
    },
    clear: () => listeners.clear(),
  };
}
