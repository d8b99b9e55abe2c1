import type { BodyOf, Event, EventOrigin, TranscriptReady } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql, Transaction } from '@call-analysis/postgres';
import { type Actor, auditEntry, type Publishing } from '@call-analysis/service';
import { transcribedRecordingReady, uploadedTranscriptReady } from '../calls/call-events.ts';
import { type CallRow, removedAt } from '../calls/call-row.ts';
import type { Calls } from '../calls/call-store.ts';
import type { Recordings } from '../calls/recording-store.ts';
import type { Transcripts } from '../calls/transcript-store.ts';
import type { Reviews } from '../reviews/review-store.ts';

export interface AnalyzeDeps extends Publishing {
  readonly calls: Calls;
  readonly transcripts: Transcripts;
  readonly objects: Objects;
}

interface AnalyzeOptions {
  readonly priority?: number;
  /** Null for the active scorecard of the call's segment type. */
  readonly scorecardUuid?: string | null;
  /** Runs last in the transaction. */
  readonly within?: (tx: Sql) => Promise<void>;
}

/**
 * Requests a new analysis of a call with a scorecard, or the one that is now in force. Earlier analyses are kept. Fault
 * INVALID_TRANSITION while the call is being processed, and when it has no transcript.
 */
export async function analyzeCall(
  deps: AnalyzeDeps,
  firmUuid: string,
  callUuid: string,
  { within, ...options }: AnalyzeOptions = {},
): Promise<CallRow> {
  return deps.db.transaction(async (tx) => {
    const call = await deps.calls.lock(tx, firmUuid, callUuid);
    const reopened = await analyzeLocked(deps, tx, firmUuid, call, { ...options, detail: 'new analysis requested' });
    await within?.(tx);
    return reopened;
  });
}

/** The same for a call that is locked. `detail` goes into its history, and so does an analysis that is `outdated` from now on. */
export async function analyzeLocked(
  deps: AnalyzeDeps,
  tx: Transaction,
  firmUuid: string,
  call: CallRow,
  {
    detail,
    outdated = null,
    priority = 0,
    scorecardUuid = null,
  }: Omit<AnalyzeOptions, 'within'> & { readonly detail: string; readonly outdated?: string | null },
): Promise<CallRow> {
  const { calls, bus } = deps;
  const canReopen = call.status === 'completed' || (call.status === 'failed' && call.failure?.stage === 'analysis');
  if (!canReopen) throw cannotReopen(call);
  if (removedAt(call, 'transcript') !== null) {
    throw invalidTransition('The transcript of this call was removed by the retention of your firm.', []);
  }
  const reopened = await calls.startAttempt(tx, firmUuid, call.uuid, 'analyzing', detail, outdated);
  const ready = await transcriptReady(deps, tx, reopened, { firmuuid: firmUuid, priority });
  // The analysis may arrive before the transcript, which then follows shortly.
  if (ready === null) throw invalidTransition('The transcript of this call is not stored yet. Retry shortly.', []);
  const named = scorecardUuid === null ? {} : { scorecard_uuid: scorecardUuid };
  await bus.publish(tx, [{ ...ready, data: { ...ready.data, ...named } }]);
  return reopened;
}

/** The event that has the stored transcript of a call analyzed. Null while it is not stored. */
export async function transcriptReady(
  { calls, transcripts, objects }: Pick<AnalyzeDeps, 'calls' | 'transcripts' | 'objects'>,
  tx: Sql,
  call: CallRow,
  origin: EventOrigin,
): Promise<Event<BodyOf<typeof TranscriptReady>> | null> {
  const { firmuuid } = origin;
  if (call.source === 'transcription')
    return uploadedTranscriptReady(objects, await calls.uploadedTranscript(tx, firmuuid, call.uuid), origin);
  const utterances = await transcripts.read(tx, firmuuid, call.uuid);
  return utterances && transcribedRecordingReady(objects, call, utterances, origin);
}

function cannotReopen({ status, failure }: CallRow): Fault {
  if (status === 'failed') {
    const allowed = failure?.retryable === true ? ['retry'] : [];
    const stage = failure?.stage ?? 'processing';
    return invalidTransition(`This call failed at its ${stage} and has no transcript to analyze.`, allowed);
  }
  if (status === 'canceled')
    return invalidTransition('This call was canceled before it was analyzed and is no longer processed.', []);
  return invalidTransition(`This call is ${status}. Wait until it is completed, then request a new analysis.`, []);
}

export function invalidTransition(message: string, allowed: readonly string[]): Fault {
  return new Fault('conflict', 'INVALID_TRANSITION', message, { details: { allowed } });
}

/**
 * Operator and client of a recording change places, in its transcript too, and the call is analyzed again. Until it is, it has
 * no score: its analyses took one for the other. Fault INVALID_TRANSITION for a transcription, while the call is being processed, and
 * when it has no transcript.
 */
export async function swapChannels(
  deps: AnalyzeDeps & { readonly recordings: Recordings; readonly reviews: Reviews },
  actor: Actor,
  callUuid: string,
): Promise<CallRow> {
  const { db, calls, recordings, reviews, transcripts, bus } = deps;
  const { firmUuid } = actor;
  return db.transaction(async (tx) => {
    const call = await calls.lock(tx, firmUuid, callUuid);
    if (call.source !== 'audio')
      throw invalidTransition('This call is a transcription. Only a recording has channels to swap.', []);
    await recordings.swapRoles(tx, firmUuid, callUuid);
    await transcripts.swapRoles(tx, firmUuid, callUuid);
    const outdated = await reviews.currentUuid(tx, firmUuid, callUuid);
    await reviews.applyToCall(tx, { firmUuid, callUuid }, null, null, null);
    const reopened = await analyzeLocked(deps, tx, firmUuid, call, { detail: 'channels swapped', outdated });
    await bus.publish(tx, [auditEntry('ingest', actor, 'call.channels_swapped', callUuid)]);
    return reopened;
  });
}
