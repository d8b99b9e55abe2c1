import { type FailureReason, once } from '@call-analysis/bus';
import { findErased, removePackedTranscripts } from '@call-analysis/call-processing';
import { type BodyOf, CallsAccepted, type Event, type EventOrigin } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { Publishing, Registered } from '@call-analysis/service';
import { extractionRequested, uploadedTranscriptReady } from '../calls/call-events.ts';
import { publishEnded } from '../results/project-results.ts';
import { type Announcements, type CallRange, NOT_ANNOUNCED } from './announcement-store.ts';
import type { AnnouncedBatch, Batches } from './batch-store.ts';

export interface AnnouncementDeps {
  readonly announcements: Announcements;
  readonly objects: Objects;
}

interface Deps extends AnnouncementDeps, Publishing {
  readonly batches: Batches;
}

/**
 * Announces a later range of a batch. The first range is announced in the transaction that accepts the batch
 * (accept-rows.ts).
 */
export async function announceCalls(
  deps: Deps & Registered,
  accepted: Event<BodyOf<typeof CallsAccepted>>,
): Promise<void> {
  const { db, batches, bus, objects, consumer } = deps;
  const batch = await batches.find(accepted.firmuuid, accepted.subject);
  if (batch === null) return;
  const events = await announcementEvents(deps, db, batch, accepted.data, accepted);
  await once({ db, consumer }, [accepted], async (tx) => {
    const erased = await findErased(tx, events);
    await bus.publish(
      tx,
      events.filter(({ subject }) => !erased.has(subject)),
    );
  });
  for (const callUuid of await findErased(db, events))
    await removePackedTranscripts(objects, accepted.firmuuid, callUuid);
}

/**
 * The events of a range's queued calls: the transcript is ready, or the recording is to be extracted. Recordings have
 * priorities of their own, finer than a range: transcribing one takes as long as analyzing thousands.
 */
export async function announcementEvents(
  { announcements, objects }: AnnouncementDeps,
  sql: Sql,
  batch: AnnouncedBatch,
  range: CallRange,
  origin: EventOrigin,
): Promise<Event[]> {
  const { firmuuid } = origin;
  if (batch.kind === 'audio') {
    const calls = await announcements.queuedRecordings(sql, firmuuid, batch.uuid, range);
    if (calls.length === 0) return [];
    if (batch.archiveKey === null) throw new Error(`batch ${batch.uuid} has queued calls, but its archive was removed`);
    const archive = { key: batch.archiveKey, bytes: batch.archiveBytes ?? 0 };
    return calls.map((call) => extractionRequested(call, archive, { ...origin, priority: call.priority }));
  }
  const events: Event[] = [];
  for (const call of await announcements.queuedTranscripts(sql, firmuuid, batch.uuid, range)) {
    events.push(await uploadedTranscriptReady(objects, call, origin));
  }
  return events;
}

/** Fails the calls that could not be announced, so that none stays queued forever. Each can be retried. */
export async function giveUpAnnouncing(
  { db, batches, announcements, bus }: Omit<Deps, 'objects'>,
  event: Event,
  { attempts }: FailureReason,
): Promise<void> {
  const range = CallsAccepted.body.safeParse(event.data);
  if (!range.success) return;
  const batch = await batches.find(event.firmuuid, event.subject);
  const stage = batch?.kind === 'audio' ? ('extraction' as const) : ('analysis' as const);
  const message = `The call could not be queued for ${stage}. Retry it.`;
  const failure = { stage, code: NOT_ANNOUNCED, message, retryable: true, attempts };
  await db.transaction(async (tx) => {
    const ended = await announcements.failQueued(tx, event.firmuuid, event.subject, range.data, failure, new Date());
    await publishEnded(bus, tx, ended, () => event);
  });
}
