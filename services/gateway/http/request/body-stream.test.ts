import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SILENCE_MS } from '../response/json-response.ts';
import { bodyOf } from './body-stream.ts';

let server: Server;
let client: Socket;
let request: IncomingMessage;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n01234');
  [request] = (await once(server, 'request')) as [IncomingMessage];
});

afterEach(() => {
  client.destroy();
  server.close();
});

it('brings what is sent, to its end', async () => {
  const body = buffer(bodyOf(request, { maxMs: 60_000 }));
  client.write('56789');
  expect((await body).toString()).toBe('0123456789');
});

it('fails when the client falls silent, and leaves the connection to say so', async () => {
  const began = performance.now();
  const silent = { status: 408, code: 'REQUEST_TIMEOUT', message: expect.stringContaining('stalled') };
  await expect(buffer(bodyOf(request, { silenceMs: 100 }))).rejects.toMatchObject(silent);
  // Not when any client is taken to be gone.
  expect(performance.now() - began).toBeLessThan(SILENCE_MS / 2);
  expect(request.socket.writable).toBe(true);
});

it('fails when a client that is never silent takes too long', async () => {
  const trickle = setInterval(() => client.write('x'), 70);
  const late = { status: 408, message: expect.stringContaining('took too long') };
  await expect(buffer(bodyOf(request, { maxMs: 250 }))).rejects.toMatchObject(late);
  clearInterval(trickle);
});

it('fails when the client goes away', async () => {
  const body = buffer(bodyOf(request));
  client.destroy();
  await expect(body).rejects.toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
});

it('fails when it is detached from its request, instead of waiting for ever', async () => {
  const body = buffer(bodyOf(request));
  request.unpipe();
  request.resume();
  client.end('56789');
  request.on('end', () => request.socket.destroy());
  await expect(body).rejects.toMatchObject({ status: 400 });
});
