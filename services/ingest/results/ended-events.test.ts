import { randomUUID } from 'node:crypto';
import { BatchFinished, type BodyOf, CallEnded, CampaignFinished, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { batchFinisher, campaignFinisher } from '../batches/publish-finished.ts';
import { changeCampaignState, createCampaign } from '../campaigns/change-campaign.ts';
import { eraseCall } from '../erasure/erase-call.ts';
import { csvOf, rowsOf } from '../test/csv.ts';
import { type Call, callAnalyzed, callFailed, failure, noSpeech } from '../test/events.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { projectAnalyses, projectFailures } from './project-results.ts';

// Not serving: the schedules of a running service would publish at any moment.
const service = new IngestUnderTest();
let ended: Event<BodyOf<typeof CallEnded>>[];
let batches: Event<BodyOf<typeof BatchFinished>>[];
let campaigns: Event<BodyOf<typeof CampaignFinished>>[];

beforeAll(async () => {
  ended = await service.collect(CallEnded);
  batches = await service.collect(BatchFinished);
  campaigns = await service.collect(CampaignFinished);
});

async function uploaded(calls: number, campaignUuid: string | null = null): Promise<Call[]> {
  const owner = service.newOwner();
  return uploadedBy(owner, calls, campaignUuid);
}

async function uploadedBy(owner: Call['owner'], calls: number, campaignUuid: string | null): Promise<Call[]> {
  const { metadata_key } = await service.openUpload(owner, 'calls.csv', null, campaignUuid);
  await service.putAt(metadata_key, csvOf(rowsOf(calls)));
  await service.process(owner, metadata_key, { campaignUuid });
  return (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
}

const analyzed = (...calls: Call[]) =>
  projectAnalyses(
    service.deps,
    calls.map((call) => callAnalyzed(call)),
  );
const settled = () =>
  waitUntil(async () => (await service.deps.bus.depths()).every(({ waiting, active }) => waiting + active === 0));
const ofFirm = <Body>(events: readonly Event<Body>[], { owner }: Call) =>
  events.filter(({ firmuuid }) => firmuuid === owner.firmUuid);

it('a call that changes after its completion, in one transaction, is listed as it is in the end', async () => {
  const [{ owner, uuid }] = (await uploaded(1)) as [Call];
  const { firmUuid } = owner;
  const result = { outcome: 'no_speech', language: null, score: null, analysisUuid: randomUUID(), analysis: null };
  await service.db.transaction(async (tx) => {
    await service.deps.results.complete(tx, [{ firmUuid, callUuid: uuid, attempt: 1, at: new Date(), ...result }]);
    await tx.query(`UPDATE call SET status = 'canceled' WHERE firm_uuid = $1 AND uuid = $2`, [firmUuid, uuid]);
  });
  const listed = await service.db.query('SELECT status, outcome FROM listed_call WHERE uuid = $1', [uuid]);
  expect(listed).toEqual([{ status: 'canceled', outcome: 'no_speech' }]);
});

describe('call.ended.v1', () => {
  it('is published once for a call that is completed, and once for one that fails', async () => {
    const [good, silent, bad] = (await uploaded(3)) as [Call, Call, Call];
    const event = callAnalyzed(good);
    await projectAnalyses(service.deps, [event, callAnalyzed(silent, noSpeech)]);
    await projectAnalyses(service.deps, [event]);
    await analyzed(good);
    await projectFailures(service.deps, [callFailed(bad), callFailed(good)]);
    await settled();
    const states = new Map(ofFirm(ended, good).map(({ subject, data }) => [subject, data]));
    expect(ofFirm(ended, good)).toHaveLength(3);
    expect(states.get(good.uuid)).toEqual({
      status: 'completed',
      outcome: 'scored',
      score: 87.5,
      segment_type: 'support',
      partner_call_id: null,
      batch_uuid: expect.any(String),
      campaign_uuid: null,
      failure: null,
    });
    expect(states.get(silent.uuid)).toMatchObject({ outcome: 'no_speech', score: null });
    expect(states.get(bad.uuid)).toMatchObject({ status: 'failed', outcome: null, failure });
  });
});

describe('batch.finished.v1', () => {
  it('is published once, when the last call has ended, with the calls by status', async () => {
    const calls = await uploaded(4);
    const [first, second, third, fourth] = calls as [Call, Call, Call, Call];
    const [finish, otherReplica] = [batchFinisher(service.deps), batchFinisher(service.deps)];
    await analyzed(first, second);
    await finish();
    await projectFailures(service.deps, [callFailed(third)]);
    await finish();
    await settled();
    expect(ofFirm(batches, first)).toEqual([]);
    await eraseCall(service.deps, fourth.owner.firmUuid, fourth.uuid);
    await Promise.all([finish(), otherReplica()]);
    await finish();
    await settled();
    expect(ofFirm(batches, first)).toMatchObject([{ data: { by_status: { completed: 2, failed: 1 } } }]);
  });

  it('is published of the batches behind one that cannot be finished', async () => {
    const [damaged] = (await uploaded(1)) as [Call];
    const [other] = (await uploaded(1)) as [Call];
    await analyzed(damaged, other);
    const { batches: stored } = service.deps;
    const { batch } = (await service.callsOf(damaged.owner))[0]!;
    const finishOthers: typeof stored.finish = async (tx, each) => {
      if (each.uuid === batch) throw new Error('damaged');
      return stored.finish(tx, each);
    };
    const deps = { ...service.deps, batches: { ...stored, finish: finishOthers } };
    await expect(batchFinisher(deps)()).rejects.toThrow('damaged');
    await settled();
    expect(ofFirm(batches, other)).toHaveLength(1);
    expect(ofFirm(batches, damaged)).toEqual([]);
  });

  it('waits for a call that was retried in the meantime', async () => {
    const [first, second] = (await uploaded(2)) as [Call, Call];
    const finish = batchFinisher(service.deps);
    await finish();
    const { firmUuid } = first.owner;
    await projectFailures(service.deps, [callFailed(second)]);
    await service.db.transaction((tx) =>
      service.deps.calls.startAttempt(tx, firmUuid, second.uuid, 'queued', 'retried'),
    );
    await analyzed(first);
    await finish();
    await settled();
    expect(ofFirm(batches, first)).toEqual([]);
    await projectAnalyses(service.deps, [callAnalyzed(second, { attempt: 2 })]);
    await finish();
    await settled();
    expect(ofFirm(batches, first)).toMatchObject([{ data: { by_status: { completed: 2 } } }]);
  });
});

describe('campaign.finished.v1', () => {
  it('is published once, when a completed campaign has no call in progress', async () => {
    const owner = service.newOwner();
    const actor = { ...owner, address: '' };
    const none = { external_id: null, description: null, segment_type: null, starts_at: null, ends_at: null };
    const { uuid } = await createCampaign(service.deps, actor, { name: 'Spring', ...none });
    await changeCampaignState(service.deps, actor, uuid, 'start');
    const [first, second] = (await uploadedBy(owner, 2, uuid)) as [Call, Call];
    await analyzed(first);
    await changeCampaignState(service.deps, actor, uuid, 'complete');
    const finish = campaignFinisher(service.deps);
    await finish();
    await settled();
    expect(ofFirm(campaigns, first)).toEqual([]);
    await analyzed(second);
    await Promise.all([finish(), campaignFinisher(service.deps)()]);
    await finish();
    await settled();
    expect(ofFirm(campaigns, first)).toMatchObject([
      { subject: uuid, data: { status: 'completed', by_status: { completed: 2 } } },
    ]);
  });
});
