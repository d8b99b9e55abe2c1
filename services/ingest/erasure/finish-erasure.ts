import { setTimeout as pause } from 'node:timers/promises';
import { type Bus, removeLargeBodies } from '@call-analysis/bus';
import { OUTLAST_ERASURE, removePackedTranscripts } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { type Database, DEADLOCKS_RETRIED, type Sql } from '@call-analysis/postgres';
import type { Batches } from '../batches/batch-store.ts';
import type { Uploads } from '../intake/upload-store.ts';
import type { Erasure, Erasures } from './erasure-store.ts';

export interface FinishDeps extends ArchiveDeps {
  readonly uploads: Uploads;
  readonly erasures: Erasures;
  readonly bus: Bus;
}

/**
 * Removes what is left of an erased call: its files, the uploads of its firm's batches, and its pending events. It can
 * be interrupted and repeated at any point. The erasure is finished when no consumer holds an event of the call. Null
 * when there is no such erasure.
 */
export async function finishErasure(deps: FinishDeps, firmUuid: string, callUuid: string): Promise<Erasure | null> {
  const { db, erasures, bus } = deps;
  const current = await erasures.find(firmUuid, callUuid);
  if (current === null || current.finishedAt !== null) return current;
  const hadArchive = current.batchUuid !== null && (await releaseArchive(deps, current.batchUuid, new Date()));
  // Removing jobs that consumers take and return may deadlock.
  return db.transaction(async (tx) => {
    const erasure = await erasures.lock(tx, firmUuid, callUuid);
    if (erasure === null || erasure.finishedAt !== null) return erasure;
    const files = Number(hadArchive) + (await removeFiles(tx, deps, erasure));
    const { removed, inProgress } = await bus.removePending(tx, firmUuid, callUuid, OUTLAST_ERASURE);
    const added = [
      { what: 'stored_file', count: files },
      { what: 'queued_event', count: removed },
    ];
    return erasures.update(tx, erasure, added, inProgress === 0 ? new Date() : null);
  }, DEADLOCKS_RETRIED);
}

/** Uploaded files that are removed at the same time. */
const REMOVED_AT_ONCE = 16;
const ATTEMPTS = 10;
const ATTEMPT_EVERY_MS = 200;

/** Handles CallErased. Fault ERASURE_UNFINISHED when another consumer still holds an event of the call. */
export async function finishErasures(deps: FinishDeps, { firmuuid, subject }: Event): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const erasure = await finishErasure(deps, firmuuid, subject);
    if (erasure === null || erasure.finishedAt !== null) return;
    // Other services consume CallErased at the same time and stop processing the call.
    await pause(ATTEMPT_EVERY_MS);
  }
  throw new Fault('unavailable', 'ERASURE_UNFINISHED', 'An erased call is still being processed.');
}

/** Returns how many files were removed, without the recording: the receipt already lists it. */
async function removeFiles(
  tx: Sql,
  { uploads, objects }: FinishDeps,
  { firmUuid, callUuid, objectKey }: Erasure,
): Promise<number> {
  if (objectKey !== null) await objects.remove(objectKey);
  let files = await removePackedTranscripts(objects, firmUuid, callUuid);
  files += await removeLargeBodies(objects, firmUuid, callUuid);
  // Uploaded files are kept until their session expires, and any of them may contain a copy of the call: it may have
  // been uploaded twice, or rejected at first.
  const uploaded = new Set(await uploads.done(tx, firmUuid));
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

/** How long a failed extraction can be retried. */
const RETRY_MS = 7 * 24 * 3600 * 1000;

export interface ArchiveDeps {
  readonly db: Database;
  readonly batches: Batches;
  readonly objects: Objects;
}

/**
 * Removes the archive of a batch unless a call still needs it: it holds all recordings of the batch, and none can be
 * removed alone. The row is updated first, so that a crash leaves an orphan object and never a batch without its archive.
 * Returns whether it was removed.
 */
export async function releaseArchive(
  { db, batches, objects }: ArchiveDeps,
  batchUuid: string,
  now: Date,
): Promise<boolean> {
  const retriesAfter = new Date(now.getTime() - RETRY_MS);
  const key = await db.transaction((tx) => batches.releaseArchive(tx, batchUuid, retriesAfter));
  if (key !== null) await objects.remove(key);
  return key !== null;
}
