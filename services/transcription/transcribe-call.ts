import { Readable } from 'node:stream';
import type { Bus, InHand } from '@call-analysis/bus';
import { buried, claim, claimedBefore, Poison } from '@call-analysis/bus';
import type { AudioStored, BodyOf, Event, EventType, Utterance } from '@call-analysis/events';
import { INLINE_BYTES, TranscriptionProgressed, TranscriptReady } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Database } from '@call-analysis/postgres';
import type { Logger } from '@call-analysis/runtime';
import { v7 as uuidv7 } from 'uuid';
import { conversationOf } from './domain.ts';
import type { Ears } from './hearing/ears.ts';
import { countHeard } from './metrics.ts';
import { removeTranscripts } from './remove-transcripts.ts';
import { reporting } from './report-progress.ts';
import type { WorkDirectory } from './work-directory.ts';

type Stored = Event<BodyOf<typeof AudioStored>>;

export interface Parts {
  readonly db: Database;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly ears: Pick<Ears, 'hear'>;
  readonly workDirectory: WorkDirectory;
  readonly inHand: InHand;
  readonly log: Logger;
}

export const CONSUMER = 'transcription';

/**
 * Hears the recording of a call and tells what was said, once, however often the event comes. When the call is erased
 * meanwhile, hearing stops and nothing is told.
 */
export async function transcribeCall(parts: Parts, event: Stored): Promise<void> {
  const { db, objects, inHand } = parts;
  // It may come again long after, when how far facts were read is forgotten.
  if ((await claimedBefore(db, CONSUMER, [event.id])).size > 0) return;
  const isErased = async () => (await buried(db, [event])).size > 0;
  await inHand.run(event, async (erased) => {
    let isWanted = !(await isErased());
    try {
      isWanted &&= await transcribe(parts, event, erased);
    } catch (error) {
      isWanted = false;
      if (!erased.aborted && !(await isErased())) throw error;
    }
    if (!isWanted) await removeTranscripts(objects, event);
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
      const fact = factOf(TranscriptionProgressed, event, { attempt, heard, duration });
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
  const ready = factOf(TranscriptReady, event, {
    attempt,
    source: 'audio',
    duration: Math.round(recording.duration * 100) / 100,
    language: recording.language,
    tags: [],
    segment_type,
    ...(recording.engine === null ? {} : { engine: recording.engine }),
    ...(notes.length === 0 ? {} : { notes }),
    transcript: await carried(objects, event, utterances),
  });
  const isWanted = await db.transaction(async (tx) => {
    if ((await buried(tx, [event])).size > 0) return false;
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

async function carried(objects: Objects, event: Stored, utterances: Utterance[]) {
  const json = JSON.stringify({ utterances });
  if (Buffer.byteLength(json) <= INLINE_BYTES) return { utterances };
  const key = `transcripts/${event.firmuuid}/${event.subject}/${event.data.attempt}.json`;
  await objects.put(key, Readable.from([json]));
  return { key };
}

function factOf<Body>(type: EventType<Body>, cause: Event, data: Body): Event<Body> {
  const { subject, firmuuid, turn, traceparent } = cause;
  return {
    id: uuidv7(),
    source: 'transcription',
    type: type.type,
    time: new Date().toISOString(),
    subject,
    firmuuid,
    turn,
    traceparent,
    data,
  };
}
