import type { BodyOf, Event, EventOrigin, RetryRequested } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Transaction } from '@call-analysis/postgres';
import type { Firms } from '@call-analysis/service/firms';
import { type Announcements, NOT_ANNOUNCED } from '../batches/announcement-store.ts';
import type { Batches } from '../batches/batch-store.ts';
import { audioStored, extractionRequested } from '../calls/call-events.ts';
import { type CallRow, eraseFirstHint, failureWithHint, UNFINISHED } from '../calls/call-row.ts';
import type { Recordings } from '../calls/recording-store.ts';
import { type AnalyzeDeps, transcriptReady } from './analyze-call.ts';

export interface RetryDeps extends AnalyzeDeps {
  readonly batches: Batches;
  readonly recordings: Recordings;
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
async function redactsStored({ firms }: RetryDeps, firmUuid: string): Promise<boolean | null> {
  return firms.settings(firmUuid).then(
    ({ redaction }) => redaction === 'stored',
    () => null,
  );
}

/**
 * Starts the next attempt of a failed call, even when its failure is permanent. `redact`: whether its transcript is stored
 * without personal data.
 */
async function startAttempt(
  deps: RetryDeps,
  tx: Transaction,
  firmUuid: string,
  { uuid }: CallRow,
  redact: boolean | null,
): Promise<CallRow> {
  const requeued = await deps.calls.startAttempt(tx, firmUuid, uuid, 'queued', 'retried');
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
  const recording = await recordings.read(firmuuid, call.uuid, tx);
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

/**
 * Retries the failed calls that a replayed dead letter names. An event that is delivered again has no effect: the calls
 * are in another attempt by then.
 */
export async function retryFailed(
  deps: RetryDeps & { readonly announcements: Announcements },
  event: Event<BodyOf<typeof RetryRequested>>,
): Promise<void> {
  const { firmuuid, subject, data } = event;
  if ('attempt' in data) {
    await retryIf(deps, firmuuid, subject, (call) => failedIn(call, data.attempt));
    return;
  }
  for (const uuid of await deps.announcements.notAnnounced(firmuuid, subject, data)) {
    await retryIf(
      deps,
      firmuuid,
      uuid,
      ({ status, failure }) => status === 'failed' && failure?.code === NOT_ANNOUNCED,
    );
  }
}

/** Whether a new attempt was started. */
export async function retryIf(
  deps: RetryDeps,
  firmUuid: string,
  callUuid: string,
  applies: (call: CallRow) => boolean,
): Promise<boolean> {
  const redact = await redactsStored(deps, firmUuid);
  try {
    return await deps.db.transaction(async (tx) => {
      const call = await deps.calls.lock(tx, firmUuid, callUuid);
      if (!applies(call)) return false;
      await startAttempt(deps, tx, firmUuid, call, redact);
      return true;
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // The call was erased in the meantime; or its recording or archive was deleted, and it stays failed.
    if (error.kind === 'not-found' || error.kind === 'conflict') return false;
    throw error;
  }
}

function failedIn({ status, attempt: current }: CallRow, attempt: number | null): boolean {
  if (attempt !== null && attempt !== current) return false;
  // The CallFailed event was published before this one, but may be consumed after it.
  if (attempt !== null && UNFINISHED.includes(status)) {
    throw new Error('The failure of this call is not recorded yet; the event is delivered again.');
  }
  return status === 'failed';
}
