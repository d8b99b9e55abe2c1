import { pruneClaims } from '@call-analysis/bus';
import { pruneTombstones } from '@call-analysis/call-processing';
import type { Objects } from '@call-analysis/objects';
import type { Store } from './store/index.ts';
import type { UploadSession } from './store/uploads.ts';

/** Objects that a crash may have left: nothing that is being worked on is this old. */
const ORPHAN_MS = 6 * 3600 * 1000;
/** How long a recording that failed to come out of its archive can be retried. */
const RETRY_MS = 7 * 24 * 3600 * 1000;
const AT_ONCE = 500;

interface Swept {
  readonly store: Store;
  readonly objects: Objects;
  /** For so long an event may be delivered again. Default 30. */
  readonly claimDays?: number;
}

/**
 * Removes what nobody can ask for any more: uploads whose hour is over, CSVs of refused rows after their seven days,
 * archives whose recordings have come out, transcripts that were sent by key, and what a crash left between bytes and
 * row.
 */
export async function sweep({ store, objects, claimDays = 30 }: Swept, now: Date): Promise<void> {
  await sweepUploads(store, objects, now);
  await sweepRejected(store, objects, now);
  await sweepArchives(store, objects, now);
  await sweepOrphans(store, objects, now.getTime() - ORPHAN_MS);
  await pruneClaims(store.db, claimDays);
  await pruneTombstones(store.db, claimDays);
  await store.erasures.prune(claimDays);
}

/** Batches that came after it keep their archive for the recordings that may be retried. */
export function archiveNeededAfter(now: Date): Date {
  return new Date(now.getTime() - RETRY_MS);
}

/**
 * An upload that is being processed as its hour ends reads a copy, so its own bytes may go. Those of a put that began
 * within the hour may come after it, on a slow line long after: they go a day later.
 */
async function sweepUploads(store: Store, objects: Objects, now: Date): Promise<void> {
  await empty(() => store.uploads.expired(now, AT_ONCE));
  await empty(() => store.uploads.sweptEarly(now, AT_ONCE));

  async function empty(next: () => Promise<UploadSession[]>): Promise<void> {
    for (;;) {
      const sessions = await next();
      for (const session of sessions) {
        for (const key of [session.metadataKey, session.audioKey]) {
          if (key !== null && !(await store.uploads.isHeld(key, now))) await objects.remove(key);
        }
        await store.uploads.markSwept(session.uuid, now);
      }
      if (sessions.length < AT_ONCE) return;
    }
  }
}

async function sweepRejected(store: Store, objects: Objects, now: Date): Promise<void> {
  for (;;) {
    const files = await store.batches.expiredRejected(now, AT_ONCE);
    for (const file of files) {
      await objects.remove(file.objectKey);
      await store.batches.forgetRejected(file.uuid);
    }
    if (files.length < AT_ONCE) return;
  }
}

/** Row first, bytes second: what a crash leaves between the two is an orphan, never a batch that lacks its archive. */
async function sweepArchives(store: Store, objects: Objects, now: Date): Promise<void> {
  const retriesAfter = archiveNeededAfter(now);
  for (let after: string | null = null; ;) {
    const batches: string[] = await store.batches.withArchive(after, AT_ONCE);
    for (const uuid of batches) {
      const key = await store.transaction((tx) => store.batches.releaseArchive(tx, uuid, retriesAfter));
      if (key !== null) await objects.remove(key);
    }
    if (batches.length < AT_ONCE) return;
    after = batches.at(-1) ?? null;
  }
}

async function sweepOrphans(store: Store, objects: Objects, before: number): Promise<void> {
  const places: [prefix: string, isNeeded: (key: string) => Promise<boolean>][] = [
    ['frozen/', async (key) => key.endsWith('.zip') && (await store.batches.isArchiveKept(key))],
    ['rejected/', (key) => store.batches.isRejectedKept(key)],
    // A long transcript travels beside its event. A young one may belong to a retry that has not been committed yet.
    ['transcripts/', (key) => needsTranscript(store, key)],
  ];
  for (const [prefix, isNeeded] of places) {
    for await (const { key, modifiedAt } of objects.list(prefix)) {
      if (modifiedAt.getTime() < before && !(await isNeeded(key))) await objects.remove(key);
    }
  }
}

async function needsTranscript(store: Store, key: string): Promise<boolean> {
  const [, firmUuid, callUuid] = key.split('/');
  return store.calls.needsPackedTranscript(firmUuid!, callUuid!);
}
