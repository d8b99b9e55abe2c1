import { AuditEntryCreated, type BodyOf, type Event, createEvent } from '@call-analysis/events';
import type { Transaction } from '@call-analysis/postgres';
import type { Actor } from '@call-analysis/service';
import { requireActive } from './campaign-rules.ts';
import type { Campaigns } from './campaign-store.ts';

export interface CampaignDeps {
  readonly campaigns: Campaigns;
}

/** Fault NOT_FOUND when the firm has no such campaign. A null uuid means no campaign. */
export async function requireCampaign(
  { campaigns }: CampaignDeps,
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
  { campaigns }: CampaignDeps,
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
  { campaigns }: CampaignDeps,
  tx: Transaction,
  { firmUuid, campaignUuid }: { firmUuid: string; campaignUuid: string | null },
  calls: number,
): Promise<void> {
  if (campaignUuid === null) return;
  requireActive(await campaigns.lockStatus(tx, firmUuid, campaignUuid));
  if (calls > 0) await campaigns.countQueued(tx, campaignUuid, calls);
}

/** An entry about a campaign for the firm's audit log. Publish it in the transaction of the action. */
export function campaignAuditEntry(
  { firmUuid, userUuid, address }: Actor,
  action: BodyOf<typeof AuditEntryCreated>['action'],
  campaignUuid: string,
): Event<BodyOf<typeof AuditEntryCreated>> {
  const entry = { actor: userUuid, action, address };
  return createEvent('ingest', AuditEntryCreated, campaignUuid, { firmuuid: firmUuid }, entry);
}
