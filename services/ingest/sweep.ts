import { pruneProcessed } from '@call-analysis/call-processing';
import { Failures } from '@call-analysis/fault';
import { v7 as uuidv7 } from 'uuid';
import type { Calls } from './calls/call-store.ts';
import { type ArchiveDeps, releaseArchive } from './erasure/erase-call.ts';
import type { Erasures } from './erasure/erasure-store.ts';
import type { RejectedFiles } from './intake/rejected/rejected-file-store.ts';
import type { Uploads, UploadSession } from './intake/upload-store.ts';
import type { Jobs } from './jobs/job-store.ts';

/** At this age an object without a row is an orphan: no request runs this long. */
const ORPHAN_MS = 6 * 3600 * 1000;
const ROWS_PER_READ = 500;

interface Deps extends ArchiveDeps {
  readonly uploads: Uploads;
  readonly calls: Calls;
  readonly jobs: Jobs;
  readonly erasures: Erasures;
  readonly rejectedFiles: RejectedFiles;
  /** The days within which an event may be delivered again. */
  readonly claimDays: number;
}

/**
 * Removes what is no longer needed: expired uploads, rejected CSVs after seven days, archives whose recordings are
 * extracted, packed transcripts of ended calls, objects that a crash left without a row, and old claims, tombstones and
 * receipts. What cannot be removed does not keep the rest; the errors are thrown at the end.
 */
export async function sweep(deps: Deps, now: Date): Promise<void> {
  const { claimDays } = deps;
  const orphanedBefore = now.getTime() - ORPHAN_MS;
  const failures = new Failures();
  for (const step of [
    () => sweepUploads(deps, now, failures),
    () => sweepRejected(deps, now, failures),
    () => sweepArchives(deps, now, failures),
    () => sweepOrphans(deps, orphanedBefore, failures),
    () => pruneProcessed(deps.db, claimDays),
    () => deps.erasures.prune(claimDays),
    () => deps.jobs.prune(claimDays),
    () => deps.rejectedFiles.pruneFilters(uuidv7({ msecs: orphanedBefore })),
  ])
    await failures.attempt(step);
  failures.throwAll();
}

/**
 * Processing reads a copy, so the bytes of an upload can be removed as soon as its session expires. A PUT that began
 * before that may end much later on a slow connection. Its bytes are removed a day later.
 */
async function sweepUploads({ uploads, objects }: Deps, now: Date, failures: Failures): Promise<void> {
  const sweepSession = async ({ uuid, metadataKey, audioKey }: UploadSession) => {
    for (const key of [metadataKey, audioKey])
      if (key !== null && !(await uploads.isHeld(key, now))) await objects.remove(key);
    await uploads.markSwept(uuid, now);
  };
  await removeAll(() => uploads.toSweep(now, ROWS_PER_READ), sweepSession, failures);
}

async function sweepRejected({ rejectedFiles, objects }: Deps, now: Date, failures: Failures): Promise<void> {
  const remove = async ({ uuid, objectKey }: { readonly uuid: string; readonly objectKey: string }) => {
    await objects.remove(objectKey);
    await rejectedFiles.forget(uuid);
  };
  await removeAll(() => rejectedFiles.expired(now, ROWS_PER_READ), remove, failures);
}

/** `next` reads what `remove` has not removed yet. */
async function removeAll<Row>(
  next: () => Promise<Row[]>,
  remove: (row: Row) => Promise<void>,
  failures: Failures,
): Promise<void> {
  for (;;) {
    const rows = await next();
    let removed = 0;
    for (const row of rows) if (await failures.attempt(() => remove(row))) removed += 1;
    if (rows.length < ROWS_PER_READ || removed === 0) return;
  }
}

async function sweepArchives(deps: Deps, now: Date, failures: Failures): Promise<void> {
  for (let after: string | null = null; ;) {
    const uuids: string[] = await deps.batches.withArchive(after, ROWS_PER_READ);
    for (const uuid of uuids) await failures.attempt(() => releaseArchive(deps, uuid, now));
    if (uuids.length < ROWS_PER_READ) return;
    after = uuids.at(-1) ?? null;
  }
}

async function sweepOrphans(
  { batches, calls, rejectedFiles, objects }: Deps,
  before: number,
  failures: Failures,
): Promise<void> {
  const folders: [prefix: string, isNeeded: (key: string) => Promise<boolean>][] = [
    ['frozen/', async (key) => key.endsWith('.zip') && (await batches.isArchiveKept(key))],
    ['rejected/', (key) => rejectedFiles.isKept(key)],
    // A young packed transcript may belong to a retry that is not committed yet.
    [
      'transcripts/',
      (key) => {
        const [, firmUuid, callUuid] = key.split('/');
        return calls.needsPackedTranscript(firmUuid!, callUuid!);
      },
    ],
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
