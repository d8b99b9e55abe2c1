import { fileURLToPath } from 'node:url';
import { openBus, prepareBus, redeliveryWindowDays, type Subscription } from '@call-analysis/bus';
import {
  AudioExtractionRequested,
  AudioStored,
  CallAnalyzed,
  CallErased,
  CallFailed,
  CallsAccepted,
  CallsCanceled,
  AuditEntryCreated,
  RetryRequested,
  TranscriptionProgressed,
  TranscriptReady,
} from '@call-analysis/events';
import { openObjects } from '@call-analysis/objects';
import { migrate, openDatabase, requireMigrated, shareConnections } from '@call-analysis/postgres';
import { serve } from '@call-analysis/rpc';
import { Closing, type Logger, Readiness, type RunningService, timeLeft, type TimeLeft } from '@call-analysis/runtime';
import { maintainCampaigns } from './campaigns/maintain-campaigns.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { dialFirms } from './firms.ts';
import { rpcs } from './grpc.ts';
import { watchCalls } from './metrics.ts';
import { runIndexer } from './search/indexer/run-indexer.ts';
import { openStore } from './store/index.ts';
import { sweep } from './sweep.ts';

export type { Config } from './config.ts';
export { defaultLimits, type Limits, limitsFrom, LimitVariables } from './limits.ts';

export const schema = 'ingest';
export const migrations = fileURLToPath(new URL('./prisma/migrations', import.meta.url));

export const facts = {
  publishes: [
    AudioExtractionRequested,
    AudioStored,
    TranscriptReady,
    CallsAccepted,
    CallErased,
    CallsCanceled,
    AuditEntryCreated,
  ],
  consumes: [
    CallsAccepted,
    TranscriptionProgressed,
    TranscriptReady,
    CallAnalyzed,
    CallFailed,
    CallErased,
    RetryRequested,
  ],
};

const SWEEP_EVERY_MS = 10 * 60 * 1000;
const TEND_EVERY_MS = 5_000;
/** A handler that is nearly done may end, even when the time is over. */
const LEAST_MS = 500;

/** Brings tables, queues and topics up to date; safe to do again, and by several at once. */
export async function prepare(config: Config, { log }: { log: Logger }): Promise<void> {
  await migrate({ url: config.databaseUrl, schema, folder: migrations });
  await prepareBus(config.bus, facts, { name: 'ingest', log });
}

/** Starts the service on a database that has been migrated. */
export async function start(
  config: Config,
  parts: { log: Logger; left?: TimeLeft },
): Promise<RunningService & { address: string }> {
  const { log, left = timeLeft() } = parts;
  const closing = new Closing(log);
  try {
    const { own: poolSize, long: intakes } = shareConnections(config.connections);
    const db = openDatabase({ url: config.databaseUrl, schema, poolSize, applicationName: 'ingest' });
    closing.add('database', () => db.close());
    await requireMigrated(db, migrations, 'npm run service -- ingest migrate');
    closing.add('metrics of the calls', watchCalls(db));
    const store = openStore(db, config.databaseUrl, { intakes });
    closing.add('store', () => store.close());
    const objects = await openObjects(config.objects, { log });
    const bus = await openBus(config.bus, { name: 'ingest', log });
    closing.add('bus', () => bus.close());
    const firms = dialFirms(config.keyManagement, { tls: config.tls, log });
    closing.add('key-management client', () => firms.close());

    const subscriptions: Subscription[] = [];
    for (const subscription of consumers({ store, bus, objects }, config.retries)) {
      const subscribed = await bus.subscribe(subscription);
      subscriptions.push(subscribed);
      closing.add(subscription.consumer, () => subscribed.stop(left(LEAST_MS)));
    }
    const readiness = new Readiness([
      { name: 'database', vital: true, check: () => db.query('SELECT 1') },
      { name: 'object store', vital: true, check: () => objects.ready() },
      ...(config.bus.transport === 'kafka' ? [{ name: 'kafka', vital: false, check: () => bus.ready() }] : []),
      // Lists, uploads and results need no firm; only what is taken in does, and is refused meanwhile.
      { name: 'key-management', vital: false, check: () => firms.ready() },
    ]);
    const server = await serve({
      address: config.listen,
      services: [rpcs({ store, bus, objects, firms, limits: config.limits })],
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

    const claimDays = redeliveryWindowDays(config.bus);
    let sweeping = Promise.resolve();
    const timer = setInterval(() => {
      sweeping = sweep({ store, objects, claimDays }, new Date()).catch((error: unknown) =>
        log.error({ err: error }, 'sweep failed'),
      );
    }, SWEEP_EVERY_MS);
    closing.add('sweep', async () => {
      clearInterval(timer);
      await sweeping;
    });
    const indexing = runIndexer(store, log);
    closing.add('index of calls', () => indexing.stop());
    let tending = Promise.resolve();
    const tender = setInterval(() => {
      tending = maintainCampaigns({ store, bus }).catch((error: unknown) =>
        log.error({ err: error }, 'tending campaigns failed'),
      );
    }, TEND_EVERY_MS);
    closing.add('campaigns', async () => {
      clearInterval(tender);
      await tending;
    });
    return { address: server.address, readiness, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
