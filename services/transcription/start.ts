import { fileURLToPath } from 'node:url';
import { redeliveryWindowDays, openBus, prepareBus, pruneClaims } from '@call-analysis/bus';
import { WorkInProgress, pruneTombstones } from '@call-analysis/call-processing';
import {
  AudioStored,
  CallErased,
  CallFailed,
  CallsCanceled,
  TranscriptionProgressed,
  TranscriptReady,
} from '@call-analysis/events';
import { openObjects } from '@call-analysis/objects';
import { migrate, openDatabase, requireMigrated, shareConnections } from '@call-analysis/postgres';
import { Closing, type Logger, Readiness, type RunningService, type TimeLeft } from '@call-analysis/runtime';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { watchWorkerPool } from './metrics.ts';
import { openWorkerPool } from './open-worker-pool.ts';
import { openWorkDirectory } from './work-directory.ts';
import type { WorkerPoolOptions } from './workers/worker-pool.ts';

export type { Config } from './config.ts';
export { speechEngine, SpeechVariables } from './engines/config.ts';
export type { LocalEngine, OtherEngine } from './engines/config.ts';

export const schema = 'transcription';
export const migrations = fileURLToPath(new URL('./prisma/migrations', import.meta.url));

export const facts = {
  publishes: [TranscriptionProgressed, TranscriptReady, CallFailed],
  consumes: [AudioStored, CallErased, CallsCanceled],
};

const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** A call takes seconds to minutes to hear, and hearing it again costs no more than waiting for it. */
const CLOSE_WITHIN_MS = 1_000;

/** Brings tables, queues and topics up to date; safe to do again, and by several at once. */
export async function prepare(config: Config, { log }: { log: Logger }): Promise<void> {
  await migrate({ url: config.databaseUrl, schema, folder: migrations });
  await prepareBus(config.bus, facts, { name: 'transcription', log });
}

/**
 * Starts the service on a database that has been migrated. ConfigFault when the engine's models are not where the
 * configuration says. `workerPool` replaces options of the pool, in tests.
 */
export async function start(
  config: Config,
  // A call that is being heard goes back at once: see CLOSE_WITHIN_MS.
  parts: { log: Logger; left?: TimeLeft; workerPool?: Partial<WorkerPoolOptions> },
): Promise<RunningService> {
  const { log } = parts;
  const closing = new Closing(log);
  try {
    const workDirectory = await openWorkDirectory(config.workDirectory);
    closing.add('work directory', () => workDirectory.close());
    const poolSize = shareConnections(config.connections).own;
    const db = openDatabase({ url: config.databaseUrl, schema, poolSize, applicationName: 'transcription' });
    closing.add('database', () => db.close());
    await requireMigrated(db, migrations, 'npm run service -- transcription migrate');
    const { pool, size, close } = openWorkerPool(config, parts.workerPool);
    closing.add('worker pool', close);
    closing.add('metrics of the worker pool', watchWorkerPool(pool, size));
    const objects = await openObjects(config.objects, { log });
    const bus = await openBus(config.bus, { name: 'transcription', log, closeWithinMs: CLOSE_WITHIN_MS });
    // Closed before the worker pool: what is in hand goes back untried first, and is not counted as a failure then.
    closing.add('bus', () => bus.close());
    const inProgress = new WorkInProgress();
    const work = { db, bus, objects, pool, workDirectory, inProgress, log };
    for (const subscription of consumers(work, size, config.retries)) await bus.subscribe(subscription);
    // One replica is told of an erasure or a cancel for sure; the one that hears the call may be another.
    await bus.listen(CallErased, (event) => inProgress.abort(event));
    await bus.listen(CallsCanceled, ({ firmuuid, data }) => {
      for (const call of CallsCanceled.body.parse(data).calls) inProgress.abort({ firmuuid, subject: call });
    });
    const claimDays = redeliveryWindowDays(config.bus);
    const timer = setInterval(() => {
      const pruned = Promise.all([pruneClaims(db, claimDays), pruneTombstones(db, claimDays)]);
      pruned.catch((error: unknown) => log.error({ err: error }, 'sweep failed'));
    }, SWEEP_EVERY_MS);
    closing.add('sweep', () => clearInterval(timer));
    const readiness = new Readiness([
      { name: 'database', vital: true, check: () => db.query('SELECT 1') },
      { name: 'object store', vital: true, check: () => objects.ready() },
      ...(config.bus.transport === 'kafka' ? [{ name: 'kafka', vital: false, check: () => bus.ready() }] : []),
    ]);
    return { readiness, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
