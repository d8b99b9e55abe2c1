import { redeliveryWindowDays } from '@call-analysis/bus';
import { pruneProcessed, WorkInProgress } from '@call-analysis/call-processing';
import { CallErased, CallFailed, CallsCanceled, TranscriptionProgressed, TranscriptReady } from '@call-analysis/events';
import { defineService } from '@call-analysis/service';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import type { EarsOptions } from './hearing/ears.ts';
import { watchEars } from './metrics.ts';
import { openEars } from './open-ears.ts';
import type { Parts } from './transcribe-call.ts';
import { openWorkDirectory } from './work-directory.ts';

export type { Config } from './config.ts';
export { speechEngine, SpeechVariables } from './engines/config.ts';
export type { LocalEngine, OtherEngine } from './engines/config.ts';

interface Replacements {
  /** Instead of parts of the configured engine. */
  readonly ears: Partial<EarsOptions>;
}

/** Rejects with ConfigFault when the engine's models are not where the configuration says. */
export const { schema, migrations, events, prepare, start } = defineService<Config, Parts, Replacements>({
  name: 'transcription',
  migrations: new URL('./prisma/migrations', import.meta.url),
  publishes: [TranscriptionProgressed, TranscriptReady, CallFailed],
  consumers,
  // One replica consumes an erasure or a cancellation for certain; another may be transcribing the call.
  listeners: [
    { event: CallErased, receive: ({ inProgress }, event) => inProgress.abort(event) },
    {
      event: CallsCanceled,
      receive({ inProgress }, { firmuuid, data }) {
        for (const call of CallsCanceled.body.parse(data).calls) inProgress.abort({ firmuuid, subject: call });
      },
    },
  ],
  // A call takes seconds to minutes to transcribe, and starting it again costs no more than waiting for it.
  handBackAfterMs: 1_000,
  async open({ config, log, db, bus, objects, closing }, { ears: replacements }) {
    const workDirectory = await openWorkDirectory(config.workDirectory);
    closing.add('work directory', () => workDirectory.close());
    const { ears, count, close } = openEars(config, replacements);
    closing.add('transcription workers', close);
    closing.add('metrics of the workers', watchEars(ears, count));
    return { db, bus, objects, ears, workDirectory, inProgress: new WorkInProgress(), log, atOnce: count };
  },
  schedules: ({ db }, { bus }) => [
    { name: 'sweep', everyMs: 3_600_000, run: () => pruneProcessed(db, redeliveryWindowDays(bus)) },
  ],
});
