import type { Bus } from '@call-analysis/bus';
import { Fault, invalidFields } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { Actor } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { v7 as uuidv7 } from 'uuid';
import { campaignAuditEntry } from './add-calls.ts';
import { requireDateOrder } from './campaign-rules.ts';
import type { Campaign, Campaigns } from './campaign-store.ts';

interface NewCampaign {
  readonly name: string;
  readonly externalId: string | null;
  readonly description: string | null;
  readonly segmentType: string | null;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
}

/** Creates a draft, which accepts no calls until it is started. */
export async function createCampaign(
  { db, campaigns, bus, firms }: { readonly db: Database; readonly campaigns: Campaigns; bus: Bus; firms: Firms },
  actor: Actor,
  campaign: NewCampaign,
): Promise<Campaign> {
  requireDateOrder(campaign);
  const { firmUuid } = actor;
  const { segmentType } = campaign;
  if (segmentType !== null) {
    const { segmentTypes } = await firms.find(firmUuid);
    if (!segmentTypes.has(segmentType)) throw unknownSegmentType(segmentTypes);
  }
  const uuid = uuidv7();
  await db.transaction(async (tx) => {
    if (!(await campaigns.add(tx, firmUuid, uuid, campaign, new Date()))) throw takenExternalId();
    await bus.publish(tx, [campaignAuditEntry(actor, 'campaign.created', uuid)]);
  });
  return campaigns.get(firmUuid, uuid);
}

function takenExternalId(): Fault {
  const message =
    'Your firm already has a campaign with this external_id. Use a different one, or look that campaign up.';
  return new Fault('conflict', 'EXTERNAL_ID_EXISTS', message);
}

function unknownSegmentType(known: ReadonlySet<string>): Fault {
  const message = `is not one of your firm's segment types: ${[...known].join(', ')}`;
  return invalidFields([{ field: 'segment_type', code: 'UNKNOWN_SEGMENT_TYPE', message }]);
}
