// A loopback server that plays a provider: it replays recorded bytes, holds them, cuts them, and records the requests.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Hold } from "./hold.js";

/**
 * What a reply does after its headers: sends bytes, waits, destroys the connection (`cut`), or stays silent until the
 * client leaves (`stall`). Without `cut` or `stall` the body ends well.
 */
export type ReplayStep = string | Uint8Array | Hold | "cut" | "stall";

export interface ReplayReply {
  /** 200 when absent. */
  status?: number;
  /** `text/event-stream` for status 200, `application/json` otherwise, unless given. */
  headers?: Record<string, string>;
  /** Waits here before even the headers go out. */
  beforeHeaders?: Hold;
  body?: string | readonly ReplayStep[];
}

/** One request as the server got it. */
export interface ReplayRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** The parsed JSON body. */
  body: unknown;
  /** Resolves when the connection's answer is over; true when the client left before its end. */
  closed: Promise<boolean>;
}

/**
 * Plays one scripted reply a request, in order.
 *
 *     const server = await startReplayServer();
 *     server.reply({ body: readFileSync("text.sse", "utf8") }).reply({ status: 529, body: '{"error":{}}' });
 *     // … call a model whose baseUrl is server.url …
 *     await server.close();
 */
export class ReplayServer {
  readonly requests: ReplayRequest[] = [];
  readonly #server: Server;
  readonly #replies: ReplayReply[] = [];
  readonly #waiting: (() => void)[] = [];
  /** Bytes handed to the connection so far, in all replies; tells how far a slow reader has let the server get. */
  bytesSent = 0;

  constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** Base URL without a path, such as `http://127.0.0.1:40123`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds one reply to the script. A request that finds none gets status 500. */
  reply(...replies: ReplayReply[]): this {
    this.#replies.push(...replies);
    return this;
  }

  /** The request with this number, from 0; waits until it has come. */
  async request(index: number): Promise<ReplayRequest> {
    while (this.requests.length <= index) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.requests[index]!;
  }

  /** Stops the server and destroys open connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new Promise<boolean>((resolve) => {
      response.on("close", () => resolve(!response.writableFinished));
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.#record(request, Buffer.concat(chunks).toString("utf8"), left);
    const reply = this.#replies.shift() ?? { status: 500, body: '{"error":{"message":"no scripted reply left"}}' };
    const gone = left.then(() => undefined);
    if (reply.beforeHeaders) await Promise.race([reply.beforeHeaders.wait(), gone]);
    const status = reply.status ?? 200;
    const type = status === 200 ? "text/event-stream" : "application/json";
    response.writeHead(status, { "content-type": type, ...reply.headers });
    response.flushHeaders();
    const steps = typeof reply.body === "string" ? [reply.body] : (reply.body ?? []);
    for (const step of steps) {
      if (response.destroyed) return;
      if (step === "cut") {
        // What was written has to leave before the connection goes.
        await this.#write(response, "");
        response.socket?.destroy();
        return;
      }
      if (step === "stall") return gone;
      if (step instanceof Hold) await Promise.race([step.wait(), gone]);
      else await this.#write(response, step, gone);
    }
    response.end();
  }

  async #write(response: ServerResponse, bytes: string | Uint8Array, gone?: Promise<undefined>): Promise<void> {
    const written = new Promise<void>((resolve) => {
      if (bytes.length === 0) return void setImmediate(resolve);
      response.write(bytes, () => resolve());
    });
    await (gone ? Promise.race([written, gone]) : written);
    this.bytesSent += typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.byteLength;
  }

  #record(request: IncomingMessage, text: string, closed: Promise<boolean>): void {
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {
      // Recorded as it came.
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const),
    );
    this.requests.push({ method: request.method ?? "", path: request.url ?? "", headers, body, closed });
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startReplayServer(): Promise<ReplayServer> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return new ReplayServer(server);
}
