import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a sink received. */
export interface Received {
  readonly path: string;
  readonly id: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly at: number;
}

export type Answer = (received: Received, response: ServerResponse) => void;

export const ok: Answer = (_, response) => void response.writeHead(204).end();
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end();
/** Never answers. */
export const hang: Answer = () => {};

/** An HTTP server that receives webhooks. `answers` has the answer of each path; others are answered with 204. */
export interface Sink {
  readonly url: string;
  readonly received: Received[];
  readonly answers: Map<string, Answer>;
  of(path: string): Received[];
  close(): Promise<void>;
}

export async function openSink(): Promise<Sink> {
  const received: Received[] = [];
  const answers = new Map<string, Answer>();
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? '';
    const headers = request.headers as Record<string, string>;
    const one = { path, id: headers['webhook-id']!, headers, body: Buffer.concat(chunks).toString(), at: Date.now() };
    received.push(one);
    (answers.get(path) ?? ok)(one, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answers,
    of: (path) => received.filter((each) => each.path === path),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
