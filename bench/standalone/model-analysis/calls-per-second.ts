import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrateBus, openBus, route } from '@call-analysis/bus';
import { CallAnalyzed, createEvent, type Event, TranscriptReady } from '@call-analysis/events';
import { migrate, openDatabase, provision } from '@call-analysis/postgres';
import { startServer } from '@call-analysis/postgres/server';
import { createLog } from '@call-analysis/runtime';
import { migrations, schema, start } from '../../../services/analysis/start.ts';
import { modelConfig } from '../../../services/analysis/test/model-scorecard.ts';
import { atLeast, atMost, type Figure } from '../../harness/figure.ts';

const ANSWER_MS = 2_000;
const CONCURRENCY = 50;
const WORDS = 1_500;
const MIB = 1024 ** 2;

/**
 * Calls of 1,500 words per second that the analysis service has a language model analyze, where the model takes two seconds
 * and 50 requests at a time; and what that costs this process, in which only the service runs. Publishing the calls and
 * counting the results is part of it.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-model-'));
  const model = fork(fileURLToPath(new URL('./model-server.ts', import.meta.url)), [String(ANSWER_MS)]);
  const postgres = await startServer({ directory: join(directory, 'postgres'), log: () => {} });
  try {
    const [url] = (await once(model, 'message')) as [string];
    const schemas = [schema, 'bus'].map((name) => ({ schema: name, role: name, password: 'bench' }));
    const urls = await provision({
      adminUrl: postgres.adminUrl,
      database: 'bench',
      schemas,
      members: [{ role: schema, of: 'bus' }],
    });
    return await measure({ directory, url, database: urls[schema]!, bus: urls['bus']! }, quick ? 500 : 3_000);
  } finally {
    model.disconnect();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(at: { directory: string; url: string; database: string; bus: string }, calls: number) {
  const bus = { transport: 'embedded', url: at.bus, schema: 'bus' } as const;
  await migrateBus(bus);
  await migrate({ url: at.database, schema, folder: migrations });
  const log = createLog({ name: 'bench', destination: { write() {} } });
  const service = await start(
    {
      databaseUrl: at.database,
      bus,
      objects: { store: 'disk', directory: at.directory, secret: 'a secret of at least thirty-two bytes' },
      listen: '127.0.0.1:0',
      keyManagement: '127.0.0.1:1',
      languageModel: modelConfig(at.url, { concurrency: CONCURRENCY, structured: 'json_schema', redact: true }),
    },
    { log },
  );
  const db = openDatabase({ url: at.database, schema });
  const publisher = await openBus(bus, { name: 'bench', log });
  let done = 0;
  await publisher.subscribe({
    consumer: 'bench',
    batchSize: 200,
    routes: [route({ event: CallAnalyzed, handle: async (events) => void (done += events.length) })],
  });
  const firm = randomUUID();
  const publish = async (count: number) => {
    const events = Array.from({ length: count }, () => transcriptReady(firm));
    for (let from = 0; from < count; from += 100) {
      await db.transaction((tx) => publisher.publish(tx, events.slice(from, from + 100)));
    }
  };
  const until = async (count: number) => {
    for (;;) {
      if (done >= count) return;
      await pause(20);
    }
  };
  try {
    // The first calls prepare the scorecard and the queue.
    await publish(2 * CONCURRENCY);
    await until(2 * CONCURRENCY);
    globalThis.gc?.();
    const memory = process.memoryUsage().rss;
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const processor = process.cpuUsage();
    const before = done;
    const began = performance.now();
    await publish(calls);
    // The last answers come when fewer than the allowed requests are left, so they are not counted.
    await until(before + calls - CONCURRENCY);
    const seconds = (performance.now() - began) / 1000;
    const used = process.cpuUsage(processor);
    const finished = done - before;
    delay.disable();
    await until(before + calls);
    globalThis.gc?.();
    const grown = (process.memoryUsage().rss - memory) / MIB;
    const allowed = (CONCURRENCY * 1000) / ANSWER_MS;
    return [
      atLeast(0.96, {
        name: `calls of ${WORDS} words, a server of ${ANSWER_MS / 1000} s and ${CONCURRENCY} requests`,
        value: finished / seconds,
        unit: 'calls/s',
        yardstick: { name: 'what the server allows', value: allowed },
      }),
      atMost(1, {
        name: 'meanwhile the event loop, p99',
        value: delay.percentile(99) / 1e6,
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 50 },
      }),
      atMost(1, {
        name: 'CPU of the process for each call',
        value: (used.user + used.system) / 1000 / finished,
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 5 },
      }),
      atMost(1, {
        name: `memory grown over ${calls} calls`,
        value: Math.max(0.1, grown),
        unit: 'MiB',
        yardstick: { name: 'limit, MiB', value: 50 },
      }),
    ];
  } finally {
    await publisher.close();
    await db.close();
    await service.close();
  }
}

function transcriptReady(firm: string): Event {
  const perUtterance = 15;
  const sentence = 'I am sorry about that and I will look where your parcel is right now';
  const utterances = Array.from({ length: WORDS / perUtterance }, (_, at) => ({
    role: at % 2 === 0 ? ('operator' as const) : ('client' as const),
    text: `${sentence} ${at}`,
    start: null,
    end: null,
  }));
  return createEvent(
    'bench',
    TranscriptReady,
    randomUUID(),
    { firmuuid: firm, priority: 0, traceparent: undefined },
    {
      attempt: 1,
      source: 'transcription',
      duration: 600,
      language: 'en',
      tags: ['operator', 'client'],
      segment_type: 'support',
      transcript: { utterances },
    },
  );
}
