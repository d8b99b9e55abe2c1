import type { Bus } from '@call-analysis/bus';
import { CampaignFinished, createEvent } from '@call-analysis/events';
import { UNFINISHED } from '../calls/call-status.ts';
import type { Store } from '../store/index.ts';
import type { CampaignName } from './campaign-store.ts';

const CAMPAIGNS_PER_QUERY = 100;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;

/** Publishes CampaignFinished for each completed or canceled campaign whose last call has ended. */
export function campaignFinisher({ store, bus }: { store: Store; bus: Bus }) {
  let after: CampaignName | null = null;

  async function finish(name: CampaignName): Promise<void> {
    const { status, callsByStatus } = await store.campaigns.get(name.firmUuid, name.uuid);
    if (status !== 'completed' && status !== 'canceled') return;
    if (UNFINISHED.some((unfinished) => (callsByStatus[unfinished] ?? 0) > 0)) return;
    const origin = { firmuuid: name.firmUuid, priority: 0, traceparent: undefined };
    const body = { status, by_status: { ...callsByStatus } };
    await store.transaction(async (tx) => {
      if (!(await store.campaigns.setFinishPublished(tx, name))) return;
      await bus.publish(tx, [createEvent('ingest', CampaignFinished, name.uuid, origin, body)]);
    });
  }

  return async function finishCampaigns(): Promise<void> {
    const deadline = Date.now() + RUN_MS;
    do {
      const campaigns: CampaignName[] = await store.campaigns.unfinished(after, CAMPAIGNS_PER_QUERY);
      for (const campaign of campaigns) {
        if (Date.now() > deadline) return;
        await finish(campaign);
        after = campaign;
      }
      if (campaigns.length < CAMPAIGNS_PER_QUERY) after = null;
    } while (after !== null);
  };
}
