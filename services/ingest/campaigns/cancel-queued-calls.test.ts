import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { csvOf, IngestUnderTest, rowsOf } from '../test/ingest-under-test.ts';
import { cancelCalls } from './cancel-queued-calls.ts';
import { createCampaign } from './create-campaign.ts';
import { moveCampaign } from './change-campaign-state.ts';
import { tendCampaigns } from './maintain-campaigns.ts';

// Only its parts: the service itself would go on with the canceling whenever it likes.
const service = new IngestUnderTest();

it('canceling goes on after a crash, and after a wait that was too short', async () => {
  const owner = service.newOwner();
  const { store, bus } = service.parts;
  const actor = { ...owner, address: '' };
  const said = { name: 'Spring', externalId: null, description: null, segmentType: null, startsAt: null, endsAt: null };
  const { uuid } = await createCampaign(service.parts, actor, said);
  await moveCampaign({ store, bus }, actor, uuid, 'start');
  const { metadata } = await service.openUpload(owner, 'calls.csv', null, uuid);
  await service.putAt(metadata.key, csvOf(rowsOf(2500)));
  await service.process(owner, metadata.key, { campaignUuid: uuid });

  const crashing = { ...store, calls: { ...store.calls, cancel: () => Promise.reject(new Error('crash')) } };
  await expect(moveCampaign({ store: crashing, bus }, actor, uuid, 'cancel')).rejects.toThrow('crash');
  await cancelCalls({ store, bus }, { firmUuid: owner.firmUuid, uuid }, Date.now() - 1);
  const part = await store.campaigns.get(owner.firmUuid, uuid);
  expect([part.status, part.callsByStatus['canceled']]).toEqual(['canceled', 1000]);
  // Each time it works for some seconds at most.
  await waitUntil(async () => {
    await tendCampaigns({ store, bus });
    return (await store.campaigns.toCancel(10)).length === 0;
  });
  expect((await store.campaigns.get(owner.firmUuid, uuid)).callsByStatus).toEqual({ canceled: 2500 });
});
