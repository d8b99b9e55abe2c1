import { setTimeout as pause } from 'node:timers/promises';
import { removeLargeBodies } from '@call-analysis/bus';
import { OUTLAST_ERASURE, removePackedTranscripts, writeTombstone } from '@call-analysis/call-processing';
import { CallErased, createEvent, type Event } from '@call-analysis/events';
import { Fault, notFound } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { type Database, DEADLOCKS_RETRIED, type Sql } from '@call-analysis/postgres';
import { type Actor, auditEntry, type Publishing } from '@call-analysis/service';
import type { Batches } from '../batches/batch-store.ts';
import { UNFINISHED } from '../calls/call-row.ts';
import type { Calls } from '../calls/call-store.ts';
import type { Campaigns } from '../campaigns/campaign-store.ts';
import { type RemoveCopiesDeps, removeRejectedCopies } from '../intake/rejected/remove-rejected-copies.ts';
import type { Uploads } from '../intake/upload-store.ts';
import type { Erasure, Erasures } from './erasure-store.ts';

export interface EraseDeps extends FinishDeps, RemoveCopiesDeps {
  readonly calls: Calls;
  readonly campaigns: Campaigns;
}

/** The erasures that run in this process. Concurrent requests for one call share its receipt. */
const running = new WeakMap<Erasures, Map<string, Promise<Erasure>>>();

interface EraseOptions {
  /** Who erases, for the audit log. */
  readonly by?: Omit<Actor, 'firmUuid'>;
  /** Runs last in the transaction that deletes the rows; not at all when another request deletes them. */
  readonly within?: (tx: Sql) => Promise<void>;
}

/**
 * Erases a call. One transaction deletes its rows and publishes CallErased; the rest is removed afterwards, and retried
 * until it is gone. Until then, a repeated request returns the current receipt. Afterwards: Fault NOT_FOUND, except for
 * a request that began before the erasure was finished, which returns its receipt.
 */
export async function eraseCall(
  deps: EraseDeps,
  firmUuid: string,
  callUuid: string,
  options: EraseOptions = {},
): Promise<Erasure> {
  const ofService = running.get(deps.erasures) ?? new Map<string, Promise<Erasure>>();
  running.set(deps.erasures, ofService);
  const key = `${firmUuid}/${callUuid}`;
  const started = ofService.get(key);
  if (started !== undefined) return started;
  // Not shared: it may be undone by `within`, which is nothing to the other requests.
  if (options.within !== undefined) return erase(deps, firmUuid, callUuid, options);
  const erasing = erase(deps, firmUuid, callUuid, options).finally(() => ofService.delete(key));
  ofService.set(key, erasing);
  return erasing;
}

async function erase(
  deps: EraseDeps,
  firmUuid: string,
  callUuid: string,
  { by, within }: EraseOptions,
): Promise<Erasure> {
  const { db, batches, calls, campaigns, erasures, bus } = deps;
  const startedAt = new Date();
  const existing = await erasures.find(firmUuid, callUuid);
  if (existing !== null && existing.finishedAt !== null) {
    // Another process finished it while this request waited for the database.
    if (existing.finishedAt > startedAt) return existing;
    throw notFound('call');
  }
  const erasure = existing ?? (await deleteRows().catch(erasedMeanwhile));
  try {
    return (await finishErasure(deps, firmUuid, callUuid)) ?? erasure;
  } catch {
    // The consumer of CallErased finishes the erasure and logs the obstacle.
    return erasure;
  }

  /** Returns the erasure by another process that deleted the rows first. */
  async function erasedMeanwhile(error: unknown): Promise<Erasure> {
    const other = error instanceof Fault && error.kind === 'not-found' ? await erasures.find(firmUuid, callUuid) : null;
    if (other === null) throw error;
    return other;
  }

  async function deleteRows(): Promise<Erasure> {
    // First, because the rows say what a copy looks like. If the process stops here, the call still exists and can be
    // erased again.
    const rejectedRows = await removeRejectedCopies(deps, await erasures.identify(firmUuid, callUuid));
    // Other transactions lock the rows of the call, its batch and its campaign too.
    return db.transaction(async (tx) => {
      await writeTombstone(tx, firmUuid, callUuid);
      const { campaign_uuid, batch_uuid, status, ended_at, updated_at } = await calls.lock(tx, firmUuid, callUuid);
      const now = new Date();
      const before = [{ what: 'refused_row', count: rejectedRows }];
      const erased = await erasures.erase(tx, firmUuid, callUuid, before, now);
      if (campaign_uuid !== null) await campaigns.countErased(tx, campaign_uuid);
      const origin = { firmuuid: firmUuid };
      const audit = by === undefined ? [] : [auditEntry('ingest', { ...by, firmUuid }, 'call.erased', callUuid)];
      const event = createEvent('ingest', CallErased, callUuid, origin, { erased_at: now.toISOString() });
      await bus.publish(tx, [event, ...audit]);
      // Late, because erasures of other calls of the batch wait for it.
      if (batch_uuid !== null)
        await batches.erased(tx, batch_uuid, UNFINISHED.includes(status) ? now : (ended_at ?? updated_at));
      await within?.(tx);
      return erased;
    }, DEADLOCKS_RETRIED);
  }
}

/** An erasure as the API shows it. */
export function receiptOf({ callUuid: uuid, erasedAt, removed }: Erasure) {
  return { uuid, erased_at: erasedAt.toISOString(), removed: [...removed] };
}

/** For whoever erases many calls: one that another request has erased is no error. */
export function unlessErased(error: unknown): void {
  if (!(error instanceof Fault) || error.kind !== 'not-found') throw error;
}

interface FinishDeps extends ArchiveDeps, Publishing {
  readonly uploads: Uploads;
  readonly erasures: Erasures;
}

/**
 * Removes what is left of an erased call: its files, the uploads of its firm's batches, and its pending events. It can
 * be interrupted and repeated at any point. The erasure is finished when no consumer holds an event of the call. Null
 * when there is no such erasure.
 */
async function finishErasure(deps: FinishDeps, firmUuid: string, callUuid: string): Promise<Erasure | null> {
  const { db, erasures, bus } = deps;
  const current = await erasures.find(firmUuid, callUuid);
  if (current === null || current.finishedAt !== null) return current;
  const hadArchive = current.batchUuid !== null && (await releaseArchive(deps, current.batchUuid, new Date()));
  // Removing jobs that consumers take and return may deadlock.
  return db.transaction(async (tx) => {
    const erasure = await erasures.find(firmUuid, callUuid, tx);
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
