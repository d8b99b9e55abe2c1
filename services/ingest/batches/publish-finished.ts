import type { Bus } from '@call-analysis/bus';
import { BatchFinished, createEvent } from '@call-analysis/events';
import { attemptEach } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { Batches, UnfinishedBatch } from './batch-store.ts';

const BATCHES_PER_QUERY = 200;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;

/**
 * Publishes BatchFinished for each batch whose last call has ended. Later calls of a batch are processed later, so the
 * search begins at the last one and continues where the run before found a call that had not ended: a run looks at one
 * call of a batch that is still being processed, however large it is.
 */
export function batchFinisher({ db, batches, bus }: { readonly db: Database; readonly batches: Batches; bus: Bus }) {
  /** For each batch, the call for which it waits. */
  const waitsFor = new Map<string, string>();
  let after: string | null = null;

  async function finish(batch: UnfinishedBatch): Promise<void> {
    const upTo = waitsFor.get(batch.uuid) ?? batch.lastCall;
    const call = upTo === null ? null : await batches.lastUnfinishedCall(batch, upTo);
    if (call !== null) {
      waitsFor.set(batch.uuid, call);
      return;
    }
    waitsFor.delete(batch.uuid);
    await db.transaction(async (tx) => {
      const byStatus = await batches.finish(tx, batch);
      if (byStatus === null) return;
      const origin = { firmuuid: batch.firmUuid };
      await bus.publish(tx, [createEvent('ingest', BatchFinished, batch.uuid, origin, { by_status: byStatus })]);
    });
  }

  /** Goes on where the run before stopped. */
  async function* unfinished(): AsyncGenerator<UnfinishedBatch> {
    do {
      const page: UnfinishedBatch[] = await batches.unfinished(after, BATCHES_PER_QUERY);
      for (const batch of page) {
        yield batch;
        after = batch.uuid;
      }
      if (page.length < BATCHES_PER_QUERY) after = null;
    } while (after !== null);
  }

  return () => attemptEach(unfinished(), finish, RUN_MS);
}
