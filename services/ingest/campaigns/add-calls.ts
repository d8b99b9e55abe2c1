import type { Transaction } from '@call-analysis/postgres';
import type { Store } from '../store/index.ts';
import { requireActive } from './campaign-rules.ts';

/** Whether calls may come into a campaign as it is now, before any work is done for them. Null is no campaign. */
export async function requireOpen(store: Store, firmUuid: string, campaignUuid: string | null): Promise<void> {
  if (campaignUuid !== null) requireActive(await store.campaigns.statusOf(firmUuid, campaignUuid));
}

/**
 * Lets so many new calls into a campaign. From here to the end of the transaction the campaign stays active, so no call
 * comes in behind a deed that ended the uploads, and a cancel sees all that came before it. An upload of minutes admits
 * its calls last, lest the deed wait for it.
 */
export async function admit(
  store: Store,
  tx: Transaction,
  { firmUuid, campaignUuid }: { firmUuid: string; campaignUuid: string | null },
  calls: number,
): Promise<void> {
  if (campaignUuid === null) return;
  requireActive(await store.campaigns.hold(tx, firmUuid, campaignUuid));
  if (calls > 0) await store.tally.came(tx, campaignUuid, calls);
}
