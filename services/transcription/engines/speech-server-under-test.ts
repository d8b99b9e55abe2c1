import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What a request had in it. */
export interface AskedOfServer {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Buffer };
  readonly at: number;
}

export type Behaviour = (
  asked: AskedOfServer,
  response: ServerResponse,
  request: IncomingMessage,
) => void | Promise<void>;

/** A speech server that does what a test says. */
export interface SpeechServer {
  readonly url: string;
  readonly asked: AskedOfServer[];
  mostAtOnce(): number;
  /** For the requests that come next, one each; the last one stays. */
  does(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
}

export async function openSpeechServer(): Promise<SpeechServer> {
  const asked: AskedOfServer[] = [];
  let behaviours: Behaviour[] = [];
  let now = 0;
  let most = 0;
  const server = createServer(async (request, response) => {
    now += 1;
    most = Math.max(most, now);
    response.on('close', () => (now -= 1));
    const one = await read(request).catch(() => null);
    if (one === null) return;
    asked.push(one);
    const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
    await behaviour?.(one, response, request);
  });
  // Who asks decides how long a connection is kept: a question on one that is just being closed would be asked twice.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    mostAtOnce: () => most,
    does: (...next) => (behaviours = next),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<AskedOfServer> {
  const { authorization, 'content-type': type = '' } = request.headers;
  const form = await new Response(await buffer(request), { headers: { 'content-type': type } }).formData();
  const file = form.get('file') as File;
  const fields = [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []));
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    authorization,
    fields: Object.fromEntries(fields),
    file: { name: file.name, type: file.type, bytes: Buffer.from(await file.arrayBuffer()) },
    at: Date.now(),
  };
}

export function answers(body: unknown, options: { status?: number; headers?: Record<string, string> } = {}): Behaviour {
  return (_asked, response) => {
    response.writeHead(options.status ?? 200, { 'content-type': 'application/json', ...options.headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}
