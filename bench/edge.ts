import { type ChildProcess, fork } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { atLeast, atMost, median } from './figure.ts';
import type { Figure } from './figure.ts';

const CONNECTIONS = 50;

/**
 * One authenticated GET with nothing behind it: request id, trace, bearer token, rate limits by address and firm, security
 * headers, metrics and a log line to a file, through a router with all other endpoints. Beside it plain express answering
 * the same body and doing nothing else. Each is a process of its own; they are loaded in turn.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const [rounds, seconds] = quick ? [3, 1] : [9, 3];
  const asked = { secret: randomUUID() + randomUUID(), firm: randomUUID(), user: randomUUID() };
  const directory = mkdtempSync(join(tmpdir(), 'edge-'));
  const log = openSync(join(directory, 'log'), 'w');
  const servers = {
    edge: await startServer('edge', log, asked),
    express: await startServer('express', log, asked),
  };
  try {
    const headers = { authorization: `Bearer ${token(asked)}` };
    const load = async ({ url, child }: { url: string; child: ChildProcess }, duration: number) => {
      const used = await processorUs(child);
      const result = await autocannon({ url: `${url}/bare`, connections: CONNECTIONS, duration, headers });
      if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} failed`);
      const { total } = result.requests;
      return {
        perSecond: total / result.duration,
        p99: result.latency.p99,
        processorUs: ((await processorUs(child)) - used) / total,
      };
    };
    for (const server of Object.values(servers)) await load(server, 1);
    const ours: Awaited<ReturnType<typeof load>>[] = [];
    const theirs: typeof ours = [];
    for (let round = 0; round < rounds; round++) {
      theirs.push(await load(servers.express, seconds));
      ours.push(await load(servers.edge, seconds));
    }
    const middle = (all: typeof ours, of: keyof (typeof all)[number]) => median(all.map((each) => each[of]));
    return [
      atLeast(0.9, {
        name: 'bare authenticated route',
        value: middle(ours, 'perSecond'),
        unit: 'requests/s',
        yardstick: { name: 'plain express, requests/s', value: middle(theirs, 'perSecond') },
      }),
      atMost(1.25, {
        name: `the same, p99 with ${CONNECTIONS} at once`,
        value: middle(ours, 'p99'),
        unit: 'ms',
        yardstick: { name: 'plain express, ms', value: middle(theirs, 'p99') },
      }),
      // On a machine with other work to do this says more than how many went through in a second.
      atMost(1.11, {
        name: 'the same, processor time of a request',
        value: middle(ours, 'processorUs'),
        unit: 'µs',
        yardstick: { name: 'plain express, µs', value: middle(theirs, 'processorUs') },
      }),
    ];
  } finally {
    for (const { child } of Object.values(servers)) child.disconnect();
    closeSync(log);
    rmSync(directory, { recursive: true });
  }
}

async function startServer(kind: string, log: number, asked: object) {
  const child = fork(fileURLToPath(new URL('./edge-server.ts', import.meta.url)), [kind], {
    stdio: ['ignore', 'inherit', log, 'ipc'],
    execArgv: ['--max-semi-space-size=32'],
    env: { ...process.env, EDGE: JSON.stringify(asked) },
  });
  const [url] = (await once(child, 'message')) as [string];
  return { child, url };
}

/** Processor time that the process has used so far, all threads and the system's part. */
async function processorUs(child: ChildProcess): Promise<number> {
  child.send('processor time');
  const [us] = (await once(child, 'message')) as [number];
  return us;
}

function token({ secret, firm, user }: { secret: string; firm: string; user: string }): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const claims = { sub: user, firm, role: 'ADMIN', iss: 'bench', aud: 'bench', exp };
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
