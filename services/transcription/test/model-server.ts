import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ServedFile {
  readonly bytes: Buffer;
  readonly etag?: string | null;
  /** One connection per number; it breaks after that many bytes of an answer. */
  readonly breaksAfter?: number[];
  /** Answers these statuses first. */
  readonly statuses?: number[];
  readonly ignoresRanges?: boolean;
}

/** A client loses what it has not read when a connection breaks, and a busy one reads late. */
const READ_WITHIN_MS = 250;

/** A server of files like those of GitHub and Hugging Face: with ranges, entity tags and a redirect. */
export class ModelServer {
  readonly files = new Map<string, ServedFile>();
  /** The paths and ranges that were asked for. */
  readonly requests: string[] = [];
  #server = createServer((asked, answer) => this.#serve(asked, answer));
  url = '';

  async open(): Promise<this> {
    this.url = await listen(this.#server);
    return this;
  }

  add(path: string, bytes: Buffer, options: Omit<ServedFile, 'bytes'> = {}): { url: string; sha256: string } {
    this.files.set(path, { bytes, ...options });
    return { url: `${this.url}${path}`, sha256: createHash('sha256').update(bytes).digest('hex') };
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #serve({ url = '', headers }: IncomingMessage, answer: ServerResponse): void {
    this.requests.push(headers.range === undefined ? url : `${url} ${headers.range}`);
    if (url.startsWith('/moved/')) {
      answer.writeHead(302, { location: url.slice('/moved'.length) }).end();
      return;
    }
    const file = this.files.get(url);
    const status = file?.statuses?.shift();
    if (file === undefined || status !== undefined) {
      answer.writeHead(status ?? 404).end('no');
      return;
    }
    const etag = file.etag === undefined ? '"1"' : file.etag;
    const size = file.bytes.length;
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const isPart = from > 0 && file.ignoresRanges !== true && headers['if-range'] === etag;
    const tag = etag === null ? {} : { etag };
    if (isPart && from >= size) {
      answer.writeHead(416, { 'content-range': `bytes */${size}` }).end();
      return;
    }
    const body = isPart ? file.bytes.subarray(from) : file.bytes;
    const range = isPart ? { 'content-range': `bytes ${from}-${size - 1}/${size}` } : {};
    answer.writeHead(isPart ? 206 : 200, { 'content-length': body.length, ...range, ...tag });
    const most = file.breaksAfter?.shift();
    if (most === undefined) answer.end(body);
    else answer.write(body.subarray(0, most), () => setTimeout(() => answer.destroy(), READ_WITHIN_MS));
  }
}

/** A proxy for http, which counts what passes through. */
export async function openProxy(): Promise<{ url: string; targets: string[]; close(): Promise<void> }> {
  const targets: string[] = [];
  const server = createServer((asked, answer) => {
    targets.push(asked.url ?? '');
    const forwarded = request(asked.url ?? '', { headers: asked.headers, method: asked.method }, (from) => {
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(answer);
    });
    asked.pipe(forwarded);
  });
  const url = await listen(server);
  return { url, targets, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
