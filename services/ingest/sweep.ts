import { pruneProcessed } from '@call-analysis/call-processing';
import { Failures } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { v7 as uuidv7 } from 'uuid';
import type { UploadSession } from './intake/upload-store.ts';
import type { Store } from './store/index.ts';

/** At this age an object without a row is an orphan: no request runs this long. */
const ORPHAN_MS = 6 * 3600 * 1000;
/** How long a failed extraction can be retried. */
const RETRY_MS = 7 * 24 * 3600 * 1000;
const ROWS_PER_READ = 500;

interface Deps {
  readonly store: Store;
  readonly objects: Objects;
  /** The days within which an event may be delivered again. Default 30. */
  readonly claimDays?: number;
}

/**
 * Removes what is no longer needed: expired uploads, rejected CSVs after seven days, archives whose recordings are
 * extracted, packed transcripts of ended calls, objects that a crash left without a row, and old claims, tombstones and
 * receipts. What cannot be removed does not keep the rest; the errors are thrown at the end.
 */
export async function sweep({ store, objects, claimDays = 30 }: Deps, now: Date): Promise<void> {
  const failures = new Failures();
  for (const step of [
    () => sweepUploads(store, objects, now, failures),
    () => sweepRejected(store, objects, now, failures),
    () => sweepArchives(store, objects, now, failures),
    () => sweepOrphans(store, objects, now.getTime() - ORPHAN_MS, failures),
    () => pruneProcessed(store.db, claimDays),
    () => store.erasures.prune(claimDays),
    () => store.jobs.prune(claimDays),
    () => store.rejectedFilters.prune(uuidv7({ msecs: now.getTime() - ORPHAN_MS })),
  ])
    await failures.attempt(step);
  failures.throwAll();
}

/** Batches created after this time keep their archive for retries of failed extractions. */
export function archiveNeededAfter(now: Date): Date {
  return new Date(now.getTime() - RETRY_MS);
}

/**
 * Processing reads a copy, so the bytes of an upload can be removed as soon as its session expires. A PUT that began
 * before that may end much later on a slow connection. Its bytes are removed a day later.
 */
async function sweepUploads(store: Store, objects: Objects, now: Date, failures: Failures): Promise<void> {
  await removeAll(() => store.uploads.expired(now, ROWS_PER_READ));
  await removeAll(() => store.uploads.sweptEarly(now, ROWS_PER_READ));

  async function removeAll(next: () => Promise<UploadSession[]>): Promise<void> {
    for (;;) {
      const sessions = await next();
      let swept = 0;
      for (const session of sessions) if (await failures.attempt(() => sweepSession(session))) swept += 1;
      if (sessions.length < ROWS_PER_READ || swept === 0) return;
    }
  }

  async function sweepSession(session: UploadSession): Promise<void> {
    for (const key of [session.metadataKey, session.audioKey]) {
      if (key !== null && !(await store.uploads.isHeld(key, now))) await objects.remove(key);
    }
    await store.uploads.markSwept(session.uuid, now);
  }
}

async function sweepRejected(store: Store, objects: Objects, now: Date, failures: Failures): Promise<void> {
  for (;;) {
    const files = await store.batches.expiredRejected(now, ROWS_PER_READ);
    let swept = 0;
    for (const file of files) {
      const remove = async () => {
        await objects.remove(file.objectKey);
        await store.batches.forgetRejected(file.uuid);
      };
      if (await failures.attempt(remove)) swept += 1;
    }
    if (files.length < ROWS_PER_READ || swept === 0) return;
  }
}

/** The row is updated first, so that a crash leaves an orphan object and never a batch without its archive. */
async function sweepArchives(store: Store, objects: Objects, now: Date, failures: Failures): Promise<void> {
  const retriesAfter = archiveNeededAfter(now);
  for (let after: string | null = null; ;) {
    const batches: string[] = await store.batches.withArchive(after, ROWS_PER_READ);
    for (const uuid of batches) {
      await failures.attempt(async () => {
        const key = await store.transaction((tx) => store.batches.releaseArchive(tx, uuid, retriesAfter));
        if (key !== null) await objects.remove(key);
      });
    }
    if (batches.length < ROWS_PER_READ) return;
    after = batches.at(-1) ?? null;
  }
}

async function sweepOrphans(store: Store, objects: Objects, before: number, failures: Failures): Promise<void> {
  const folders: [prefix: string, isNeeded: (key: string) => Promise<boolean>][] = [
    ['frozen/', async (key) => key.endsWith('.zip') && (await store.batches.isArchiveKept(key))],
    ['rejected/', (key) => store.batches.isRejectedKept(key)],
    // A young packed transcript may belong to a retry that is not committed yet.
    ['transcripts/', (key) => needsTranscript(store, key)],
  ];
  for (const [prefix, isNeeded] of folders) {
    for await (const { key, modifiedAt } of objects.list(prefix)) {
      if (modifiedAt.getTime() >= before) continue;
      await failures.attempt(async () => {
        if (!(await isNeeded(key))) await objects.remove(key);
      });
    }
  }
}

async function needsTranscript(store: Store, key: string): Promise<boolean> {
  const [, firmUuid, callUuid] = key.split('/');
  return store.calls.needsPackedTranscript(firmUuid!, callUuid!);
}
