import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The parts of a request that tests look at. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly fields: Readonly<Record<string, string>>;
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Buffer };
  readonly at: number;
}

export type Behaviour = (
  received: ReceivedRequest,
  response: ServerResponse,
  request: IncomingMessage,
) => void | Promise<void>;

/** A scripted speech server. */
export interface SpeechServer {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  maxConcurrent(): number;
  /** Sets the behaviours for the next requests, one each; the last one stays in force. */
  script(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
}

export async function openSpeechServer(): Promise<SpeechServer> {
  const requests: ReceivedRequest[] = [];
  let behaviours: Behaviour[] = [];
  let current = 0;
  let most = 0;
  const server = createServer(async (request, response) => {
    current += 1;
    most = Math.max(most, current);
    response.on('close', () => (current -= 1));
    const received = await read(request).catch(() => null);
    if (received === null) return;
    requests.push(received);
    const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
    await behaviour?.(received, response, request);
  });
  // Only the client closes idle connections. A request on a connection that the server is closing would be sent twice.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    maxConcurrent: () => most,
    script: (...next) => (behaviours = next),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<ReceivedRequest> {
  const { 'content-type': type = '' } = request.headers;
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  const received = {
    method: request.method ?? '',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
  };
  const body = await buffer(request);
  if (!type.startsWith('multipart/'))
    return { ...received, fields: {}, file: { name: '', type, bytes: body }, at: Date.now() };
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const file = form.get('file') as File;
  const fields = [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []));
  return {
    ...received,
    fields: Object.fromEntries(fields),
    file: { name: file.name, type: file.type, bytes: Buffer.from(await file.arrayBuffer()) },
    at: Date.now(),
  };
}

export function answers(body: unknown, options: { status?: number; headers?: Record<string, string> } = {}): Behaviour {
  return (_received, response) => {
    response.writeHead(options.status ?? 200, { 'content-type': 'application/json', ...options.headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}
