import { setTimeout as pause } from 'node:timers/promises';
import { type Bus, removeLargeBodies } from '@call-analysis/bus';
import { removePackedTranscripts } from '@call-analysis/call-processing';
import { CallErased, type Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { Erasure, Store } from '../store/index.ts';
import { archiveNeededAfter } from '../sweep.ts';

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
}

export const ERASURES = 'ingest.erasures';

/** Jobs that many consumers take and put back are taken out here: two that meet begin again. */
const COLLISIONS = 5;

/**
 * Removes what is left of an erased call: its files, what was uploaded for its firm's batches, and events. Safe to
 * repeat and to break off anywhere. It is finished when nobody has an event of the call in hand any more. Null when
 * nothing is known of the erasure.
 */
export async function finishErasure(
  { store, bus, objects }: Parts,
  firmUuid: string,
  callUuid: string,
): Promise<Erasure | null> {
  const begun = await store.erasures.find(firmUuid, callUuid);
  if (begun === null || begun.finishedAt !== null) return begun;
  const archives = begun.batchUuid === null ? 0 : await removeArchive(store, objects, begun.batchUuid);
  return store.db.transaction(
    async (tx) => {
      const erasure = await store.erasures.lock(tx, firmUuid, callUuid);
      if (erasure === null || erasure.finishedAt !== null) return erasure;
      const files = archives + (await removeFiles(tx, store, objects, erasure));
      const { removed, inProgress } = await bus.removePending(tx, firmUuid, callUuid, CallErased);
      const also = [
        { what: 'stored_file', count: files },
        { what: 'queued_event', count: removed },
      ];
      return store.erasures.update(tx, erasure, also, inProgress === 0 ? new Date() : null);
    },
    { retries: COLLISIONS },
  );
}

const LOOKS = 10;
const LOOK_EVERY_MS = 200;

/** Finishes an erasure that was told of. Fault ERASURE_UNFINISHED when it is not the time yet. */
export async function finishErasures(parts: Parts, { firmuuid, subject }: Event): Promise<void> {
  for (let look = 1; look <= LOOKS; look++) {
    const erasure = await finishErasure(parts, firmuuid, subject);
    if (erasure === null || erasure.finishedAt !== null) return;
    // What was in hand is being dropped, by services that are told of the erasure at the same time.
    await pause(LOOK_EVERY_MS);
  }
  throw new Fault('unavailable', 'ERASURE_UNFINISHED', 'Something of an erased call is still in hand.');
}

/**
 * An archive holds the recordings of a batch, none of which can be taken away alone; it goes with the last call that
 * needs it, here or by the sweep. Row first, bytes second.
 */
async function removeArchive(store: Store, objects: Objects, batchUuid: string): Promise<number> {
  const key = await store.db.transaction((tx) =>
    store.batches.releaseArchive(tx, batchUuid, archiveNeededAfter(new Date())),
  );
  if (key === null) return 0;
  await objects.remove(key);
  return 1;
}

/** How many files went besides the recording, which the receipt names already. */
async function removeFiles(
  tx: Sql,
  store: Store,
  objects: Objects,
  { firmUuid, callUuid, objectKey }: Erasure,
): Promise<number> {
  if (objectKey !== null) await objects.remove(objectKey);
  let files = await removePackedTranscripts(objects, firmUuid, callUuid);
  files += await removeLargeBodies(objects, firmUuid, callUuid);
  // What was uploaded lies there until its hour is over. A copy of the call may be in any of it: sent twice, or refused
  // at first.
  const uploaded = await store.uploads.done(tx, firmUuid);
  for (const key of uploaded) {
    if ((await objects.head(key)) !== null) files += 1;
    await objects.remove(key);
  }
  return files;
}
