import type { Objects } from '@call-analysis/objects';
import type { Database } from '@call-analysis/postgres';
import type { Batches } from './batch-store.ts';

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
