import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { csvOf, rowsOf } from '../test/csv.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { changeCampaignState, createCampaign } from './change-campaign.ts';
import { cancelQueuedCalls, maintainCampaigns } from './maintain-campaigns.ts';

// Not serving: the running service would finish the canceling at any moment.
const service = new IngestUnderTest();

it('canceling is finished after a crash, and after a request that did not wait long enough', async () => {
  const owner = service.newOwner();
  const { deps } = service;
  const actor = { ...owner, address: '' };
  const properties = {
    name: 'Spring',
    external_id: null,
    description: null,
    segment_type: null,
    starts_at: null,
    ends_at: null,
  };
  const { uuid } = await createCampaign(service.deps, actor, properties);
  await changeCampaignState(deps, actor, uuid, 'start');
  const { metadata_key } = await service.openUpload(owner, 'calls.csv', null, uuid);
  await service.putAt(metadata_key, csvOf(rowsOf(2500)));
  await service.process(owner, metadata_key, { campaignUuid: uuid });

  const crashing = {
    ...deps,
    campaigns: { ...deps.campaigns, cancelCalls: () => Promise.reject(new Error('crash')) },
  };
  await expect(changeCampaignState(crashing, actor, uuid, 'cancel')).rejects.toThrow('crash');
  await cancelQueuedCalls(deps, { firmUuid: owner.firmUuid, uuid }, Date.now() - 1);
  const part = await deps.campaigns.get(owner.firmUuid, uuid);
  expect([part.status, part.calls.by_status['canceled']]).toEqual(['canceled', 1000]);
  // Each run lasts some seconds at most.
  await waitUntil(async () => {
    await maintainCampaigns(deps);
    return (await deps.campaigns.withCallsToCancel(10)).length === 0;
  });
  expect((await deps.campaigns.get(owner.firmUuid, uuid)).calls.by_status).toEqual({ canceled: 2500 });
});
