import { fileURLToPath } from 'node:url';
import { openBus, prepareBus, redeliveryWindowDays, type Subscription } from '@call-analysis/bus';
import { WorkInProgress } from '@call-analysis/call-processing';
import { AudioExtractionRequested, CallErased, CallFailed } from '@call-analysis/events';
import { openObjects } from '@call-analysis/objects';
import { migrate, openDatabase, requireMigrated, shareConnections } from '@call-analysis/postgres';
import { ingest as ingestService } from '@call-analysis/proto';
import { dial, serve } from '@call-analysis/rpc';
import { Closing, type Logger, Readiness, type RunningService, timeLeft, type TimeLeft } from '@call-analysis/runtime';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { rpcs } from './grpc.ts';
import { sweep } from './sweep-uploads.ts';

export type { Config } from './config.ts';

export const schema = 'audio';
export const migrations = fileURLToPath(new URL('./prisma/migrations', import.meta.url));

export const facts = { publishes: [CallFailed], consumes: [AudioExtractionRequested, CallErased] };

const UPLOAD_BYTES = 52_428_800;
/** Recordings taken out of archives at the same time. */
const EXTRACTIONS = 4;
const ORPHAN_AFTER_MS = 60 * 60_000;
const SWEEP_EVERY_MS = 10 * 60_000;
/** What an extraction that is broken off takes to remove what it has written. */
const BREAKING_OFF_MS = 2_000;

/** Brings tables, queues and topics up to date; safe to do again, and by several at once. */
export async function prepare(config: Config, { log }: { log: Logger }): Promise<void> {
  await migrate({ url: config.databaseUrl, schema, folder: migrations });
  await prepareBus(config.bus, facts, { name: 'audio', log });
}

/** Starts the service on a database that has been migrated. */
export async function start(
  config: Config,
  parts: { log: Logger; left?: TimeLeft },
): Promise<RunningService & { address: string }> {
  const { log, left = timeLeft() } = parts;
  const { orphanAfterMs = ORPHAN_AFTER_MS } = config;
  const closing = new Closing(log);
  try {
    const poolSize = shareConnections(config.connections).own;
    const db = openDatabase({ url: config.databaseUrl, schema, poolSize, applicationName: 'audio' });
    closing.add('database', () => db.close());
    await requireMigrated(db, migrations, 'npm run service -- audio migrate');
    const objects = await openObjects(config.objects, { log });
    const bus = await openBus(config.bus, { name: 'audio', log });
    closing.add('bus', () => bus.close());
    const ingest = dial(ingestService, config.ingest, { name: 'ingest', tls: config.tls, log });
    closing.add('ingest client', () => ingest.close());

    const inProgress = new WorkInProgress();
    const breakOff = new AbortController();
    const options = { concurrency: EXTRACTIONS, retries: config.retries, signal: breakOff.signal };
    const subscriptions: Subscription[] = [];
    for (const subscription of consumers({ db, bus, objects, ingest, inProgress }, options)) {
      const subscribed = await bus.subscribe(subscription);
      subscriptions.push(subscribed);
      closing.add(subscription.consumer, async () => {
        const timer = setTimeout(() => breakOff.abort(new Error('The service stops.')), left());
        await subscribed.stop(left() + BREAKING_OFF_MS).finally(() => clearTimeout(timer));
      });
    }
    // One replica is told of an erasure for sure; the one that extracts the recording may be another.
    await bus.listen(CallErased, (event) => inProgress.abort(event));
    const readiness = new Readiness([
      { name: 'database', vital: true, check: () => db.query('SELECT 1') },
      { name: 'object store', vital: true, check: () => objects.ready() },
      ...(config.bus.transport === 'kafka' ? [{ name: 'kafka', vital: false, check: () => bus.ready() }] : []),
      // No upload can be registered without it, but another replica of ours would have no other ingest; the gateway asks it.
      { name: 'ingest', vital: false, check: () => ingest.ready() },
    ]);
    const server = await serve({
      address: config.listen,
      services: [rpcs({ objects, ingest, log, uploadBytes: config.uploadBytes ?? UPLOAD_BYTES, orphanAfterMs })],
      log,
      ready: () => readiness.demand(),
      tls: config.tls,
      reflection: config.reflection,
    });
    closing.add('rpc', () => server.stop(left()));
    // What is in hand has the whole time too, and nothing is taken beside it.
    closing.add('new events', () => {
      for (const each of subscriptions) void each.stop().catch(() => {});
    });

    let sweeping = Promise.resolve();
    const timer = setInterval(() => {
      const swept = sweep(
        { db, objects, ingest, claimDays: redeliveryWindowDays(config.bus) },
        orphanAfterMs,
        new Date(),
      );
      sweeping = swept.catch((error: unknown) => log.error({ err: error }, 'sweep failed'));
    }, config.sweepEveryMs ?? SWEEP_EVERY_MS);
    closing.add('sweep', async () => {
      clearInterval(timer);
      await sweeping;
    });
    return { address: server.address, readiness, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
