import type { AssistantMessage, AssistantMessageEvent, Message } from "@earendil-works/pi-ai";
import { emptyUsage } from "@earendil-works/pi-ai";
import { fail, hold, scriptedModel, stop, text, thinking, toolCall, usage } from "@earendil-works/pi-ai/testing";
import { Type } from "typebox";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AgentEvent, StreamFn } from "../src/types.js";
import { RecordedLoop, textOf, tool, user } from "./recorded-loop.js";

// Time stands still, so that whole records can be compared.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance"], now: 1000 }));
afterEach(() => void vi.useRealTimers());

function model() {
  const scripted = scriptedModel();
  onTestFinished(() => scripted.dispose());
  return scripted;
}

const origin = (scripted: ReturnType<typeof model>) => ({
  role: "assistant" as const,
  api: scripted.model.api,
  provider: "scripted",
  model: "scripted",
  timestamp: 1000,
});

const empty = emptyUsage();
const oneToken = { ...empty, output: 1, totalTokens: 1 };
const update = (assistantMessageEvent: object) => ({ type: "message_update", assistantMessageEvent });
const textBlock = (content: string) => ({ type: "text" as const, text: content });

describe("runAgentLoop", () => {
  test("announces a plain run in order, every record whole", async () => {
    const scripted = model().reply(thinking("Hm", "sig"), text("Hello", 2), usage({ input: 3, output: 2 }));
    const loop = new RecordedLoop(scripted);
    const made = await loop.run();
    const counted = { ...empty, input: 3, output: 2, totalTokens: 5 };
    const prompt = { role: "user", content: [textBlock("hi")], timestamp: 0 };
    const answer = {
      ...origin(scripted),
      content: [{ type: "thinking", thinking: "Hm", thinkingSignature: "sig" }, textBlock("Hello")],
      usage: counted,
      stopReason: "stop",
      durationMs: 0,
    };
    expect(loop.events).toEqual([
      { type: "agent_start" },
      { type: "turn_start" },
      { type: "message_start", message: prompt },
      { type: "message_end", message: prompt },
      {
        type: "message_start",
        message: { ...origin(scripted), content: [], usage: empty, stopReason: "pending" },
      },
      update({ type: "thinking_start", contentIndex: 0 }),
      update({ type: "thinking_delta", contentIndex: 0, delta: "Hm" }),
      update({ type: "thinking_end", contentIndex: 0, content: "Hm" }),
      update({ type: "text_start", contentIndex: 1 }),
      update({ type: "text_delta", contentIndex: 1, delta: "Hel" }),
      update({ type: "text_delta", contentIndex: 1, delta: "lo" }),
      update({ type: "text_end", contentIndex: 1, content: "Hello" }),
      { type: "message_end", message: answer },
      { type: "turn_end", message: answer, toolResults: [] },
      { type: "agent_end", messages: [prompt, answer] },
    ]);
    expect(made).toEqual([prompt, answer]);
  });

  test("runs tools in parallel: starts in call order, ends as they come, results in call order", async () => {
    const scripted = model()
      .reply(toolCall("slow", {}, "a"), toolCall("fast", { n: 1 }, "b"))
      .reply("Done");
    const fastDone = hold();
    const loop = new RecordedLoop(scripted, [
      tool("slow", async () => {
        await fastDone.wait();
        return "slow result";
      }),
      tool("fast", () => "fast result"),
    ]);
    const run = loop.run();
    await loop.at((event) => event.type === "tool_execution_end" && event.toolCallId === "b");
    fastDone.release();
    await run;
    expect(loop.outline).toEqual([
      "agent_start",
      "turn_start",
      "message_start user hi",
      "message_end user hi",
      "message_start assistant",
      "message_end assistant slow()fast()",
      "tool_start a",
      "tool_start b",
      "tool_end b",
      "tool_end a",
      "message_start toolResult slow result",
      "message_end toolResult slow result",
      "message_start toolResult fast result",
      "message_end toolResult fast result",
      "turn_end 2",
      "turn_start",
      "message_start assistant",
      "message_end assistant Done",
      "turn_end 0",
      "agent_end",
    ]);
    const result = {
      role: "toolResult",
      toolCallId: "b",
      toolName: "fast",
      content: [textBlock("fast result")],
      isError: false,
      timestamp: 1000,
    };
    expect(loop.events.filter((event) => "toolCallId" in event && event.toolCallId === "b")).toEqual([
      { type: "tool_execution_start", toolCallId: "b", toolName: "fast", args: { n: 1 } },
      {
        type: "tool_execution_end",
        toolCallId: "b",
        toolName: "fast",
        result: { content: [textBlock("fast result")] },
        isError: false,
        durationMs: 0,
      },
    ]);
    expect(loop.messages[3]).toEqual(result);
    expect(loop.requests).toEqual([["hi"], ["hi", "slow()fast()", "slow result", "fast result"]]);
  });

  test("goes on turn by turn until no call is left, and declares the tools each time", async () => {
    const scripted = model().reply(toolCall("count", {})).reply("So far", toolCall("count", {})).reply("Two");
    let count = 0;
    const counter = tool("count", () => String(++count));
    const loop = new RecordedLoop(scripted, [counter]);
    const made = await loop.run();
    expect(made.map(textOf)).toEqual(["hi", "count()", "1", "So farcount()", "2", "Two"]);
    const { name, description, parameters } = counter;
    expect(scripted.requests.map(({ context }) => context.tools)).toEqual(
      Array(3).fill([{ name, description, parameters }]),
    );
  });

  test("reads the setup anew each turn", async () => {
    const first = model().reply(toolCall("swap", {}));
    const second = model().reply("From the second");
    let current = first;
    const swap = tool("swap", () => {
      current = second;
      return "swapped";
    });
    const loop = new RecordedLoop(first, [], {
      setup: () => ({ model: current.model, tools: [swap], systemPrompt: "Be brief", options: { maxTokens: 7 } }),
    });
    await loop.run();
    const request = second.requests[0]!;
    expect(request.context.systemPrompt).toBe("Be brief");
    expect(request.options.maxTokens).toBe(7);
    expect(request.context.messages.map(textOf)).toEqual(["hi", "swap()", "swapped"]);
  });

  test("goes on from the conversation without a prompt", async () => {
    const scripted = model().reply("Again");
    const loop = new RecordedLoop(scripted);
    loop.messages.push({ role: "user", content: "earlier", timestamp: 0 });
    loop.steering.add("kept");
    const made = await loop.run([]);
    // Steering goes out behind a prompt, and here is none: it waits for the answer.
    expect(loop.requests[0]).toEqual(["earlier"]);
    expect(made.map(textOf)[0]).toBe("Again");
  });

  test("ends with a failed answer, keeping what came of it", async () => {
    const scripted = model().reply("Half", usage({ output: 1 }), fail("overloaded", "Overloaded", { status: 529 }));
    const loop = new RecordedLoop(scripted);
    loop.followUps.add("later");
    const made = await loop.run();
    const failed = {
      ...origin(scripted),
      content: [textBlock("Half")],
      usage: oneToken,
      stopReason: "error",
      errorMessage: "Overloaded",
      error: { kind: "overloaded", status: 529 },
      durationMs: 0,
    };
    expect(made.at(-1)).toEqual(failed);
    expect(loop.events.slice(-3)).toEqual([
      { type: "message_end", message: failed },
      { type: "turn_end", message: failed, toolResults: [] },
      { type: "agent_end", messages: made },
    ]);
    expect(loop.followUps.waiting).toHaveLength(1);
  });

  test("runs no call of a failed answer", async () => {
    const ran = vi.fn(() => "ran");
    const scripted = model().reply(toolCall("act", {}), fail("transport"));
    const loop = new RecordedLoop(scripted, [tool("act", ran)]);
    await loop.run();
    expect(ran).not.toHaveBeenCalled();
    expect(loop.outline.slice(-3)).toEqual(["message_end assistant act()", "turn_end 0", "agent_end"]);
  });

  test("runs no call of an answer that the output limit cut off, and asks on", async () => {
    const ran = vi.fn(() => "ran");
    const scripted = model()
      .reply(toolCall("act", {}, "a"), toolCall("act", {}, "b"), stop("length"))
      .reply("Shorter");
    const loop = new RecordedLoop(scripted, [tool("act", ran)]);
    const made = await loop.run();
    expect(ran).not.toHaveBeenCalled();
    expect(loop.outline.slice(5, 14)).toEqual([
      "message_end assistant act()act()",
      "tool_start a",
      "tool_start b",
      "tool_end a error",
      "tool_end b error",
      "message_start toolResult The answer was cut off by the output limit, so this call was not run",
      "message_end toolResult The answer was cut off by the output limit, so this call was not run",
      "message_start toolResult The answer was cut off by the output limit, so this call was not run",
      "message_end toolResult The answer was cut off by the output limit, so this call was not run",
    ]);
    expect(made.map(textOf).at(-1)).toBe("Shorter");
  });

  test("ends the run when every tool of the batch asks for it, without asking the model again", async () => {
    const ending = { execute: async () => ({ content: [textBlock("bye")], terminate: true }) };
    const tools = [tool("finish", () => "", ending), tool("other", () => "still run")];
    const scripted = model().reply(toolCall("finish", {}), toolCall("finish", {}));
    const made = await new RecordedLoop(scripted, tools).run();
    expect(made.map(textOf)).toEqual(["hi", "finish()finish()", "bye", "bye"]);
    expect(scripted.requests).toHaveLength(1);

    const mixed = model().reply(toolCall("finish", {}), toolCall("other", {})).reply("On");
    await new RecordedLoop(mixed, tools).run();
    expect(mixed.requests).toHaveLength(2);
  });

  test("a turn that is wanted is made once more with the context as it is", async () => {
    let wanted = 1;
    const scripted = model().reply("One").reply("Two");
    const loop = new RecordedLoop(scripted, [], { wantsTurn: () => wanted-- > 0 });
    expect((await loop.run()).map(textOf)).toEqual(["hi", "One", "Two"]);
  });

  test("the run goes on with the message that took another's place at its end", async () => {
    const scripted = model().reply(toolCall("act", {})).reply("unused");
    const loop = new RecordedLoop(scripted, [tool("act", () => "acted")]);
    loop.replace = (message) => (message.role === "assistant" ? { ...message, content: [textBlock("No")] } : message);
    const made = await loop.run();
    expect(made.map(textOf)).toEqual(["hi", "No"]);
    expect(scripted.requests).toHaveLength(1);
  });

  test("a request is made of what the transformation gives", async () => {
    const scripted = model().reply("One");
    const loop = new RecordedLoop(scripted, [], {
      transformContext: (context) => ({ ...context, systemPrompt: "Changed", messages: [] }),
    });
    await loop.run();
    expect(scripted.requests[0]?.context).toMatchObject({ systemPrompt: "Changed", messages: [] });
  });

  test("stops between turns when it is told to", async () => {
    const scripted = model().reply(toolCall("act", {}));
    const beforeNextTurn = vi.fn(async () => false);
    const loop = new RecordedLoop(scripted, [tool("act", () => "acted")], { beforeNextTurn });
    await loop.run();
    expect(loop.outline.slice(-2)).toEqual(["turn_end 1", "agent_end"]);
    expect(beforeNextTurn).toHaveBeenCalledTimes(1);
  });
});

describe("queues of the loop", () => {
  test("kept steering goes out behind the prompt, follow-ups after its answer", async () => {
    const scripted = model().reply("One").reply("Two");
    const loop = new RecordedLoop(scripted);
    loop.steering.add("s1");
    loop.followUps.add("f1");
    await loop.run();
    expect(loop.requests).toEqual([
      ["hi", "s1"],
      ["hi", "s1", "One", "f1"],
    ]);
    expect(loop.outline.slice(8, 12)).toEqual([
      "turn_end 0",
      "turn_start",
      "message_start user f1",
      "message_end user f1",
    ]);
  });

  test("steering during tools is delivered before the next request, follow-ups when nothing is left", async () => {
    const scripted = model().reply(toolCall("act", {})).reply("One").reply("Two").reply("Three");
    const loop: RecordedLoop = new RecordedLoop(scripted, [
      tool("act", () => {
        loop.followUps.add("f1");
        loop.steering.add("s1", "s2");
        return "acted";
      }),
    ]);
    await loop.run();
    expect(loop.requests.slice(1)).toEqual([
      ["hi", "act()", "acted", "s1"],
      ["hi", "act()", "acted", "s1", "One", "s2"],
      ["hi", "act()", "acted", "s1", "One", "s2", "Two", "f1"],
    ]);
  });

  test("a whole queue is delivered at once when it gives all", async () => {
    const scripted = model().reply("One").reply("Two");
    const loop = new RecordedLoop(scripted);
    loop.followUps.mode = "all";
    loop.followUps.add("f1", "f2");
    await loop.run();
    expect(loop.requests[1]).toEqual(["hi", "One", "f1", "f2"]);
  });

  test("a queue can start the run", async () => {
    const scripted = model().reply("One");
    const loop = new RecordedLoop(scripted);
    await loop.run(loop.steering.add("s1"));
    expect(loop.outline.slice(0, 4)).toEqual([
      "agent_start",
      "turn_start",
      "message_start user s1",
      "message_end user s1",
    ]);
    expect(loop.requests).toEqual([["s1"]]);
  });

  test("steering ends a run of tools that asked to terminate no less", async () => {
    const scripted = model().reply(toolCall("finish", {})).reply("Go on");
    const loop: RecordedLoop = new RecordedLoop(scripted, [
      tool("finish", () => "", {
        execute: async () => {
          loop.steering.add("wait");
          return { content: [textBlock("bye")], terminate: true };
        },
      }),
    ]);
    await loop.run();
    expect(loop.requests[1]).toEqual(["hi", "finish()", "bye", "wait"]);
  });

  test("a queue cleared between turns makes no request without a message", async () => {
    const scripted = model().reply("One").reply("Never asked for");
    const loop: RecordedLoop = new RecordedLoop(scripted, [], {
      beforeNextTurn: async () => {
        loop.followUps.waiting = [];
        return true;
      },
    });
    loop.followUps.add("f1");
    await loop.run();
    expect(loop.outline.slice(-2)).toEqual(["turn_end 0", "agent_end"]);
    expect(scripted.requests).toHaveLength(1);
  });

  test("a queue cleared while a slow reader takes turn_start is too late: the message is on its way", async () => {
    const scripted = model().reply("One").reply("Two");
    const reader = hold();
    let turns = 0;
    const loop: RecordedLoop = new RecordedLoop(scripted, [], {
      emit: (event) => {
        if (event.type === "message_end") loop.messages.push(event.message as Message);
        return event.type === "turn_start" && ++turns === 2 ? reader.wait().then(() => {}) : undefined;
      },
    });
    loop.followUps.add("f1");
    const run = loop.run();
    await reader.reached;
    loop.followUps.waiting = [];
    reader.release();
    await run;
    expect(loop.requests).toEqual([["hi"], ["hi", "One", "f1"]]);
  });
});

describe("abort of the loop", () => {
  const aborted = { stopReason: "aborted", errorMessage: "Request was aborted", error: { kind: "aborted" } };

  test("before the first token", async () => {
    const pause = hold();
    const scripted = model().reply(pause, "Never");
    const loop = new RecordedLoop(scripted);
    loop.steering.add("kept");
    loop.steering.waiting = [];
    const run = loop.run();
    await pause.reached;
    loop.followUps.add("kept");
    loop.abort.abort();
    const made = await run;
    expect(made.at(-1)).toEqual({ ...origin(scripted), content: [], usage: empty, durationMs: 0, ...aborted });
    expect(loop.outline.slice(4)).toEqual([
      "message_start assistant",
      "message_end assistant",
      "turn_end 0",
      "agent_end",
    ]);
    expect(loop.followUps.waiting).toHaveLength(1);
  });

  test("before anything: the prompt is in the conversation, and its answer is aborted", async () => {
    const scripted = model();
    const loop = new RecordedLoop(scripted);
    loop.abort.abort();
    const made = await loop.run();
    expect(made.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(made.at(-1)).toMatchObject(aborted);
    expect(scripted.requests).toHaveLength(0);
  });

  test("before or during the setup: the answer names the model it was to come from", async () => {
    for (const isBefore of [true, false]) {
      const scripted = model();
      const loop = new RecordedLoop(scripted, [], {
        currentModel: () => scripted.model,
        setup: () => {
          loop.abort.abort();
          return new Promise(() => undefined);
        },
      });
      if (isBefore) loop.abort.abort();
      const { api, provider, id } = scripted.model;
      expect((await loop.run()).at(-1)).toMatchObject({ api, provider, model: id, ...aborted });
      expect(loop.events).toContainEqual({
        type: "message_start",
        message: expect.objectContaining({ role: "assistant", api, provider, model: id }),
      });
    }
  });

  test("in mid-stream, keeping the text so far", async () => {
    const pause = hold();
    const scripted = model().reply("So ", usage({ output: 1 }), pause, "far");
    const loop = new RecordedLoop(scripted);
    const run = loop.run();
    await pause.reached;
    loop.abort.abort();
    const made = await run;
    expect(made.at(-1)).toEqual({
      ...origin(scripted),
      content: [textBlock("So ")],
      usage: oneToken,
      durationMs: 0,
      ...aborted,
    });
  });

  test("in a tool that stops at its signal", async () => {
    const pause = hold();
    const scripted = model()
      .reply(toolCall("wait", {}, "a"))
      .reply("Never");
    const loop = new RecordedLoop(scripted, [
      tool("wait", async (_, signal) => {
        if (!(await pause.wait(signal))) throw new Error("Stopped");
        return "";
      }),
    ]);
    const run = loop.run();
    await pause.reached;
    loop.abort.abort();
    await run;
    expect(loop.outline.slice(6)).toEqual([
      "tool_start a",
      "tool_end a error",
      "message_start toolResult Stopped",
      "message_end toolResult Stopped",
      "turn_end 1",
      "agent_end",
    ]);
    expect(scripted.requests).toHaveLength(1);
  });

  test("while two run and a third has not started: each has its end and its result", async () => {
    const pause = hold();
    const decision = hold();
    const calls = ["a", "b", "c"].map((id) => toolCall("wait", { id }, id));
    const ran: unknown[] = [];
    const loop = new RecordedLoop(
      model().reply(...calls),
      [
        tool(
          "wait",
          async ({ id }, signal) => {
            ran.push(id);
            if (!(await pause.wait(signal))) throw new Error("Stopped");
            return "";
          },
          { parameters: Type.Object({ id: Type.String() }) },
        ),
      ],
      {
        beforeToolCall: async ({ id }) => {
          if (id === "c") await decision.wait();
          return undefined;
        },
      },
    );
    const run = loop.run();
    await decision.reached;
    loop.abort.abort();
    decision.release();
    const made = await run;
    expect(loop.outline.filter((line) => line.startsWith("tool_"))).toEqual([
      "tool_start a",
      "tool_start b",
      "tool_start c",
      "tool_end a error",
      "tool_end b error",
      "tool_end c error",
    ]);
    expect(made.slice(2).map(textOf)).toEqual(Array(3).fill("Aborted before it ran"));
    expect(ran).toEqual([]);
  });

  test("a tool that ignores its abort is given up after its grace, and not heard any more", async () => {
    const never = hold();
    const report: { update?: () => undefined | Promise<void> } = {};
    const loop = new RecordedLoop(
      model().reply(toolCall("deaf", {}, "a")),
      [
        tool("deaf", () => "", {
          execute: async (_, __, ___, onUpdate) => {
            report.update = () => onUpdate({ content: [textBlock("late")] });
            await never.wait();
            throw new Error("Nobody hears this");
          },
        }),
      ],
      { abortGraceMs: 1 },
    );
    const run = loop.run();
    await never.reached;
    loop.abort.abort();
    await run;
    report.update?.();
    never.release();
    expect(loop.outline.slice(6)).toEqual([
      "tool_start a",
      "tool_end a error",
      "message_start toolResult Aborted (the tool did not stop in time)",
      "message_end toolResult Aborted (the tool did not stop in time)",
      "turn_end 1",
      "agent_end",
    ]);
  });

  test("between turns", async () => {
    const scripted = model().reply(toolCall("act", {})).reply("Never");
    const loop: RecordedLoop = new RecordedLoop(scripted, [tool("act", () => "acted")], {
      beforeNextTurn: async () => {
        loop.abort.abort();
        return true;
      },
    });
    await loop.run();
    expect(loop.outline.slice(-2)).toEqual(["turn_end 1", "agent_end"]);
  });
});

describe("a stream function that breaks its promise", () => {
  const partial = (loop: RecordedLoop): AssistantMessage => ({
    ...origin(loop.scripted),
    content: [textBlock("So far")],
    usage: empty,
    stopReason: "pending",
  });

  async function* said(loop: RecordedLoop): AsyncGenerator<AssistantMessageEvent> {
    yield { type: "text_start", contentIndex: 0, partial: partial(loop) };
  }

  const failure = (loop: RecordedLoop, errorMessage: string, content: AssistantMessage["content"] = []) => ({
    ...origin(loop.scripted),
    content,
    usage: empty,
    stopReason: "error",
    errorMessage,
    error: { kind: "other" },
  });

  test.each<[string, (loop: RecordedLoop) => StreamFn, string, AssistantMessage["content"]]>([
    [
      "throws at once",
      () => () => {
        throw new Error("Broken");
      },
      "Broken",
      [],
    ],
    [
      "throws after a delta",
      (loop) =>
        async function* () {
          yield* said(loop);
          throw "Broken";
        },
      "Broken",
      [textBlock("So far")],
    ],
    [
      "ends without a result",
      (loop) => () => said(loop),
      "The model's stream ended without a result",
      [textBlock("So far")],
    ],
    ["sends nothing", () => async function* () {}, "The model's stream ended without a result", []],
  ])("%s: the answer ends in an error, with what was sent", async (_, streamOf, errorMessage, content) => {
    const options: { stream?: StreamFn } = {};
    const loop = new RecordedLoop(model(), [], options);
    options.stream = streamOf(loop);
    const made = await loop.run();
    expect(made.at(-1)).toEqual(failure(loop, errorMessage, content));
    expect(loop.outline.slice(4).map((line) => line.split(" ")[0])).toEqual([
      "message_start",
      "message_end",
      "turn_end",
      "agent_end",
    ]);
  });

  test("throws because of an abort: the answer is aborted", async () => {
    const options: { stream?: StreamFn } = {};
    const loop = new RecordedLoop(model(), [], options);
    options.stream = () => {
      loop.abort.abort();
      throw new Error("AbortError");
    };
    const made = await loop.run();
    expect(made.at(-1)).toEqual({
      ...failure(loop, "AbortError"),
      stopReason: "aborted",
      error: { kind: "aborted" },
    });
  });

  test("a setup that fails ends the answer in an error too", async () => {
    const loop = new RecordedLoop(model(), [], {
      setup: () => Promise.reject(new Error("No key")),
    });
    const made = await loop.run();
    expect(made.at(-1)).toEqual({
      ...failure(loop, "No key"),
      api: "unknown",
      provider: "unknown",
      model: "unknown",
    });
  });
});

describe("back-pressure of the loop", () => {
  test("a reader that is behind holds the loop, and nothing is pulled meanwhile", async () => {
    const scripted = model();
    const pulled: number[] = [];
    const gate = hold();
    const seen: string[] = [];
    const loop = new RecordedLoop(scripted, [], {
      stream: async function* () {
        const message: AssistantMessage = { ...origin(scripted), content: [], usage: empty, stopReason: "stop" };
        for (const at of [0, 1, 2]) {
          pulled.push(at);
          yield { type: "text_delta", contentIndex: 0, delta: String(at), partial: message };
        }
        yield { type: "done", reason: "stop", message };
      },
      emit: (event: AgentEvent) => {
        seen.push(event.type);
        if (event.type !== "message_update" || event.assistantMessageEvent.type !== "text_delta") return undefined;
        return event.assistantMessageEvent.delta === "1" ? gate.wait().then(() => {}) : undefined;
      },
    });
    const run = loop.run([user("hi")]);
    await gate.reached;
    await new Promise((resolve) => setImmediate(resolve));
    expect(pulled).toEqual([0, 1]);
    expect(seen.at(-1)).toBe("message_update");
    gate.release();
    await run;
    expect(pulled).toEqual([0, 1, 2]);
  });
});
