import { setTimeout as pause } from 'node:timers/promises';
import { type Bus, removeLargeBodies } from '@call-analysis/bus';
import { OUTLAST_ERASURE, removePackedTranscripts } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { Erasure, Store } from '../store/index.ts';
import { archiveNeededAfter } from '../sweep.ts';

interface Deps {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
}

/** Removing jobs that consumers take and return may deadlock. The transaction is repeated up to this many times. */
const DEADLOCK_RETRIES = 5;

/**
 * Removes what is left of an erased call: its files, the uploads of its firm's batches, and its pending events. It can
 * be interrupted and repeated at any point. The erasure is finished when no consumer holds an event of the call. Null
 * when there is no such erasure.
 */
export async function finishErasure(
  { store, bus, objects }: Deps,
  firmUuid: string,
  callUuid: string,
): Promise<Erasure | null> {
  const current = await store.erasures.find(firmUuid, callUuid);
  if (current === null || current.finishedAt !== null) return current;
  const archives = current.batchUuid === null ? 0 : await removeArchive(store, objects, current.batchUuid);
  return store.transaction(
    async (tx) => {
      const erasure = await store.erasures.lock(tx, firmUuid, callUuid);
      if (erasure === null || erasure.finishedAt !== null) return erasure;
      const files = archives + (await removeFiles(tx, store, objects, erasure));
      const { removed, inProgress } = await bus.removePending(tx, firmUuid, callUuid, OUTLAST_ERASURE);
      const added = [
        { what: 'stored_file', count: files },
        { what: 'queued_event', count: removed },
      ];
      return store.erasures.update(tx, erasure, added, inProgress === 0 ? new Date() : null);
    },
    { retries: DEADLOCK_RETRIES },
  );
}

/** Uploaded files that are removed at the same time. */
const REMOVED_AT_ONCE = 16;
const ATTEMPTS = 10;
const ATTEMPT_EVERY_MS = 200;

/** Handles CallErased. Fault ERASURE_UNFINISHED when another consumer still holds an event of the call. */
export async function finishErasures(deps: Deps, { firmuuid, subject }: Event): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const erasure = await finishErasure(deps, firmuuid, subject);
    if (erasure === null || erasure.finishedAt !== null) return;
    // Other services consume CallErased at the same time and stop processing the call.
    await pause(ATTEMPT_EVERY_MS);
  }
  throw new Fault('unavailable', 'ERASURE_UNFINISHED', 'An erased call is still being processed.');
}

/**
 * An archive holds all recordings of a batch, and none can be removed alone. The archive is removed when no call needs
 * it any more: here or by the sweep. The row is updated first, so that a crash leaves an orphan object.
 */
async function removeArchive(store: Store, objects: Objects, batchUuid: string): Promise<number> {
  const key = await store.transaction((tx) =>
    store.batches.releaseArchive(tx, batchUuid, archiveNeededAfter(new Date())),
  );
  if (key === null) return 0;
  await objects.remove(key);
  return 1;
}

/** Returns how many files were removed, without the recording: the receipt already lists it. */
async function removeFiles(
  tx: Sql,
  store: Store,
  objects: Objects,
  { firmUuid, callUuid, objectKey }: Erasure,
): Promise<number> {
  if (objectKey !== null) await objects.remove(objectKey);
  let files = await removePackedTranscripts(objects, firmUuid, callUuid);
  files += await removeLargeBodies(objects, firmUuid, callUuid);
  // Uploaded files are kept until their session expires, and any of them may contain a copy of the call: it may have
  // been uploaded twice, or rejected at first.
  const uploaded = new Set(await store.uploads.done(tx, firmUuid));
  // Listing what is there is quicker than asking for each file: an earlier erasure has removed most of them.
  const present: string[] = [];
  for (const folder of new Set(Array.from(uploaded, folderOf))) {
    for await (const { key } of objects.list(folder)) if (uploaded.has(key)) present.push(key);
  }
  for (let from = 0; from < present.length; from += REMOVED_AT_ONCE) {
    await Promise.all(present.slice(from, from + REMOVED_AT_ONCE).map((key) => objects.remove(key)));
  }
  return files + present.length;
}

function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}
