import { fileURLToPath } from 'node:url';
import { openBus, prepareBus, pruneBuried, pruneClaims } from '@call-analysis/bus';
import { CallAnalyzed, CallErased, CallFailed, Language, TranscriptReady } from '@call-analysis/events';
import { openObjects } from '@call-analysis/objects';
import { migrate, openDatabase, requireMigrated } from '@call-analysis/postgres';
import { serve } from '@call-analysis/rpc';
import type { Logger, RunningService } from '@call-analysis/runtime';
import { Closing, Readiness } from '@call-analysis/runtime';
import type { Analyst } from './analyst.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { defaultScorecard } from './default-scorecard.ts';
import { dialFirms } from './firms.ts';
import { scorecardService } from './grpc.ts';
import { ruleAnalyst } from './rule-analyst.ts';
import { Shelf } from './shelf.ts';
import { openStore } from './store.ts';

export type { Config } from './config.ts';

export const schema = 'analysis';
export const migrations = fileURLToPath(new URL('./prisma/migrations', import.meta.url));

export const facts = { tells: [CallAnalyzed, CallFailed], hears: [TranscriptReady, CallErased] };

const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** Longer than any event can still be delivered again. */
const CLAIM_DAYS = 30;

const WARM_UP_AFTER_MS = 200;

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
  parts: { log: Logger; analyst?: Analyst },
): Promise<RunningService & { address: string }> {
  const { log, analyst = ruleAnalyst } = parts;
  const closing = new Closing(log);
  try {
    const db = openDatabase({ url: config.databaseUrl, schema, applicationName: 'analysis' });
    closing.add('database', () => db.close());
    await requireMigrated(db, migrations, 'npm run service -- analysis migrate');
    const store = openStore(db);
    const objects = await openObjects(config.objects, { log });
    const bus = await openBus(config.bus, { name: 'analysis', log });
    closing.add('bus', () => bus.close());
    for (const subscription of consumers({ store, bus, objects, analyst, shelf: new Shelf() }, config.retries)) {
      const subscribed = await bus.subscribe(subscription);
      closing.add(subscription.consumer, () => subscribed.stop());
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
    closing.add('rpc', () => server.stop());
    const warming = setTimeout(() => warmUp(analyst), WARM_UP_AFTER_MS);
    closing.add('warm-up', () => clearTimeout(warming));
    const timer = setInterval(() => {
      const pruned = Promise.all([pruneClaims(db, CLAIM_DAYS), pruneBuried(db, CLAIM_DAYS)]);
      pruned.catch((error: unknown) => log.error({ err: error }, 'sweep failed'));
    }, SWEEP_EVERY_MS);
    closing.add('sweep', () => clearInterval(timer));
    return { address: server.address, readiness, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
