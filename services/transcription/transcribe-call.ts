import type { Readable } from 'node:stream';
import { alreadyClaimed, type Bus, claim, Poison } from '@call-analysis/bus';
import {
  findErased,
  packTranscript,
  removePackedTranscripts,
  type WorkInProgress,
} from '@call-analysis/call-processing';
import {
  type AudioStored,
  type BodyOf,
  createEvent,
  type Event,
  TranscriptionProgressed,
  TranscriptReady,
} from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Database } from '@call-analysis/postgres';
import type { Logger } from '@call-analysis/runtime';
import { conversationOf } from './domain.ts';
import type { Ears } from './hearing/ears.ts';
import { countHeard } from './metrics.ts';
import { reporting } from './report-progress.ts';
import type { WorkDirectory } from './work-directory.ts';

type Stored = Event<BodyOf<typeof AudioStored>>;

export interface Parts {
  readonly db: Database;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly ears: Pick<Ears, 'hear'>;
  readonly workDirectory: WorkDirectory;
  readonly inProgress: WorkInProgress;
  readonly log: Logger;
  /** Recordings that can be transcribed at the same time. */
  readonly atOnce: number;
}

export const CONSUMER = 'transcription';
const SOURCE = 'transcription';

/**
 * Hears the recording of a call and tells what was said, once, however often the event comes. When the call is erased
 * meanwhile, hearing stops and nothing is told.
 */
export async function transcribeCall(parts: Parts, event: Stored): Promise<void> {
  const { db, objects, inProgress } = parts;
  // It may come again long after, when how far facts were read is forgotten.
  if ((await alreadyClaimed(db, CONSUMER, [event.id])).size > 0) return;
  const isErased = async () => (await findErased(db, [event])).size > 0;
  await inProgress.run(event, async (erased) => {
    let isWanted = !(await isErased());
    try {
      isWanted &&= await transcribe(parts, event, erased);
    } catch (error) {
      isWanted = false;
      if (!erased.aborted && !(await isErased())) throw error;
    }
    if (!isWanted) await removePackedTranscripts(objects, event.firmuuid, event.subject);
  });
}

/** False when the call has been erased. */
async function transcribe(parts: Parts, event: Stored, erased: AbortSignal): Promise<boolean> {
  const { db, bus, ears, objects, workDirectory, log } = parts;
  const { key, format, duration, left, right, attempt, segment_type } = event.data;
  const began = performance.now();
  const progress = reporting(
    duration,
    async (heard) => {
      const fact = createEvent(SOURCE, TranscriptionProgressed, event.subject, event, { attempt, heard, duration });
      await db.transaction((tx) => bus.publish(tx, [fact]));
    },
    log,
  );
  progress.begin();
  const recording = await orPoison(async () =>
    workDirectory.withFile(await open(objects, key), (file) =>
      ears.hear({ file, format, duration, onProgress: (heard) => progress.heard(heard), signal: erased }),
    ),
  ).finally(() => progress.end());
  countHeard(recording.duration);
  const { utterances, notes } = conversationOf(recording, { left, right });
  const ready = createEvent(SOURCE, TranscriptReady, event.subject, event, {
    attempt,
    source: 'audio',
    duration: Math.round(recording.duration * 100) / 100,
    language: recording.language,
    tags: [],
    segment_type,
    ...(recording.engine === null ? {} : { engine: recording.engine }),
    ...(notes.length === 0 ? {} : { notes }),
    transcript: await packTranscript(
      objects,
      { firmUuid: event.firmuuid, callUuid: event.subject, attempt },
      utterances,
    ),
  });
  const isWanted = await db.transaction(async (tx) => {
    if ((await findErased(tx, [event])).size > 0) return false;
    const claimed = await claim(tx, CONSUMER, [event.id]);
    if (claimed.size > 0) await bus.publish(tx, [ready]);
    return true;
  });
  if (!isWanted) return false;
  const seconds = Math.round(performance.now() - began) / 1000;
  log.info({ call: event.subject, duration, seconds, utterances: utterances.length }, 'a call was heard');
  return true;
}

async function open(objects: Objects, key: string): Promise<Readable> {
  try {
    return await objects.open(key);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'NOT_FOUND') throw error;
    throw new Poison('RECORDING_MISSING', 'The recording of the call is not in the store.', error);
  }
}

/** What is invalid once will be so every time. */
async function orPoison<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid') throw new Poison(error.code, error.message, error);
    throw error;
  }
}
