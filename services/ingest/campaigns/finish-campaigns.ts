import type { Bus } from '@call-analysis/bus';
import { CampaignFinished, createEvent } from '@call-analysis/events';
import { attemptEach } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import { UNFINISHED } from '../calls/call-status.ts';
import type { CampaignName, Campaigns } from './campaign-store.ts';

const CAMPAIGNS_PER_QUERY = 100;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;

/** Publishes CampaignFinished for each completed or canceled campaign whose last call has ended. */
export function campaignFinisher({
  db,
  campaigns,
  bus,
}: {
  readonly db: Database;
  readonly campaigns: Campaigns;
  bus: Bus;
}) {
  let after: CampaignName | null = null;

  async function finish(name: CampaignName): Promise<void> {
    const { status, callsByStatus } = await campaigns.get(name.firmUuid, name.uuid);
    if (status !== 'completed' && status !== 'canceled') return;
    if (UNFINISHED.some((status) => (callsByStatus[status] ?? 0) > 0)) return;
    const origin = { firmuuid: name.firmUuid };
    const body = { status, by_status: { ...callsByStatus } };
    await db.transaction(async (tx) => {
      if (!(await campaigns.setFinishPublished(tx, name))) return;
      await bus.publish(tx, [createEvent('ingest', CampaignFinished, name.uuid, origin, body)]);
    });
  }

  /** Goes on where the run before stopped. */
  async function* unfinished(): AsyncGenerator<CampaignName> {
    do {
      const page: CampaignName[] = await campaigns.unfinished(after, CAMPAIGNS_PER_QUERY);
      for (const campaign of page) {
        yield campaign;
        after = campaign;
      }
      if (page.length < CAMPAIGNS_PER_QUERY) after = null;
    } while (after !== null);
  }

  return () => attemptEach(unfinished(), finish, RUN_MS);
}
