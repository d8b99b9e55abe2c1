import { writeTombstone } from '@call-analysis/call-processing';
import { CallErased, createEvent } from '@call-analysis/events';
import { Fault, notFound } from '@call-analysis/fault';
import { DEADLOCKS_RETRIED, type Sql } from '@call-analysis/postgres';
import { type Actor, auditEntry } from '@call-analysis/service';
import { UNFINISHED } from '../calls/call-status.ts';
import type { Calls } from '../calls/call-store.ts';
import type { Campaigns } from '../campaigns/campaign-store.ts';
import { type RemoveCopiesDeps, removeRejectedCopies } from '../intake/rejected/remove-rejected-copies.ts';
import type { Erasure, Erasures } from './erasure-store.ts';
import { type FinishDeps, finishErasure } from './finish-erasure.ts';

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

/** An erasure as the API shows it. */
export function receiptOf({ callUuid: uuid, erasedAt, removed }: Erasure) {
  return { uuid, erased_at: erasedAt.toISOString(), removed: [...removed] };
}

/** For whoever erases many calls: one that another request has erased is no error. */
export function unlessErased(error: unknown): void {
  if (!(error instanceof Fault) || error.kind !== 'not-found') throw error;
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
