import type { Transaction } from '@call-analysis/postgres';
import { requireActive } from './campaign-rules.ts';
import type { Campaigns } from './campaign-store.ts';
import type { Tally } from './tally-store.ts';

export interface CampaignDeps {
  readonly campaigns: Campaigns;
  readonly tally: Tally;
}

/** Fault NOT_FOUND when the firm has no such campaign. A null uuid means no campaign. */
export async function requireCampaign(
  { campaigns }: Pick<CampaignDeps, 'campaigns'>,
  firmUuid: string,
  campaignUuid: string | null,
): Promise<void> {
  if (campaignUuid !== null) await campaigns.statusOf(firmUuid, campaignUuid);
}

/**
 * Checks that a campaign accepts calls, before any work is done for them. The status may change right afterwards. A
 * null uuid means no campaign.
 */
export async function requireActiveCampaign(
  { campaigns }: Pick<CampaignDeps, 'campaigns'>,
  firmUuid: string,
  campaignUuid: string | null,
): Promise<void> {
  if (campaignUuid !== null) requireActive(await campaigns.statusOf(firmUuid, campaignUuid));
}

/**
 * Counts new calls into a campaign. The campaign stays active until the transaction ends, so no call is added after
 * the campaign was closed, and canceling sees every call added before. A long upload calls this last, because an action
 * on the campaign waits for the transaction. Fault INVALID_TRANSITION when the campaign is not active.
 */
export async function addCallsToCampaign(
  { campaigns, tally }: CampaignDeps,
  tx: Transaction,
  { firmUuid, campaignUuid }: { firmUuid: string; campaignUuid: string | null },
  calls: number,
): Promise<void> {
  if (campaignUuid === null) return;
  requireActive(await campaigns.lockStatus(tx, firmUuid, campaignUuid));
  if (calls > 0) await tally.addQueued(tx, campaignUuid, calls);
}
