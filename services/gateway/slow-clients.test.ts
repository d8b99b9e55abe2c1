import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import express, { type NextFunction, type Request } from 'express';
import { bodyStream } from './http/request/body-stream.ts';
import { readJson } from './http/request/json-body.ts';
import { errorResponse } from './http/response/http-error.ts';
import { type Response, send } from './http/response/send.ts';
import { listen, type Listening } from './server.ts';
import { rawExchange, openFixture } from './test/fixture.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const HEADERS_MS = 300;
const address = { host: '127.0.0.1', port: 0 };

/** Writes a byte at this interval, as long as the other end accepts it. */
function trickle(socket: { writable: boolean; write(text: string): unknown }, everyMs: number): void {
  const timer = setInterval(() => (socket.writable ? socket.write('x') : clearInterval(timer)), everyMs);
}

async function served(edge: Listening, use: () => Promise<void>): Promise<void> {
  try {
    await use();
  } finally {
    await edge.close(0);
  }
}

function impatient(): Promise<Listening> {
  return listen((_request, response) => response.writeHead(204).end(), address, { headersMs: HEADERS_MS });
}

describe('a client with slow headers', () => {
  it.each([
    ['sends them byte by byte', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ', 20],
    ['begins and goes idle', 'GET /healthz HTTP/1.1\r\nHost: x\r\n', null],
    ['sends nothing at all', '', null],
  ])('that %s gets 408 and is cut off', async (_, begun, everyMs) => {
    const edge = await impatient();
    await served(edge, async () => {
      const began = performance.now();
      const response = await rawExchange(edge.url, (socket) => {
        if (begun !== '') socket.write(begun);
        if (everyMs !== null) trickle(socket, everyMs);
      });
      const took = performance.now() - began;
      expect(response).toMatch(/^HTTP\/1\.1 408 /);
      expect(response).toContain('"code":"REQUEST_TIMEOUT"');
      expect(took).toBeGreaterThanOrEqual(HEADERS_MS - 50);
    });
  });

  it('affects neither other clients nor a connection that is idle between two requests', async () => {
    const edge = await impatient();
    await served(edge, async () => {
      const slow = rawExchange(edge.url, (socket) => trickle(socket, 20));
      const twice = () =>
        rawExchange(edge.url, (socket) => {
          socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
          socket.once('data', async (response: Buffer) => {
            if (!response.toString().includes(' 204 ')) return;
            await delay(3 * HEADERS_MS);
            socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
          });
        });
      // The time counts from the connection. If this process was suspended then, the first request was late.
      const responses = await waitUntil(async () => {
        const received = await twice();
        return received.includes(' 204 ') && received;
      });
      expect(responses.match(/HTTP\/1\.1 204 /g)).toHaveLength(2);
      expect(await slow).toMatch(/^HTTP\/1\.1 4/);
    });
  });
});

describe('a client that sends its body a byte at a time', () => {
  it.each([
    ['JSON', (request, response) => readJson(request, response, { deadlineMs: 300 })],
    ['a file', async (request) => void (await bodyStream(request, { maxMs: 300 }).forEach(() => {}))],
  ] satisfies [string, (request: Request, response: Response) => Promise<unknown>][])(
    'gets 408 when the time for %s is over, although it is never idle, and is cut off',
    async (_, read) => {
      const app = express();
      app.use((request, response: Response) => read(request, response));
      app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) =>
        send(response, errorResponse(error, '')),
      );
      const edge = await listen(app, address);
      await served(edge, async () => {
        const response = await rawExchange(edge.url, (socket) => {
          socket.write(
            'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n',
          );
          trickle(socket, 50);
        });
        expect(response).toMatch(/^HTTP\/1\.1 408 /);
        expect(response).toContain('"code":"REQUEST_TIMEOUT"');
      });
    },
  );
});

describe('a client that reads its response slowly', () => {
  it('keeps only a few buffers of it in memory, and gets all of it', async () => {
    const edge = await openFixture();
    try {
      const megabyte = Buffer.alloc(1024 * 1024, 'x');
      const megabytes = 32;
      await edge.objects.put('firm/large.csv', Readable.from(Array.from({ length: megabytes }, () => megabyte)));
      const signed = await edge.objects.presignGet('firm/large.csv', { expiresInSeconds: 3600 });
      const { pathname, search, port } = new URL(signed, edge.url);
      const buffered = () => {
        collectGarbage();
        return process.memoryUsage().arrayBuffers;
      };
      const before = buffered();
      const asked = 4 * megabytes * megabyte.length;
      const clients = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const socket = connect(Number(port), '127.0.0.1');
          await once(socket, 'connect');
          socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
          await once(socket, 'readable');
          return socket.pause();
        }),
      );
      // Until the server has sent what it sends without being read.
      for (let last = 0, now = buffered(); now - last > megabyte.length; now = buffered()) {
        last = now;
        await delay(100);
      }
      expect(buffered() - before).toBeLessThan(asked / 2);
      const [first, ...others] = clients;
      for (const socket of others) socket.destroy();
      let bytes = 0;
      for await (const chunk of first!) bytes += (chunk as Buffer).length;
      expect(bytes).toBeGreaterThan(megabytes * megabyte.length);
    } finally {
      await edge.close();
    }
  });
});
