import { hold } from "@earendil-works/pi-ai/testing";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CommandError } from "../../src/core/errors.js";
import { InputStage, type InputStageOptions, type InputTransform, type TypedInput } from "../../src/core/input.js";
import { textOf } from "./messages.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 1000 }));
afterEach(() => void vi.useRealTimers());

const typed = (text: string, facts: Partial<TypedInput> = {}): TypedInput => ({ text, source: "rpc", ...facts });
const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" });
const cancelled = new CommandError("cancelled", "Cancelled by abort before it was accepted");
const none = () => {
  throw new Error("Must not be accepted");
};

function stage(options: Partial<InputStageOptions> = {}, transform?: InputTransform) {
  return new InputStage({ prepareImage: async (given) => given, maxImages: 3, ...options }, transform);
}

/** What a refusal says, whole. */
async function refusal(promise: Promise<unknown>) {
  const error = await promise.then(
    () => new Error("Was accepted"),
    (reason: unknown) => reason,
  );
  const { name, message, code, field } = error as CommandError;
  return { name, message, code, field };
}
const asRefusal = ({ name, message, code, field }: CommandError) => ({ name, message, code, field });

describe("InputStage", () => {
  test("makes the user message, text before images", async () => {
    const prepareImage = vi.fn(async (given: { data: string }) => ({ ...image(`small ${given.data}`) }));
    const message = await stage({ prepareImage }).pass(
      typed("Look", { images: [image("one"), image("two")] }),
      async (made) => made,
    );
    expect(message).toEqual({
      role: "user",
      content: [{ type: "text", text: "Look" }, image("small one"), image("small two")],
      timestamp: 1000,
    });
  });

  test("images alone are a message", async () => {
    const message = await stage().pass(typed("", { images: [image("a")] }), async (made) => made);
    expect(message).toEqual({ role: "user", content: [image("a")], timestamp: 1000 });
  });

  test.each<[string, TypedInput, CommandError]>([
    ["an empty text", typed(""), new CommandError("invalid_params", "A message needs text or an image", "message")],
    [
      "a text of white space",
      typed(" \n\t", { images: [] }),
      new CommandError("invalid_params", "A message needs text or an image", "message"),
    ],
    [
      "too many images",
      typed("Look", { images: Array(4).fill(image("a")) }),
      new CommandError("invalid_params", "A message can carry 3 images at most", "images"),
    ],
    [
      "an image that cannot be used, by its place",
      typed("Look", { images: [image("good"), image("bad")] }),
      new CommandError("invalid_params", "It is bad", "images[1]"),
    ],
  ])("refuses %s, and the next text passes", async (_, input, error) => {
    const input_ = stage({
      prepareImage: async (given) => {
        if (given.data === "bad") throw new Error("It is bad");
        return given;
      },
    });
    expect(await refusal(input_.pass(input, none))).toEqual(asRefusal(error));
    expect(input_.accepting).toBe(0);
    expect(await input_.pass(typed("next"), async () => "accepted")).toBe("accepted");
  });

  test("texts pass one after another: each is judged when the fate of the one before is known", async () => {
    const order: string[] = [];
    const fates = [hold(), hold()];
    const input = stage({}, async (given) => {
      order.push(`transform ${given.text}`);
      return given;
    });
    const passes = ["a", "b"].map((text, at) =>
      input.pass(typed(text), async (message) => {
        order.push(`accept ${textOf(message as Exclude<typeof message, string>)}`);
        await fates[at]?.wait();
        order.push(`fate of ${text}`);
      }),
    );
    await fates[0]?.reached;
    expect(input.accepting).toBe(2);
    for (const fate of fates) fate.release();
    await Promise.all(passes);
    expect(order).toEqual(["transform a", "accept a", "fate of a", "transform b", "accept b", "fate of b"]);
    expect(input.accepting).toBe(0);
  });

  test("a hook may change the text, or handle it", async () => {
    const input = stage({}, async (given) =>
      given.text === "/go" ? "handled" : { ...given, text: given.text.toUpperCase() },
    );
    expect(await input.pass(typed("/go"), async (message) => message)).toBe("handled");
    expect(await input.pass(typed("quiet"), async (message) => message)).toEqual({
      role: "user",
      content: [{ type: "text", text: "QUIET" }],
      timestamp: 1000,
    });
  });

  test("cancel refuses all that are inside, also one whose hook never returns, and none that come later", async () => {
    const never = hold();
    const input = stage({}, async (given) => {
      if (given.text === "a") await never.wait();
      return given;
    });
    const inside = ["a", "b", "c"].map((text) => refusal(input.pass(typed(text), none)));
    await never.reached;
    expect(input.cancel()).toBe(3);
    const later = input.pass(typed("d"), async () => "accepted");
    expect(await Promise.all(inside)).toEqual(Array(3).fill(asRefusal(cancelled)));
    expect(await later).toBe("accepted");
    expect(input.cancel()).toBe(0);
  });

  test("cancel while an image is prepared refuses the text, and prepares no further image", async () => {
    const preparing = hold();
    const prepared: string[] = [];
    const input = stage({
      prepareImage: async (given) => {
        prepared.push(given.data);
        await preparing.wait();
        return given;
      },
    });
    const pass = refusal(input.pass(typed("Look", { images: [image("a"), image("b")] }), none));
    await preparing.reached;
    input.cancel();
    preparing.release();
    expect(await pass).toEqual(asRefusal(cancelled));
    expect(prepared).toEqual(["a"]);
  });

  test("cancel reaches one that waits while it is accepted", async () => {
    const file = hold();
    const input = stage();
    const pass = refusal(
      input.pass(typed("a"), async (_, refuseIfCancelled) => {
        refuseIfCancelled();
        await file.wait();
        refuseIfCancelled();
      }),
    );
    await file.reached;
    input.cancel();
    file.release();
    expect(await pass).toEqual(asRefusal(cancelled));
  });

  test("whatever waits how long: first in, first out, and a text is accepted or cancelled by the aborts before it", async () => {
    const event = fc.oneof(
      { weight: 4, arbitrary: fc.record({ hook: fc.nat(4), accept: fc.nat(4), pause: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.constant("cancel" as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (events) => {
        const order: string[] = [];
        const input = stage({}, async (given) => {
          await ticks(Number(given.text.split(" ")[1]));
          return given;
        });
        const fates: Promise<string>[] = [];
        for (const [at, step] of events.entries()) {
          if (step === "cancel") input.cancel();
          else {
            fates.push(
              input
                .pass(typed(`${at} ${step.hook}`), async () => {
                  order.push(`${at} begins`);
                  await ticks(step.accept);
                  order.push(`${at} ends`);
                  return "accepted";
                })
                .catch((error: CommandError) => error.code),
            );
            await ticks(step.pause);
          }
        }
        const all = await Promise.all(fates);
        expect(all.every((fate) => fate === "accepted" || fate === "cancelled")).toBe(true);
        if (!events.includes("cancel")) expect(all.includes("cancelled")).toBe(false);
        const accepted = order.filter((line) => line.endsWith("begins")).map((line) => Number.parseInt(line, 10));
        expect(accepted).toEqual([...accepted].sort((a, b) => a - b));
        expect(order).toEqual(accepted.flatMap((at) => [`${at} begins`, `${at} ends`]));
        expect(input.accepting).toBe(0);
      }),
      { seed: 3, numRuns: 300 },
    );
  });
});

async function ticks(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await undefined;
}
