import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { IDLE_TIMEOUT_MS } from '../response/send.ts';
import { bodyStream } from './body-stream.ts';

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

it('delivers the complete body', async () => {
  const body = buffer(bodyStream(request, { maxMs: 60_000 }));
  client.write('56789');
  expect((await body).toString()).toBe('0123456789');
});

it('fails when the client is idle, and keeps the connection open for the error', async () => {
  const idle = { status: 408, code: 'REQUEST_TIMEOUT', message: expect.stringContaining('stalled') };
  let isOver = false;
  const byDefault = setTimeout(() => (isOver = true), IDLE_TIMEOUT_MS);
  await expect(buffer(bodyStream(request, { idleMs: 100 }))).rejects.toMatchObject(idle);
  clearTimeout(byDefault);
  expect(isOver).toBe(false);
  expect(request.socket.writable).toBe(true);
});

it('fails when a client that is never idle takes too long', async () => {
  const trickle = setInterval(() => client.write('x'), 70);
  const late = { status: 408, message: expect.stringContaining('took too long') };
  await expect(buffer(bodyStream(request, { maxMs: 250 }))).rejects.toMatchObject(late);
  clearInterval(trickle);
});

it('fails when the client disconnects', async () => {
  const body = buffer(bodyStream(request));
  client.destroy();
  await expect(body).rejects.toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
});

it('fails when it is detached from its request, instead of waiting forever', async () => {
  const body = buffer(bodyStream(request));
  request.unpipe();
  request.resume();
  client.end('56789');
  request.on('end', () => request.socket.destroy());
  await expect(body).rejects.toMatchObject({ status: 400 });
});
