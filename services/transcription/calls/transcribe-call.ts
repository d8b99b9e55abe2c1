import type { Readable } from 'node:stream';
import {
  alreadyClaimed,
  type Bus,
  type Consuming,
  type FailureReason,
  type GiveUpResult,
  Poison,
} from '@call-analysis/bus';
import {
  failCall,
  findErased,
  giveUpCall,
  onceUnlessErased,
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
  type Utterance,
} from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { counter, type Logger } from '@call-analysis/runtime';
import type { Registered } from '@call-analysis/service';
import { conversationOf } from '../domain.ts';
import type { WorkDirectory } from '../work-directory.ts';
import type { TranscriptionWorkerPool } from '../workers/worker-pool.ts';
import { isEngineAway, waitForEngine, type WaitingDeps } from './wait-for-engine.ts';

const SHARE = 0.1;
const MIN_PAUSE_MS = 5_000;

/**
 * Publishes how much of a recording is transcribed: at the start, then at each tenth, but at most once in five seconds.
 * Only `end` waits for publishing. A report that cannot be published is logged and does not fail the transcription.
 */
export function progressReporter(
  duration: number,
  publish: (seconds: number) => Promise<void>,
  log: Logger,
  now: () => number = Date.now,
) {
  let reported = 0;
  let reportedAt = now();
  let publishing: Promise<void> = Promise.resolve();

  function report(seconds: number): void {
    reported = seconds;
    reportedAt = now();
    publishing = publishing
      .then(() => publish(Math.round(seconds * 100) / 100))
      .catch((error: unknown) => log.warn({ err: error }, 'progress could not be published'));
  }

  return {
    start: () => report(0),
    /** `seconds` of the recording are transcribed. */
    advance(seconds: number) {
      const done = Math.min(seconds, duration);
      if (done - reported >= SHARE * duration && done < duration && now() - reportedAt >= MIN_PAUSE_MS) report(done);
    },
    /** Resolves when all reports have been published or have failed. */
    end: () => publishing,
  };
}

type AudioStoredEvent = Event<BodyOf<typeof AudioStored>>;

export interface TranscriptionDeps extends WaitingDeps {
  readonly objects: Objects;
  readonly pool: Pick<TranscriptionWorkerPool, 'transcribe'>;
  /** Recordings that the pool transcribes at the same time. */
  readonly poolSize: number;
  readonly workDirectory: WorkDirectory;
  readonly inProgress: WorkInProgress;
  readonly log: Logger;
}

type Deps = TranscriptionDeps & Registered;

const SOURCE = 'transcription';

/**
 * Transcribes a call's recording and publishes the transcript, once per event however often it is delivered. When the
 * call is erased meanwhile, the transcription stops and nothing is published.
 */
export async function transcribeCall(deps: Deps, event: AudioStoredEvent): Promise<void> {
  const { db, objects, inProgress, consumer } = deps;
  // An event may be delivered again long after, for example when a consumer group's offsets are lost.
  if ((await alreadyClaimed(db, consumer, [event])).size > 0) return;
  const isErased = async () => (await findErased(db, [event])).size > 0;
  await inProgress.run(event, async (erased) => {
    let isWanted = !(await isErased());
    try {
      isWanted &&= await transcribe(deps, event, erased);
    } catch (error) {
      isWanted = false;
      // If the database does not answer either, for example because the service stops, the first error is more useful.
      if (!erased.aborted && !(await isErased().catch(() => false))) {
        if (isEngineAway(error)) await waitForEngine(deps, event, error);
        if (!isOfCall(error)) throw error;
        await failCall(deps, FAILURE, event, error);
      }
    }
    if (!isWanted) await removePackedTranscripts(objects, event.firmuuid, event.subject);
  });
}

const transcribed = counter(
  'transcribed_audio_seconds_total',
  'Length of the recordings that were transcribed completely.',
  [],
);

/** False when the call has been erased. */
async function transcribe(deps: Deps, event: AudioStoredEvent, erased: AbortSignal): Promise<boolean> {
  const { db, bus, pool, objects, workDirectory, log, outage } = deps;
  const { key, format, duration, left, right, attempt, segment_type, operator_name, direction, start_time } =
    event.data;
  const startedAt = performance.now();
  const progress = progressReporter(
    duration,
    async (seconds) => {
      const body = { attempt, heard: seconds, duration };
      const progressed = createEvent(SOURCE, TranscriptionProgressed, event.subject, event, body);
      await db.transaction((tx) => bus.publish(tx, [progressed]));
    },
    log,
  );
  progress.start();
  const recording = await refusedIsPoison(async () =>
    workDirectory.withFile(await open(objects, key), (file) =>
      pool.transcribe({ file, format, duration, onProgress: (seconds) => progress.advance(seconds), signal: erased }),
    ),
  ).finally(() => progress.end());
  transcribed.of().add(recording.duration);
  const { utterances: said, notes } = conversationOf(recording, { left, right });
  // Consumers store what is published.
  const utterances = event.data.redact === true ? await redacted(said) : said;
  const ready = createEvent(SOURCE, TranscriptReady, event.subject, event, {
    attempt,
    source: 'audio',
    duration: Math.round(recording.duration * 100) / 100,
    language: recording.language,
    tags: [],
    segment_type,
    operator_name,
    direction,
    start_time,
    ...(recording.engine === null
      ? {}
      : { engine: recording.engine, speech_seconds: Math.round(recording.speechSeconds * 1000) / 1000 }),
    ...(notes.length === 0 ? {} : { notes }),
    transcript: await packTranscript(
      objects,
      { firmUuid: event.firmuuid, callUuid: event.subject, attempt },
      utterances,
    ),
  });
  const erasedMeanwhile = await onceUnlessErased(deps, [event], async (tx) => {
    await bus.publish(tx, [ready]);
    if (recording.engine !== null) await outage.end(tx);
  });
  if (erasedMeanwhile.size > 0) return false;
  const seconds = Math.round(performance.now() - startedAt) / 1000;
  log.info({ call: event.subject, duration, seconds, utterances: utterances.length }, 'a call was transcribed');
  return true;
}

async function redacted(said: readonly Utterance[]): Promise<Utterance[]> {
  // Loaded only for firms that want it.
  const { redact } = await import('@call-analysis/redaction');
  return said.map((each) => ({ ...each, text: redact(each.text).text }));
}

async function open(objects: Objects, key: string): Promise<Readable> {
  try {
    return await objects.open(key);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'NOT_FOUND') throw error;
    throw new Poison('RECORDING_MISSING', "The call's recording is not in the object store.", error);
  }
}

/** Turns refusals that do not come from the recording itself into Poison: a retry would fail too. */
async function refusedIsPoison<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isOfCall(error) && error instanceof Fault && error.kind === 'invalid')
      throw new Poison(error.code, error.message, error);
    throw error;
  }
}

/** Codes that describe the recording. A retry would only repeat them. */
const PERMANENT_CODES = new Set(['AUDIO_UNREADABLE', 'INVALID_FILE_FORMAT']);
/** Codes that describe what was recorded. LANGUAGE_NOT_SUPPORTED: a retry helps once the engine has a model for the language. */
const CODES_OF_CALL = new Set([...PERMANENT_CODES, 'LANGUAGE_NOT_SUPPORTED']);

const FAILURE = {
  source: 'transcription',
  stage: 'transcription',
  what: 'Transcription',
  permanentCodes: PERMANENT_CODES,
} as const;

/** Whether the call fails because of its recording: a result, and no incident of ours. */
function isOfCall(error: unknown): error is Fault {
  return error instanceof Fault && CODES_OF_CALL.has(error.code);
}

/** Publishes that a call could not be transcribed, and why. */
export async function giveUpTranscription(
  parts: Consuming & { readonly bus: Bus },
  event: Event,
  reason: FailureReason,
): Promise<GiveUpResult> {
  return giveUpCall(parts, FAILURE, event, reason);
}
