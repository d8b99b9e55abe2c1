import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { waitUntil } from '../wait-until.ts';
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts';

let echo: Server;
let gate: TcpProxy;
const opened: Socket[] = [];

beforeEach(async () => {
  echo = createServer((socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  gate = await openTcpProxy({ port: (echo.address() as AddressInfo).port });
});

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await gate.close();
  await new Promise((resolve) => echo.close(resolve));
});

interface Caller {
  say(text: string): void;
  heard(): string;
  closed(): boolean;
  hangUp(): void;
}

async function call(): Promise<Caller> {
  const socket = connect({ port: gate.port, host: '127.0.0.1' });
  opened.push(socket);
  let heard = '';
  let closed = false;
  socket.setEncoding('utf8').on('data', (chunk: string) => (heard += chunk));
  socket.on('error', () => {});
  socket.on('close', () => (closed = true));
  await waitUntil(() => closed || !socket.connecting);
  return {
    say: (text) => socket.write(text),
    heard: () => heard,
    closed: () => closed,
    hangUp: () => socket.end(),
  };
}

it('passes bytes both ways, and the end of them', async () => {
  const caller = await call();
  caller.say('hello');
  await waitUntil(() => caller.heard() === 'hello');
  caller.hangUp();
  await waitUntil(() => caller.closed());
  expect(caller.heard()).toBe('hello');
});

it('resets old and new connections while it is cut, and none after it is healed', async () => {
  const old = await call();
  gate.cut();
  await waitUntil(() => old.closed());
  const refused = await call();
  await waitUntil(() => refused.closed());
  gate.heal();
  const passed = await call();
  passed.say('again');
  await waitUntil(() => passed.heard() === 'again');
});

it('holds back in the dark what it passes on once healed, for old and new connections', async () => {
  const old = await call();
  old.say('before ');
  await waitUntil(() => old.heard() === 'before ');
  gate.blackhole();
  const young = await call();
  old.say('after');
  young.say('new');
  await pause(100);
  expect([old.heard(), young.heard(), old.closed(), young.closed()]).toEqual(['before ', '', false, false]);
  gate.heal();
  await waitUntil(() => old.heard() === 'before after' && young.heard() === 'new');
});
