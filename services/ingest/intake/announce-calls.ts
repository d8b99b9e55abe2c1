import { type Bus, claim } from '@call-analysis/bus';
import { findErased, removePackedTranscripts } from '@call-analysis/call-processing';
import type { BodyOf, CallsAccepted, Event, EventOrigin } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { AnnouncedBatch, Store } from '../store/index.ts';
import { extractionRequested } from './announce-recordings.ts';
import { uploadedReady } from './announce-transcripts.ts';

/**
 * Announces a later portion of a batch. The first is announced in the transaction that accepts the batch; a million
 * facts there would take several times as long as the calls themselves.
 */
export async function announceCalls(
  parts: { store: Store; bus: Bus; objects: Objects },
  accepted: Event<BodyOf<typeof CallsAccepted>>,
): Promise<void> {
  const { store, bus } = parts;
  const batch = await store.batches.find(accepted.firmuuid, accepted.subject);
  if (batch === null) return;
  const events = await announcements(parts, store.db, batch, accepted.data, accepted);
  const erased = await store.db.transaction(async (tx) => {
    const gone = await findErased(tx, events);
    const claimed = await claim(tx, 'ingest.announce', [accepted.id]);
    if (claimed.size > 0)
      await bus.publish(
        tx,
        events.filter(({ subject }) => !gone.has(subject)),
      );
    return gone;
  });
  for (const callUuid of erased) await removePackedTranscripts(parts.objects, accepted.firmuuid, callUuid);
}

/**
 * Says of each waiting call of a portion that its transcript is ready, or where its recording is. Recordings have
 * turns of their own, finer than a portion: hearing one takes as long as analysing thousands.
 */
export async function announcements(
  { store, objects }: { store: Store; objects: Objects },
  sql: Sql,
  batch: AnnouncedBatch,
  portion: { first: string; last: string },
  about: EventOrigin,
): Promise<Event[]> {
  const { firmuuid } = about;
  if (batch.kind === 'audio') {
    const calls = await store.announcements.queuedRecordings(sql, firmuuid, batch.uuid, portion);
    if (calls.length === 0) return [];
    if (batch.archiveKey === null) throw new Error(`the archive of batch ${batch.uuid} is gone while its calls wait`);
    const archive = { key: batch.archiveKey, bytes: batch.archiveBytes ?? 0 };
    return calls.map((call) => extractionRequested(call, archive, { ...about, priority: call.priority }));
  }
  const events: Event[] = [];
  for (const call of await store.announcements.queuedTranscripts(sql, firmuuid, batch.uuid, portion)) {
    events.push(await uploadedReady(objects, call, about));
  }
  return events;
}
