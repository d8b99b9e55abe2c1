import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function probe(port: number): Promise<number> {
  const env = { ...process.env, HEALTH_PORT: String(port) };
  const child = spawn('bash', [fileURLToPath(new URL('probe.sh', import.meta.url))], { env, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number];
  return code;
}

async function answering(status: number): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.writeHead(status).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, asked };
}

describe('the health check of a container', () => {
  it('succeeds when /readyz answers 200', async () => {
    const { port, asked } = await answering(200);
    expect(await probe(port)).toBe(0);
    expect(asked).toEqual(['/readyz']);
  });

  it('fails when a part is missing or the process does not listen', async () => {
    const { port } = await answering(503);
    expect(await probe(port)).not.toBe(0);
    const gone = await answering(200);
    for (const close of closing.splice(0)) await close();
    expect(await probe(gone.port)).not.toBe(0);
  });
});
