// Asks a model of the tests once and gives the request it made.

import { afterAll, beforeAll, expect } from "vitest";
import { type AssistantMessage, type Context, complete, type Model, type StreamOptions } from "../src/index.js";
import { type ReplayRequest, type ReplayServer, startReplayServer } from "../src/testing/index.js";
import { eventsOf, fixture, question, testModel, wireBytes } from "./fixtures.js";

export type Sent = ReplayRequest & { body: Record<string, unknown> };

export interface Requests {
  /** The model asked, with these facts. */
  model(facts?: Partial<Model>): Model;
  request(options?: StreamOptions, facts?: Partial<Model>, context?: Context): Promise<Sent>;
  /** The lines and the message of an answer with this text on the wire. */
  answer(text: string, facts?: Partial<Model>): ReturnType<typeof eventsOf>;
  /** The message of a call that fails before it is sent. */
  failure(options?: StreamOptions, facts?: Partial<Model>): Promise<AssistantMessage>;
}

/** Sets up a server for the tests of one file; `path` is what the base URL has behind the host. */
export function requestsOf(api: string, path = ""): Requests {
  let server: ReplayServer;
  beforeAll(async () => {
    server = await startReplayServer();
  });
  afterAll(() => server.close());
  const model = (facts: Partial<Model> = {}) => testModel(api, server.url + path, facts);
  return {
    model,
    async request(options = {}, facts = {}, context = question) {
      server.reply({ body: [wireBytes(api, fixture(api, "text"))] });
      const message = await complete(model(facts), context, { apiKey: "key-for-tests", ...options });
      expect(message.errorMessage).toBeUndefined();
      return server.requests.at(-1) as Sent;
    },
    answer(text, facts = {}) {
      server.reply({ body: [wireBytes(api, text)] });
      return eventsOf(model(facts));
    },
    async failure(options = {}, facts = {}) {
      const sent = server.requests.length;
      const message = await complete(model(facts), question, options);
      expect(server.requests.length).toBe(sent);
      return message;
    },
  };
}
