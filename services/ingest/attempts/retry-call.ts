import type { Bus } from '@call-analysis/bus';
import type { Event, EventOrigin } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Database, Transaction } from '@call-analysis/postgres';
import type { Firms } from '@call-analysis/service/firms';
import type { Batches } from '../batches/batch-store.ts';
import { audioStored, extractionRequested } from '../calls/call-events.ts';
import type { CallRow } from '../calls/call-row.ts';
import { eraseFirstHint, failureWithHint } from '../calls/call-status.ts';
import type { Calls } from '../calls/call-store.ts';
import type { Recordings } from '../calls/recording-store.ts';
import type { Transcripts } from '../calls/transcript-store.ts';
import { transcriptReady } from './analyze-call.ts';

export interface RetryDeps {
  readonly db: Database;
  readonly batches: Batches;
  readonly calls: Calls;
  readonly recordings: Recordings;
  readonly transcripts: Transcripts;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly firms: Pick<Firms, 'settings'>;
}

/**
 * Starts a new attempt of a failed call, from the last stage that succeeded. Fault NOT_RETRYABLE when a retry cannot
 * help.
 */
export async function retryCall(deps: RetryDeps, firmUuid: string, callUuid: string): Promise<CallRow> {
  const { db, calls } = deps;
  const redact = await redactsStored(deps, firmUuid);
  return db.transaction(async (tx) => {
    const call = await calls.lock(tx, firmUuid, callUuid);
    if (call.status !== 'failed') throw notRetryable(`Only a failed call can be retried. This one is ${call.status}.`);
    if (call.failure?.retryable !== true) {
      throw notRetryable(`A retry cannot help this call: ${failureWithHint(call)?.message ?? 'it failed permanently'}`);
    }
    return startAttempt(deps, tx, firmUuid, call, redact);
  });
}

/** Null when key-management is away: only a recording that is still to be transcribed needs the answer. */
export async function redactsStored({ firms }: RetryDeps, firmUuid: string): Promise<boolean | null> {
  return firms.settings(firmUuid).then(
    ({ redaction }) => redaction === 'stored',
    () => null,
  );
}

/**
 * Starts the next attempt of a failed call, even when its failure is permanent. `redact`: whether its transcript is stored
 * without personal data.
 */
export async function startAttempt(
  deps: RetryDeps,
  tx: Transaction,
  firmUuid: string,
  { uuid }: CallRow,
  redact: boolean | null,
): Promise<CallRow> {
  const requeued = await deps.calls.requeue(tx, firmUuid, uuid, new Date());
  await deps.bus.publish(tx, [await nextEvent(deps, tx, requeued, redact, { firmuuid: firmUuid })]);
  return requeued;
}

/** The event that makes the next stage process the call. */
async function nextEvent(
  deps: RetryDeps,
  tx: Transaction,
  call: CallRow,
  redact: boolean | null,
  origin: EventOrigin,
): Promise<Event> {
  const { batches, recordings } = deps;
  const { firmuuid } = origin;
  const ready = await transcriptReady(deps, tx, call, origin);
  if (ready !== null) return ready;
  const recording = await recordings.read(tx, firmuuid, call.uuid);
  const stored = recording?.stored ?? null;
  if (recording !== null && stored !== null) {
    if (redact === null)
      throw new Fault('unavailable', 'UNAVAILABLE', 'The settings of the firm cannot be read now. Retry.');
    return audioStored(call, recording, stored, redact, origin);
  }
  const entry = recording?.entry ?? null;
  const archive = call.batch_uuid === null ? null : await batches.lockArchive(tx, firmuuid, call.batch_uuid);
  if (recording === null || entry === null || archive === null) {
    const hint = call.partner_call_id === null ? '' : ` ${eraseFirstHint(call.uuid)}`;
    throw notRetryable(
      `The ZIP with this recording is no longer kept. Upload the recording again, in a new batch or as a single upload.${hint}`,
    );
  }
  const announced = { uuid: call.uuid, attempt: call.attempt, file_name: recording.file_name, entry };
  return extractionRequested(announced, archive, origin);
}

function notRetryable(message: string): Fault {
  return new Fault('conflict', 'NOT_RETRYABLE', message);
}
