import type { Bus } from '@call-analysis/bus';
import type { Actor } from '@call-analysis/service';
import type { Campaign, Store } from '../store/index.ts';
import { campaignAuditEntry } from './audit-entry.ts';
import { requireDateOrder, requireUnfinished } from './campaign-rules.ts';

/** Undefined properties stay as they are. */
interface CampaignChange {
  readonly name: string | undefined;
  readonly description: string | null | undefined;
  readonly startsAt: Date | null | undefined;
  readonly endsAt: Date | null | undefined;
}

/** Changes the properties of a campaign. Fault INVALID_TRANSITION when it is completed or canceled. */
export async function changeCampaign(
  { store, bus }: { store: Store; bus: Bus },
  actor: Actor,
  uuid: string,
  change: CampaignChange,
): Promise<Campaign> {
  const { firmUuid } = actor;
  await store.transaction(async (tx) => {
    const campaign = await store.campaigns.lock(tx, firmUuid, uuid);
    requireUnfinished(campaign.status);
    if (Object.values(change).every((value) => value === undefined)) return;
    const { name = campaign.name, description = campaign.description } = change;
    const { startsAt = campaign.startsAt, endsAt = campaign.endsAt } = change;
    requireDateOrder({ startsAt, endsAt });
    await store.campaigns.change(tx, firmUuid, uuid, { name, description, startsAt, endsAt }, new Date());
    await bus.publish(tx, [campaignAuditEntry(actor, 'campaign.changed', uuid)]);
  });
  return store.campaigns.get(firmUuid, uuid);
}
