import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { migrateBus } from '@call-analysis/bus';
import { migrate, provision } from '@call-analysis/postgres';
import { startServer } from '@call-analysis/postgres/server';
import { createLog } from '@call-analysis/runtime';
import { migrations, schema, start } from '../../../services/analysis/start.ts';
import { modelConfig } from '../../../services/analysis/test/model-scorecard.ts';
import { atLeast, atMost, type Figure } from '../../harness/figure.ts';
import { type Order, type Traffic, WORDS } from './traffic.ts';

const ANSWER_MS = 2_000;
const CONCURRENCY = 50;
/** After these the memory of the process has its size. */
const WARM_UP_CALLS = 2_000;
const MIB = 1024 ** 2;

/**
 * Calls of 1,500 words per second that the analysis service has a language model analyze, where the model takes two seconds
 * and 50 requests at a time; and, where it answers immediately, what a call costs this process, in which the service runs
 * alone: reading the event, the prompt, the request, checking the answer and storing it.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-model-'));
  const [slow, fast] = [ANSWER_MS, 0].map((answerMs) => fork(program('./model-server.ts'), [String(answerMs)]));
  const postgres = await startServer({ directory: join(directory, 'postgres'), log: () => {} });
  try {
    const [[slowUrl], [fastUrl]] = await Promise.all([once(slow!, 'message'), once(fast!, 'message')]);
    const schemas = [schema, 'bus'].map((name) => ({ schema: name, role: name, password: 'bench' }));
    const urls = await provision({
      adminUrl: postgres.adminUrl,
      database: 'bench',
      schemas,
      members: [{ role: schema, of: 'bus' }],
    });
    const at = { database: urls[schema]!, bus: urls['bus']! };
    await migrateBus({ url: at.bus, schema: 'bus' });
    await migrate({ url: at.database, schema, folder: migrations });
    return [
      ...(await measureSpeed({ ...at, directory, model: slowUrl as string }, quick ? 500 : 3_000)),
      ...(await measureCost({ ...at, directory, model: fastUrl as string }, quick ? 1_500 : 20_000)),
    ];
  } finally {
    slow!.disconnect();
    fast!.disconnect();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Place extends Traffic {
  readonly directory: string;
  readonly model: string;
}

async function measureSpeed(place: Place, calls: number): Promise<Figure[]> {
  return withService(place, async (calling) => {
    await calling.analyze(2 * CONCURRENCY);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const before = calling.done();
    const began = performance.now();
    calling.publish(calls);
    // The last answers come when fewer than the allowed requests are left, so they are not counted.
    await calling.until(before + calls - CONCURRENCY);
    const seconds = (performance.now() - began) / 1000;
    const finished = calling.done() - before;
    delay.disable();
    await calling.until(before + calls);
    return [
      atLeast(0.96, {
        name: `calls of ${WORDS} words, a server of ${ANSWER_MS / 1000} s and ${CONCURRENCY} requests`,
        value: finished / seconds,
        unit: 'calls/s',
        yardstick: { name: 'what the server allows', value: (CONCURRENCY * 1000) / ANSWER_MS },
      }),
      atMost(1, {
        name: 'meanwhile the event loop, p99',
        value: delay.percentile(99) / 1e6,
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 50 },
      }),
    ];
  });
}

async function measureCost(place: Place, calls: number): Promise<Figure[]> {
  return withService(place, async (calling) => {
    // Node.js takes its time to compile what is hot, and to find the size of its young generation.
    await calling.analyze(WARM_UP_CALLS);
    const before = memory();
    const processor = process.cpuUsage();
    await calling.analyze(calls);
    const used = process.cpuUsage(processor);
    const after = memory();
    return [
      atMost(1, {
        name: 'CPU of the process for each call, with a server that answers immediately',
        value: (used.user + used.system) / 1000 / calls,
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 5 },
      }),
      atMost(1, {
        name: `memory growth over ${calls.toLocaleString('en')} calls`,
        value: Math.max(0.1, after.resident - before.resident),
        unit: 'MiB',
        yardstick: { name: 'limit, MiB', value: 50 },
      }),
      atMost(1, {
        name: 'of this growth, objects still in use',
        value: Math.max(0.1, after.used - before.used),
        unit: 'MiB',
        yardstick: { name: 'limit, MiB', value: 5 },
      }),
    ];
  });
}

/** After a garbage collection, in MiB. */
function memory(): { resident: number; used: number } {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { rss, heapUsed } = process.memoryUsage();
  return { resident: rss / MIB, used: heapUsed / MIB };
}

/** Publishes calls and knows how many were analyzed. */
interface Calling {
  publish(calls: number): void;
  done(): number;
  until(done: number): Promise<void>;
  analyze(calls: number): Promise<void>;
}

async function withService<Result>(
  { directory, model, database, bus }: Place,
  use: (calling: Calling) => Promise<Result>,
): Promise<Result> {
  const log = createLog({ name: 'bench', destination: { write() {} } });
  const service = await start(
    {
      databaseUrl: database,
      bus: { transport: 'embedded', url: bus, schema: 'bus' },
      objects: { store: 'disk', directory, secret: 'a secret of at least thirty-two bytes' },
      listen: '127.0.0.1:0',
      keyManagement: '127.0.0.1:1',
      languageModel: modelConfig(model, { concurrency: CONCURRENCY, structured: 'json_schema', redact: true }),
    },
    { log },
  );
  const traffic = fork(program('./traffic.ts'), [JSON.stringify({ database, bus } satisfies Traffic)]);
  try {
    return await use(await callingWith(traffic));
  } finally {
    const ended = once(traffic, 'exit');
    traffic.send('close' satisfies Order);
    await ended;
    await service.close();
  }
}

async function callingWith(traffic: ChildProcess): Promise<Calling> {
  let done = 0;
  await once(traffic, 'message');
  traffic.on('message', (count) => (done = Number(count)));
  const publish = (calls: number) => void traffic.send({ publish: calls } satisfies Order);
  const until = async (count: number) => {
    for (;;) {
      if (done >= count) return;
      await pause(20);
    }
  };
  return {
    publish,
    done: () => done,
    until,
    async analyze(calls) {
      const count = done + calls;
      publish(calls);
      await until(count);
    },
  };
}

function program(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
