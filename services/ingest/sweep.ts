import type { Objects } from '@call-analysis/objects';
import { pruneClaims } from '@call-analysis/bus';
import type { Store } from './store/index.ts';

/** Objects that a crash may have left: nothing that is being worked on is this old. */
const ORPHAN_MS = 6 * 3600 * 1000;
/** Longer than any event can still be delivered again. */
const CLAIM_DAYS = 30;
const AT_ONCE = 500;

/**
 * Removes what nobody can ask for any more: uploads whose hour is over, CSVs of refused rows after their seven days,
 * transcripts that were sent by key, and what a crash left between bytes and row.
 */
export async function sweep(parts: { store: Store; objects: Objects }, now: Date): Promise<void> {
  const { store, objects } = parts;
  // An upload that is being processed as its hour ends reads a copy, so its own bytes may go.
  for (;;) {
    const sessions = await store.uploads.expired(now, AT_ONCE);
    for (const session of sessions) {
      for (const key of [session.metadataKey, session.audioKey]) {
        if (key !== null && !(await store.uploads.isHeld(key, now))) await objects.remove(key);
      }
      await store.uploads.markSwept(session.uuid, now);
    }
    if (sessions.length < AT_ONCE) break;
  }
  for (;;) {
    const files = await store.batches.expiredRejected(now, AT_ONCE);
    for (const file of files) {
      await objects.remove(file.objectKey);
      await store.batches.forgetRejected(file.uuid);
    }
    if (files.length < AT_ONCE) break;
  }
  const orphansBefore = now.getTime() - ORPHAN_MS;
  for await (const { key, modifiedAt } of objects.list('frozen/')) {
    if (modifiedAt.getTime() < orphansBefore) await objects.remove(key);
  }
  for await (const { key, modifiedAt } of objects.list('rejected/')) {
    if (modifiedAt.getTime() < orphansBefore && !(await store.batches.isRejectedKept(key))) await objects.remove(key);
  }
  // A long transcript travels beside its event; once the call has ended nobody fetches it. A young one may belong to a
  // retry that has not been committed yet.
  for await (const { key, modifiedAt } of objects.list('transcripts/')) {
    const [, firmUuid, callUuid] = key.split('/');
    if (modifiedAt.getTime() < orphansBefore && !(await store.calls.isUnfinished(firmUuid!, callUuid!))) await objects.remove(key);
  }
  await pruneClaims(store.db, CLAIM_DAYS);
}
