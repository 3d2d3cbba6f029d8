// Commands take effect in the order they arrive: whatever stands in one write, a state shows all that stood before it.

import fc from "fast-check";
import { expect, test } from "vitest";
import { startInProcessRpc } from "../helpers/in-process-rpc.js";
import { difference } from "../helpers/records.js";

const levels = ["off", "minimal", "low", "medium", "high"];
const models = ["thinker", "plain"];

/** What a session of the two scripted models is, as far as setters change it. */
class Expected {
  model = "thinker";
  wanted = "medium";
  name: string | undefined;
  steering = "one-at-a-time";
  followUp = "one-at-a-time";

  get level(): string {
    return this.model === "plain" ? "off" : this.wanted;
  }

  state() {
    return {
      model: { id: this.model },
      thinkingLevel: this.level,
      sessionName: this.name ?? "<absent>",
      steeringMode: this.steering,
      followUpMode: this.followUp,
      messageCount: 0,
      isStreaming: false,
    };
  }

  /** Does what the command does; says whether it succeeds. */
  apply(command: Record<string, string>): boolean {
    switch (command.type) {
      case "set_session_name":
        if (!command.name?.trim()) return false;
        this.name = command.name.trim();
        return true;
      case "set_model":
        if (!models.includes(command.modelId as string)) return false;
        this.model = command.modelId as string;
        return true;
      case "cycle_model":
        this.model = this.model === "thinker" ? "plain" : "thinker";
        return true;
      case "set_thinking_level":
        if (!levels.includes(command.level as string)) return false;
        this.wanted = command.level as string;
        return true;
      case "cycle_thinking_level":
        if (this.model === "thinker") this.wanted = levels[(levels.indexOf(this.wanted) + 1) % levels.length] as string;
        return true;
      case "set_steering_mode":
        this.steering = command.mode as string;
        return true;
      case "set_follow_up_mode":
        this.followUp = command.mode as string;
        return true;
      case "new_session":
        this.name = undefined;
        return true;
      default:
        return true;
    }
  }
}

const mode = fc.constantFrom("all", "one-at-a-time");
const command = fc.oneof(
  fc.record({ type: fc.constant("set_session_name"), name: fc.constantFrom("a", " b ", "", "  ", "ü😀") }),
  fc.record({
    type: fc.constant("set_model"),
    provider: fc.constant("scripted"),
    modelId: fc.constantFrom("thinker", "plain", "none"),
  }),
  fc.record({ type: fc.constant("set_thinking_level"), level: fc.constantFrom(...levels, "bogus") }),
  fc.record({ type: fc.constant("set_steering_mode"), mode }),
  fc.record({ type: fc.constant("set_follow_up_mode"), mode }),
  fc.constantFrom(
    { type: "cycle_model" },
    { type: "cycle_thinking_level" },
    { type: "new_session" },
    { type: "abort" },
  ),
  fc.constantFrom({ type: "get_state" }, { type: "get_state" }, { type: "get_session_stats" }, { type: "abort_bash" }),
);

test("a state shows what every command before it did, and nothing of those behind", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
      const peer = await startInProcessRpc();
      try {
        const expected = new Expected();
        const plan = commands.map((record) => ({ success: expected.apply(record as never), state: expected.state() }));
        peer.sendRaw(commands.map((record, id) => `${JSON.stringify({ id, ...record })}\n`).join(""));
        peer.closeStdin();
        await peer.ended;
        for (const [id, { success, state }] of plan.entries()) {
          const answers = peer.records.matching({ type: "response", id });
          expect(answers).toMatchObject([{ command: commands[id]?.type, success }]);
          if (commands[id]?.type === "get_state") expect(difference(state, answers[0]?.data)).toBeUndefined();
        }
      } finally {
        await peer.dispose();
      }
    }),
    { seed: 20_260_102, numRuns: 100 },
  );
});

test("queued texts go out in the order in which they were accepted", { timeout: 60_000 }, async () => {
  const text = fc.constantFrom("steer", "follow_up");
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 12 }), mode, mode, async (kinds, steering, followUp) => {
      const peer = await startInProcessRpc({ noTools: true, inMemory: true });
      try {
        peer.model.answer("One", { hold: "first" });
        for (const _ of kinds) peer.model.answer("More");
        const records = [
          { type: "set_steering_mode", mode: steering },
          { type: "set_follow_up_mode", mode: followUp },
          { type: "prompt", message: "go" },
          ...kinds.map((type, index) => ({ id: index, type, message: `${type} ${index}` })),
        ];
        peer.sendRaw(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
        await peer.records.anywhere({ type: "response", id: kinds.length - 1, data: { disposition: "queued" } });
        peer.model.holds.get("first").release();
        await peer.records.anywhere({ type: "agent_settled" });
        const users = peer.records.matching({ type: "message_end", message: { role: "user" } });
        const sent = users.map(({ message }) => (message as { content: { text: string }[] }).content[0]?.text);
        const of = (kind: string) => kinds.flatMap((type, index) => (type === kind ? [`${type} ${index}`] : []));
        expect(sent).toEqual(["go", ...of("steer"), ...of("follow_up")]);
      } finally {
        await peer.dispose();
      }
    }),
    { seed: 20_260_103, numRuns: 60 },
  );
});
