import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { waitUntil } from '../../wait-until.ts';
import { type ToxicProxy, toxiproxy } from './toxiproxy.ts';

const bytes = Buffer.alloc(40_000, 'x');
let server: Server;
let proxy: ToxicProxy;

beforeAll(async () => {
  server = createServer((_request, response) => response.end(bytes)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

beforeEach(async () => {
  proxy = await toxiproxy().proxy('web', `127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(() => proxy.remove());

/** How long a whole answer took. A connection of its own for each. */
async function get(timeoutMs = 60_000): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`http://${proxy.address}`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(timeoutMs),
  });
  expect((await response.bytes()).length).toBe(bytes.length);
  return performance.now() - startedAt;
}

it('two proxies of one name are two links', async () => {
  const other = await toxiproxy().proxy('web', 'localhost:1');
  expect(other.address).not.toBe(proxy.address);
  await other.remove();
  await get();
});

it('a link that is down refuses, and is up again on the same address', async () => {
  const { address } = proxy;
  await proxy.disable();
  await expect(get()).rejects.toThrow();
  await proxy.enable();
  expect(proxy.address).toBe(address);
  await get();
});

it('a slow link takes its time, and none once it is cleared', async () => {
  await proxy.toxic({ type: 'latency', latencyMs: 300, direction: 'both' });
  expect(await get()).toBeGreaterThan(550);
  await proxy.clear();
  await proxy.toxic({ type: 'bandwidth', bytesPerSecond: 40_000 });
  expect(await get()).toBeGreaterThan(700);
  await proxy.clear();
  // The slow link never does; a machine that stands still spoils one answer, not all.
  await waitUntil(async () => (await get()) < 500);
});

it('a black hole says nothing', async () => {
  await proxy.toxic({ type: 'timeout', afterMs: 0, direction: 'both' });
  await expect(get(300)).rejects.toMatchObject({ name: 'TimeoutError' });
});

it.each([
  { type: 'limit_data', bytes: 1000 },
  { type: 'reset_peer', afterMs: 0 },
  { type: 'timeout', afterMs: 50 },
] as const)('a link of %j breaks in the middle', async (toxic) => {
  await proxy.toxic(toxic);
  await expect(get()).rejects.toThrow();
});
