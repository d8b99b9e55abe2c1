import { fileURLToPath } from 'node:url';
import { openBus, prepareBus, pruneClaims, redeliveryWindowDays, type Subscription } from '@call-analysis/bus';
import { pruneTombstones } from '@call-analysis/call-processing';
import { CallAnalyzed, CallErased, CallFailed, Language, TranscriptReady } from '@call-analysis/events';
import { openObjects } from '@call-analysis/objects';
import { migrate, openDatabase, requireMigrated, shareConnections } from '@call-analysis/postgres';
import { serve } from '@call-analysis/rpc';
import { Closing, type Logger, Readiness, type RunningService, timeLeft, type TimeLeft } from '@call-analysis/runtime';
import type { Analyst } from './analysts/analyst.ts';
import { ruleAnalyst } from './analysts/rule-analyst.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { dialFirms } from './firms.ts';
import { scorecardService } from './grpc.ts';
import { defaultScorecard } from './scorecards/default-scorecard.ts';
import { ScorecardCache } from './scorecards/scorecard-cache.ts';
import { openStore } from './store.ts';

export type { Config } from './config.ts';

export const schema = 'analysis';
export const migrations = fileURLToPath(new URL('./prisma/migrations', import.meta.url));

export const facts = { publishes: [CallAnalyzed, CallFailed], consumes: [TranscriptReady, CallErased] };

const SWEEP_EVERY_MS = 60 * 60 * 1000;

const WARM_UP_AFTER_MS = 200;
/** A handler that is nearly done may end, even when the time is over. */
const LEAST_MS = 500;

/** The first call of a language waits 30 to 150 ms for its phrases to be compiled; this is done before anyone calls. */
function warmUp(analyst: Analyst): void {
  for (const language of Language.options) {
    const utterances = [{ role: 'operator' as const, text: 'a', start: null, end: null }];
    const conversation = { language, tags: [], segmentType: '', duration: null, utterances };
    setImmediate(() => void analyst.analyze(conversation, defaultScorecard).catch(() => {}));
  }
}

/** Brings tables, queues and topics up to date; safe to do again, and by several at once. */
export async function prepare(config: Config, { log }: { log: Logger }): Promise<void> {
  await migrate({ url: config.databaseUrl, schema, folder: migrations });
  await prepareBus(config.bus, facts, { name: 'analysis', log });
}

/** Starts the service on a database that has been migrated. `analyst` stands in for the one that the configuration names. */
export async function start(
  config: Config,
  parts: { log: Logger; left?: TimeLeft; analyst?: Analyst },
): Promise<RunningService & { address: string }> {
  const { log, left = timeLeft(), analyst = ruleAnalyst } = parts;
  const closing = new Closing(log);
  try {
    const poolSize = shareConnections(config.connections).own;
    const db = openDatabase({ url: config.databaseUrl, schema, poolSize, applicationName: 'analysis' });
    closing.add('database', () => db.close());
    await requireMigrated(db, migrations, 'npm run service -- analysis migrate');
    const store = openStore(db);
    const objects = await openObjects(config.objects, { log });
    const bus = await openBus(config.bus, { name: 'analysis', log });
    closing.add('bus', () => bus.close());
    const subscriptions: Subscription[] = [];
    for (const subscription of consumers(
      { store, bus, objects, analyst, scorecardCache: new ScorecardCache() },
      config.retries,
    )) {
      const subscribed = await bus.subscribe(subscription);
      subscriptions.push(subscribed);
      closing.add(subscription.consumer, () => subscribed.stop(left(LEAST_MS)));
    }
    const firms = dialFirms(config.keyManagement, { tls: config.tls, log });
    closing.add('key-management client', () => firms.close());
    const readiness = new Readiness([
      { name: 'database', vital: true, check: () => db.query('SELECT 1') },
      { name: 'object store', vital: true, check: () => objects.ready() },
      ...(config.bus.transport === 'kafka' ? [{ name: 'kafka', vital: false, check: () => bus.ready() }] : []),
      // Calls are scored without it; only new scorecards wait.
      { name: 'key-management', vital: false, check: () => firms.ready() },
    ]);
    const server = await serve({
      address: config.listen,
      services: [scorecardService({ store, firms })],
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
    const warming = setTimeout(() => warmUp(analyst), WARM_UP_AFTER_MS);
    closing.add('warm-up', () => clearTimeout(warming));
    const claimDays = redeliveryWindowDays(config.bus);
    const timer = setInterval(() => {
      const pruned = Promise.all([pruneClaims(db, claimDays), pruneTombstones(db, claimDays)]);
      pruned.catch((error: unknown) => log.error({ err: error }, 'sweep failed'));
    }, SWEEP_EVERY_MS);
    closing.add('sweep', () => clearInterval(timer));
    return { address: server.address, readiness, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
