import { fileURLToPath } from 'node:url';
import { openBus, prepareBus } from '@call-analysis/bus';
import { AudioExtractionRequested, CallErased, CallFailed } from '@call-analysis/events';
import { openObjects } from '@call-analysis/objects';
import { migrate, openDatabase, requireMigrated } from '@call-analysis/postgres';
import { ingest as ingestService } from '@call-analysis/proto';
import { dial, serve } from '@call-analysis/rpc';
import type { Logger, RunningService } from '@call-analysis/runtime';
import { Closing, Readiness } from '@call-analysis/runtime';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { rpcs } from './grpc.ts';
import { InHand } from './in-hand.ts';
import { sweep } from './sweep.ts';

export type { Config } from './config.ts';

export const schema = 'audio';
export const migrations = fileURLToPath(new URL('./prisma/migrations', import.meta.url));

export const facts = { tells: [CallFailed], hears: [AudioExtractionRequested, CallErased] };

const UPLOAD_BYTES = 52_428_800;
const EXTRACTIONS = 4;
const ORPHAN_AFTER_MS = 60 * 60_000;
const SWEEP_EVERY_MS = 10 * 60_000;
/** A recording of a gigabyte takes longer to extract than a process has to stop. */
const FINISH_MS = 4000;

/** Brings tables, queues and topics up to date; safe to do again, and by several at once. */
export async function prepare(config: Config, { log }: { log: Logger }): Promise<void> {
  await migrate({ url: config.databaseUrl, schema, folder: migrations });
  await prepareBus(config.bus, facts, { name: 'audio', log });
}

/** Starts the service on a database that has been migrated. */
export async function start(config: Config, parts: { log: Logger }): Promise<RunningService & { address: string }> {
  const { log } = parts;
  const { orphanAfterMs = ORPHAN_AFTER_MS } = config;
  const closing = new Closing(log);
  try {
    const db = openDatabase({ url: config.databaseUrl, schema, applicationName: 'audio' });
    closing.add('database', () => db.close());
    await requireMigrated(db, migrations, 'npm run service -- audio migrate');
    const objects = await openObjects(config.objects, { log });
    const bus = await openBus(config.bus, { name: 'audio', log });
    closing.add('bus', () => bus.close());
    const ingest = dial(ingestService, config.ingest, { name: 'ingest', tls: config.tls, log });
    closing.add('ingest client', () => ingest.close());

    const inHand = new InHand();
    const breakOff = new AbortController();
    const options = { concurrency: config.extractions ?? EXTRACTIONS, retries: config.retries, signal: breakOff.signal };
    for (const subscription of consumers({ db, bus, objects, ingest, inHand }, options)) {
      const subscribed = await bus.subscribe(subscription);
      closing.add(subscription.consumer, async () => {
        const timer = setTimeout(() => breakOff.abort(new Error('The service stops.')), FINISH_MS);
        await subscribed.stop().finally(() => clearTimeout(timer));
      });
    }
    // One replica is told of an erasure for sure; the one that extracts the recording may be another.
    await bus.listen(CallErased, ({ subject }) => inHand.breakOff(subject));
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
    closing.add('rpc', () => server.stop());

    let sweeping = Promise.resolve();
    const timer = setInterval(() => {
      const swept = sweep({ db, objects, ingest }, orphanAfterMs, new Date());
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
