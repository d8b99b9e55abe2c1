import { redeliveryWindowDays } from '@call-analysis/bus';
import { pruneProcessed, WorkInProgress } from '@call-analysis/call-processing';
import { CallErased, CallsCanceled, FirmRemoved, publishedBy } from '@call-analysis/events';
import { defineService } from '@call-analysis/service';
import type { TranscriptionDeps } from './calls/transcribe-call.ts';
import { ENGINE_GIVE_UP_AFTER_MS, LONGEST_ENGINE_PAUSE_MS } from './calls/wait-for-engine.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { openWorkerPool } from './open-worker-pool.ts';
import { openOutageStore } from './store.ts';
import { openWorkDirectory } from './work-directory.ts';
import type { WorkerPoolOptions } from './workers/worker-pool.ts';

export type { Config } from './config.ts';

interface Replacements {
  /** Replaces options of the worker pool, in tests. */
  readonly workerPool: Partial<WorkerPoolOptions>;
  /** The longest time after which a call that waits for the engine is tried again. */
  readonly longestEnginePauseMs: number;
}

/** Rejects with ConfigFault when the engine's models are not where the configuration says. */
export const { schema, migrations, events, prepare, start } = defineService<Config, TranscriptionDeps, Replacements>({
  name: 'transcription',
  migrations: new URL('./prisma/migrations', import.meta.url),
  publishes: publishedBy('transcription'),
  consumers,
  firmData: ({ inProgress }) => ({
    rows: [],
    folders: (firmUuid) => [`transcripts/${firmUuid}/`],
    stop: (firmUuid) => inProgress.abortFirm(firmUuid),
  }),
  // One replica consumes an erasure or a cancellation for certain; another may be transcribing the call.
  listeners: [
    { event: CallErased, receive: ({ inProgress }, event) => inProgress.abort(event) },
    { event: FirmRemoved, receive: ({ inProgress }, { subject }) => inProgress.abortFirm(subject) },
    {
      event: CallsCanceled,
      receive({ inProgress }, { firmuuid, data }) {
        for (const call of CallsCanceled.body.parse(data).calls) inProgress.abort({ firmuuid, subject: call });
      },
    },
  ],
  // A call takes seconds to minutes to transcribe, and starting it again costs no more than waiting for it.
  handBackAfterMs: 1_000,
  async open(
    { config, log, db, bus, objects, closing },
    { workerPool, longestEnginePauseMs = LONGEST_ENGINE_PAUSE_MS },
  ) {
    const workDirectory = await openWorkDirectory(config.workDirectory);
    closing.add('work directory', () => workDirectory.close());
    const { pool, size: poolSize, close } = openWorkerPool(config, log, workerPool);
    closing.add('transcription workers', close);
    const giveUpAfterMs = (config.engine.kind !== 'local' && config.engine.giveUpAfterMs) || ENGINE_GIVE_UP_AFTER_MS;
    return {
      db,
      bus,
      objects,
      pool,
      poolSize,
      workDirectory,
      inProgress: new WorkInProgress(),
      log,
      outage: openOutageStore(db),
      waiting: { longestPauseMs: longestEnginePauseMs, giveUpAfterMs },
    };
  },
  schedules: ({ db }, { bus }) => [
    { name: 'sweep', everyMs: 3_600_000, run: () => pruneProcessed(db, redeliveryWindowDays(bus)) },
  ],
});
