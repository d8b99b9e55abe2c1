import { type Bus, once } from '@call-analysis/bus';
import { findErased, removePackedTranscripts } from '@call-analysis/call-processing';
import type { BodyOf, CallsAccepted, Event, EventOrigin } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { Registered } from '@call-analysis/service';
import { stringify } from 'uuid';
import { extractionRequested, uploadedTranscriptReady } from '../calls/call-events.ts';
import { UUID_BYTES } from '../intake/copy/binary-rows.ts';
import type { AnnouncedBatch, Store } from '../store/index.ts';
import type { CallRange } from './announcement-store.ts';

/** The most calls that are announced together. */
const RANGE_CALLS = 500;
const RANGE_CHARS = 4 * 1024 * 1024;

/** Groups accepted calls, which come in the order of their uuids, into ranges. */
export class CallRanges {
  readonly #ranges: CallRange[] = [];
  #first = '';
  readonly #last = new Uint8Array(UUID_BYTES);
  #calls = 0;
  #chars = 0;

  /** Adds the call whose uuid begins at `offset`. `chars` is how much there will be to announce of it. */
  add(uuids: Uint8Array, offset: number, chars: number): void {
    if (this.#calls >= RANGE_CALLS || this.#chars >= RANGE_CHARS) this.#close();
    for (let index = 0; index < UUID_BYTES; index++) this.#last[index] = uuids[offset + index]!;
    if (this.#calls === 0) this.#first = stringify(this.#last);
    this.#calls++;
    this.#chars += chars;
  }

  /** Call once, after the last call. */
  end(): readonly CallRange[] {
    if (this.#calls > 0) this.#close();
    return this.#ranges;
  }

  #close(): void {
    this.#ranges.push({ first: this.#first, last: stringify(this.#last) });
    this.#calls = 0;
    this.#chars = 0;
  }
}

/**
 * Announces a later range of a batch. The first range is announced in the transaction that accepts the batch
 * (accept-rows.ts).
 */
export async function announceCalls(
  parts: Registered & { store: Store; bus: Bus; objects: Objects },
  accepted: Event<BodyOf<typeof CallsAccepted>>,
): Promise<void> {
  const { store, bus, objects, consumer } = parts;
  const batch = await store.batches.find(accepted.firmuuid, accepted.subject);
  if (batch === null) return;
  const events = await announcements(parts, store.db, batch, accepted.data, accepted);
  await once({ db: store.db, consumer }, [accepted], async (tx) => {
    const erased = await findErased(tx, events);
    await bus.publish(
      tx,
      events.filter(({ subject }) => !erased.has(subject)),
    );
  });
  for (const callUuid of await findErased(store.db, events))
    await removePackedTranscripts(objects, accepted.firmuuid, callUuid);
}

/**
 * The events of a range's queued calls: the transcript is ready, or the recording is to be extracted. Recordings have
 * priorities of their own, finer than a range: transcribing one takes as long as analyzing thousands.
 */
export async function announcements(
  { store, objects }: { store: Store; objects: Objects },
  sql: Sql,
  batch: AnnouncedBatch,
  range: CallRange,
  origin: EventOrigin,
): Promise<Event[]> {
  const { firmuuid } = origin;
  if (batch.kind === 'audio') {
    const calls = await store.announcements.queuedRecordings(sql, firmuuid, batch.uuid, range);
    if (calls.length === 0) return [];
    if (batch.archiveKey === null) throw new Error(`batch ${batch.uuid} has queued calls, but its archive was removed`);
    const archive = { key: batch.archiveKey, bytes: batch.archiveBytes ?? 0 };
    return calls.map((call) => extractionRequested(call, archive, { ...origin, priority: call.priority }));
  }
  const events: Event[] = [];
  for (const call of await store.announcements.queuedTranscripts(sql, firmuuid, batch.uuid, range)) {
    events.push(await uploadedTranscriptReady(objects, call, origin));
  }
  return events;
}
