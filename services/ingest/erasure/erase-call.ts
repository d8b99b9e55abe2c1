import { type Bus } from '@call-analysis/bus';
import { writeTombstone } from '@call-analysis/call-processing';
import { CallErased, createEvent } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { currentContext } from '@call-analysis/runtime';
import type { Limits } from '../limits.ts';
import type { Erasure, Store } from '../store/index.ts';
import { UNFINISHED } from '../calls/call-status.ts';
import { finishErasure } from './finish-erasure.ts';
import { removeRefusedCopies } from './remove-rejected-copies.ts';

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly limits: Limits;
}

/**
 * Erases a call: what the catalogue has of it in one transaction with the fact that says so, the rest behind it, by
 * itself and until it is done. Asked again before that, the answer is the receipt as it stands; afterwards there is no
 * such call. Fault NOT_FOUND.
 */
export async function eraseCall(parts: Parts, firmUuid: string, callUuid: string): Promise<Erasure> {
  const { store, bus } = parts;
  const begun = await store.erasures.find(firmUuid, callUuid);
  if (begun !== null && begun.finishedAt !== null) throw notFound('call');
  const erasure = begun ?? (await begin());
  try {
    return (await finishErasure(parts, firmUuid, callUuid)) ?? erasure;
  } catch {
    // Whoever hears of the erasure finishes it, and says what is in the way.
    return erasure;
  }

  async function begin(): Promise<Erasure> {
    // While it is known what to look for. Broken off here, the call is whole, and erasing it may be asked for again.
    const refusedRows = await removeRefusedCopies(parts, await store.calls.toRecognize(firmUuid, callUuid));
    return store.db.transaction(async (tx) => {
      await writeTombstone(tx, firmUuid, callUuid);
      const { campaign_uuid, batch_uuid, status, updated_at } = await store.calls.lock(tx, firmUuid, callUuid);
      const now = new Date();
      if (batch_uuid !== null)
        await store.batches.erased(tx, batch_uuid, UNFINISHED.includes(status) ? now : updated_at);
      const gone = [{ what: 'refused_row', count: refusedRows }];
      const erased = await store.erasures.erase(tx, firmUuid, callUuid, gone, now);
      // Last, so that what removing the rows has noted for the index goes too.
      await store.search.forget(tx, firmUuid, callUuid);
      if (campaign_uuid !== null) await store.tally.erased(tx, campaign_uuid);
      const about = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
      await bus.publish(tx, [createEvent('ingest', CallErased, callUuid, about, { erased_at: now.toISOString() })]);
      return erased;
    });
  }
}
