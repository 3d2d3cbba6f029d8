// A list the model keeps with a tool and the user sees with `/todos` (in RPC mode only). The state is in the session, in the details of the
// tool's results: whatever branch is active has its own list, so a fork, a move in the tree and a resumed session find it.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

interface Todo {
  text: string;
  done: boolean;
}

export default function todo(pi: ExtensionAPI): void {
  let todos: Todo[] = [];
  const read = (ctx: ExtensionContext) => {
    todos = [];
    for (const entry of ctx.sessionManager.getBranch()) {
      const message = entry.type === "message" ? entry.message : undefined;
      if (message?.role !== "toolResult" || message.toolName !== "todo" || message.isError) continue;
      todos = (message.details as { todos: Todo[] }).todos;
    }
  };
  pi.on("session_start", (_event, ctx) => read(ctx));
  pi.on("session_tree", (_event, ctx) => read(ctx));
  pi.registerTool({
    name: "todo",
    label: "Todo",
    description: "Keep a list of what is to do: add an item, or mark one as done by its number.",
    parameters: Type.Object({
      add: Type.Optional(Type.String({ description: "Text of a new item" })),
      done: Type.Optional(Type.Number({ description: "Number of the item that is done" })),
    }),
    execute: async (_toolCallId, { add, done }: { add?: string; done?: number }) => {
      // A new list: results that were given out keep theirs.
      const next = todos.map((item, index) => (index + 1 === done ? { ...item, done: true } : item));
      if (done !== undefined && !todos[done - 1]) throw new Error(`There is no item ${done}`);
      if (add !== undefined) next.push({ text: add, done: false });
      todos = next;
      return { content: [{ type: "text", text: listOf(todos) }], details: { todos } };
    },
  });
  pi.registerCommand("todos", {
    description: "Show the list",
    handler: (_args, ctx) => ctx.ui.notify(listOf(todos)),
  });
}

function listOf(todos: readonly Todo[]): string {
  if (todos.length === 0) return "Nothing to do";
  return todos.map(({ text, done }, index) => `${index + 1}. [${done ? "x" : " "}] ${text}`).join("\n");
}
