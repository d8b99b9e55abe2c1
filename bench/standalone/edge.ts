import { type ChildProcess, fork } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { v8Flags } from '../../deploy/v8-flags.ts';
import { atLeast, atMost, type Figure, median } from '../harness/figure.ts';

const CONNECTIONS = 50;
const WARM_UP_SECONDS = 2;

/** The result of one load of one server. */
interface Load {
  readonly perSecond: number;
  readonly p99: number;
  readonly processorUs: number;
}

interface Round {
  readonly ours: Load;
  readonly theirs: Load;
}

/**
 * One authenticated GET without a backend: request id, trace, bearer token, rate limits by address and firm, security
 * headers, metrics and a log line to a file, through a router with all other endpoints. Compared with plain express, which
 * only returns the same body. Each is its own process. They are loaded alternately, and the ratio is the median of the
 * rounds. Both are started several times, because the code that V8 compiles depends on the first seconds of a process.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const plan = quick ? { starts: 1, rounds: 3, seconds: 1 } : { starts: 4, rounds: 8, seconds: 1 };
  const rounds: Round[] = [];
  for (let start = 0; start < plan.starts; start++) rounds.push(...(await compare(plan)));

  const figure = (name: string, unit: string, yardstick: string, of: keyof Load) => ({
    name,
    value: median(rounds.map(({ ours }) => ours[of])),
    unit,
    yardstick: { name: yardstick, value: median(rounds.map(({ theirs }) => theirs[of])) },
    ratios: rounds.map(({ ours, theirs }) => ours[of] / theirs[of]),
  });
  return [
    atLeast(0.9, figure('bare authenticated route', 'requests/s', 'plain express, requests/s', 'perSecond')),
    atMost(
      1.25,
      figure(`bare authenticated route, p99 of ${CONNECTIONS} concurrent requests`, 'ms', 'plain express, ms', 'p99'),
    ),
    // On a busy machine this is more reliable than the rate of requests.
    atMost(
      1.11,
      figure('bare authenticated route, processor time of a request', 'µs', 'plain express, µs', 'processorUs'),
    ),
  ];
}

async function compare({ rounds, seconds }: { rounds: number; seconds: number }): Promise<Round[]> {
  const asked = { secret: randomUUID() + randomUUID(), firm: randomUUID(), user: randomUUID() };
  const headers = { authorization: `Bearer ${token(asked)}` };
  const directory = mkdtempSync(join(tmpdir(), 'edge-'));
  const log = openSync(join(directory, 'log'), 'w');
  const edge = await startServer('edge', log, asked);
  const express = await startServer('express', log, asked);
  try {
    for (const server of [edge, express]) await load(server, WARM_UP_SECONDS, headers);
    const done: Round[] = [];
    for (let round = 0; round < rounds; round++) {
      // The order alternates.
      const first = round % 2 === 0 ? await load(express, seconds, headers) : undefined;
      const ours = await load(edge, seconds, headers);
      done.push({ ours, theirs: first ?? (await load(express, seconds, headers)) });
    }
    return done;
  } finally {
    for (const { child } of [edge, express]) child.disconnect();
    closeSync(log);
    rmSync(directory, { recursive: true });
  }
}

type Server = Awaited<ReturnType<typeof startServer>>;

async function load({ url, child }: Server, duration: number, headers: Record<string, string>): Promise<Load> {
  const used = await processorUs(child);
  const result = await autocannon({ url: `${url}/bare`, connections: CONNECTIONS, duration, headers });
  if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} failed`);
  const { total } = result.requests;
  return {
    perSecond: total / result.duration,
    p99: result.latency.p99,
    processorUs: ((await processorUs(child)) - used) / total,
  };
}

async function startServer(kind: string, log: number, asked: object) {
  const child = fork(fileURLToPath(new URL('./edge-server.ts', import.meta.url)), [kind], {
    stdio: ['ignore', 'inherit', log, 'ipc'],
    // Both run with the flags of `npm start`.
    execArgv: [...v8Flags],
    env: { ...process.env, EDGE: JSON.stringify(asked) },
  });
  const [url] = (await once(child, 'message')) as [string];
  return { child, url };
}

/** The processor time of the process so far: all threads, user and system. */
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
