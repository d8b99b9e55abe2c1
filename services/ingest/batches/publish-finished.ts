import { BatchFinished, CampaignFinished, createEvent } from '@call-analysis/events';
import { attemptEach } from '@call-analysis/fault';
import type { Publishing } from '@call-analysis/service';
import { UNFINISHED } from '../calls/call-row.ts';
import type { CampaignName, Campaigns } from '../campaigns/campaign-store.ts';
import type { Batches, UnfinishedBatch } from './batch-store.ts';

const ROWS_PER_QUERY = 200;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;

/**
 * Publishes BatchFinished for each batch whose last call has ended. Later calls of a batch are processed later, so the
 * search begins at the last one and continues where the run before found a call that had not ended: a run looks at one
 * call of a batch that is still being processed, however large it is.
 */
export function batchFinisher({ db, batches, bus }: Publishing & { readonly batches: Batches }) {
  /** For each batch, the call for which it waits. */
  const waitsFor = new Map<string, string>();

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

  const unfinished = continued((after: UnfinishedBatch | null) =>
    batches.unfinished(after?.uuid ?? null, ROWS_PER_QUERY),
  );
  return () => attemptEach(unfinished(), finish, RUN_MS);
}

/** Publishes CampaignFinished for each completed or canceled campaign whose last call has ended. */
export function campaignFinisher({ db, campaigns, bus }: Publishing & { readonly campaigns: Campaigns }) {
  async function finish(name: CampaignName): Promise<void> {
    const { status, calls } = await campaigns.get(name.firmUuid, name.uuid);
    if (status !== 'completed' && status !== 'canceled') return;
    if (UNFINISHED.some((each) => (calls.by_status[each] ?? 0) > 0)) return;
    const origin = { firmuuid: name.firmUuid };
    const body = { status, by_status: calls.by_status };
    await db.transaction(async (tx) => {
      if (!(await campaigns.setFinishPublished(tx, name))) return;
      await bus.publish(tx, [createEvent('ingest', CampaignFinished, name.uuid, origin, body)]);
    });
  }

  const unfinished = continued((after: CampaignName | null) => campaigns.unfinished(after, ROWS_PER_QUERY));
  return () => attemptEach(unfinished(), finish, RUN_MS);
}

/** A walk through the rows of all pages that goes on where the one before stopped. */
function continued<Row>(pageAfter: (after: Row | null) => Promise<Row[]>): () => AsyncGenerator<Row> {
  let after: Row | null = null;
  return async function* () {
    do {
      const page = await pageAfter(after);
      for (const row of page) {
        yield row;
        after = row;
      }
      if (page.length < ROWS_PER_QUERY) after = null;
    } while (after !== null);
  };
}
