import { randomUUID } from 'node:crypto';
import { AudioStored, type BodyOf, CallsCanceled, AuditEntryCreated, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { registerCall } from '../intake/register-call.ts';
import type { Owner } from '../intake/upload-store.ts';
import { audioCsvOf, csvOf, type CsvRow, goodAudio, rowsOf } from '../test/csv.ts';
import { callAnalyzed } from '../test/events.ts';
import { callerOf, faultOf, recordingOf, zipOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';

const service = new IngestUnderTest({ serving: true });

let stored: Event<BodyOf<typeof AudioStored>>[];
let canceled: Event<BodyOf<typeof CallsCanceled>>[];
let auditEntries: Event<BodyOf<typeof AuditEntryCreated>>[];
beforeAll(async () => {
  canceled = await service.collect(CallsCanceled);
  auditEntries = await service.collect(AuditEntryCreated);
  stored = await service.collect(AudioStored);
});

const INVALID = { kind: 'conflict', code: 'INVALID_TRANSITION' };

async function newCampaign(owner: Owner, change: object = {}): Promise<string> {
  return (await service.client.createCampaign({ ...callerOf(owner), name: 'Spring', ...change })).uuid;
}

async function activeCampaign(owner: Owner): Promise<string> {
  const uuid = await newCampaign(owner);
  await act(owner, uuid, 'start');
  return uuid;
}

function act(owner: Owner, campaign_uuid: string, action: string) {
  return service.client.moveCampaign({ ...callerOf(owner), campaign_uuid, action });
}

function read(owner: Owner, campaign_uuid: string) {
  return service.client.getCampaign({ ...callerOf(owner), campaign_uuid });
}

async function put(owner: Owner, campaign_uuid: string, rows: readonly CsvRow[]): Promise<string> {
  const { metadata_key } = await service.client.openUpload({
    ...callerOf(owner),
    metadata_filename: 'calls.csv',
    campaign_uuid,
  });
  await service.putAt(metadata_key, csvOf(rows));
  return metadata_key;
}

function process(owner: Owner, campaign_uuid: string | undefined, metadata_key: string) {
  return service.client.processUpload({
    ...callerOf(owner),
    metadata_key,
    on_error: 'reject',
    ...(campaign_uuid !== undefined && { campaign_uuid }),
  });
}

async function upload(owner: Owner, campaign_uuid: string, rows: readonly CsvRow[]) {
  return process(owner, campaign_uuid, await put(owner, campaign_uuid, rows));
}

/** A single recording, registered as the audio service does. */
function register(owner: Owner, campaignUuid: string | null, metadata: object = {}, callUuid = uuidv7()) {
  return registerCall(service.deps, owner, {
    callUuid,
    fileName: 'call.wav',
    metadata: JSON.stringify({ ...goodAudio, ...metadata }),
    found: { recording: recordingOf() },
    campaignUuid,
  });
}

async function analyzed(owner: Owner, callUuid: string, score: number | null): Promise<void> {
  await service.db.transaction((tx) =>
    service.deps.results.complete(tx, [
      {
        firmUuid: owner.firmUuid,
        callUuid,
        attempt: 1,
        at: new Date(),
        outcome: score === null ? 'no_speech' : 'scored',
        language: 'en',
        score,
        analysisUuid: randomUUID(),
        analysis: null,
      },
    ]),
  );
}

describe('a campaign', () => {
  it('starts as a draft with its properties and no calls', async () => {
    const owner = service.newOwner();
    const properties = {
      external_id: 'crm-1',
      description: 'd',
      segment_type: 'support',
      starts_at: '2026-10-01T04:00:00.000Z',
    };
    const uuid = await newCampaign(owner, properties);
    const campaign = await read(owner, uuid);
    expect(campaign).toMatchObject({ ...properties, uuid, status: 'draft', calls_total: 0, calls_by_status: {} });
    expect(campaign).not.toHaveProperty('ends_at');
    expect(campaign).not.toHaveProperty('average_score');
  });

  it('has an external_id that is unique in its firm, even when two are created at the same time', async () => {
    const owner = service.newOwner();
    const both = [1, 2].map(() => newCampaign(owner, { external_id: 'same' }));
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await faultOf(newCampaign(owner, { external_id: 'same' }))).toMatchObject({
      kind: 'conflict',
      code: 'EXTERNAL_ID_EXISTS',
    });
    await newCampaign(service.newOwner(), { external_id: 'same' });
    await Promise.all([newCampaign(owner), newCampaign(owner)]);
  });

  it.each([
    ['a segment type that the firm does not have', { segment_type: 'fishing' }, 'segment_type'],
    ['an end before its start', { starts_at: '2026-10-02T00:00:00Z', ends_at: '2026-10-01T00:00:00Z' }, 'ends_at'],
    ['an end at its start', { starts_at: '2026-10-02T00:00:00Z', ends_at: '2026-10-02T00:00:00Z' }, 'ends_at'],
  ])('is refused for %s', async (_what, change, field) => {
    const fault = await faultOf(newCampaign(service.newOwner(), change));
    expect(fault).toMatchObject({ code: 'VALIDATION_ERROR', details: { fields: [{ field }] } });
  });

  it('changes only the given properties, until it has finished', async () => {
    const owner = service.newOwner();
    const campaign_uuid = await newCampaign(owner, { description: 'd', starts_at: '2026-10-01T00:00:00.000Z' });
    const change = (given: object) => service.client.changeCampaign({ ...callerOf(owner), campaign_uuid, ...given });
    expect(await change({ name: 'Autumn' })).toMatchObject({ name: 'Autumn', description: 'd' });
    const early = await faultOf(change({ ends_at: '2026-09-01T00:00:00Z' }));
    expect(early).toMatchObject({ code: 'VALIDATION_ERROR', details: { fields: [{ field: 'ends_at' }] } });
    const cleared = await change({ clear: ['description', 'starts_at'], ends_at: '2026-09-01T00:00:00.000Z' });
    expect(cleared).toMatchObject({ name: 'Autumn', ends_at: '2026-09-01T00:00:00.000Z' });
    expect(cleared).not.toHaveProperty('description');
    expect(cleared).not.toHaveProperty('starts_at');
    await act(owner, campaign_uuid, 'cancel');
    expect(await faultOf(change({ name: 'Late' }))).toMatchObject({ ...INVALID, details: { allowed: [] } });
  });

  it('stays the same, updated_at included, when no property is given', async () => {
    const owner = service.newOwner();
    const campaign_uuid = await newCampaign(owner);
    const request = { ...callerOf(owner), campaign_uuid };
    const before = await service.client.changeCampaign({ ...request, name: 'Autumn' });
    expect(await service.client.changeCampaign(request)).toEqual(before);
    expect(await service.client.getCampaign(request)).toEqual(before);
  });

  it('is listed newest first, by status and external id, in pages', async () => {
    const owner = service.newOwner();
    const uuids: string[] = [];
    for (const external_id of ['a', 'b', 'c']) uuids.push(await newCampaign(owner, { external_id }));
    await act(owner, uuids[1]!, 'start');
    const list = async (filter: object, page = 1, size = 10) => {
      const { count, items } = await service.client.listCampaigns({ ...callerOf(owner), page, size, ...filter });
      return [count, ...items.map(({ uuid }) => uuids.indexOf(uuid))];
    };
    expect(await list({})).toEqual([3, 2, 1, 0]);
    expect(await list({}, 2, 2)).toEqual([3, 0]);
    expect(await list({}, 3, 2)).toEqual([3]);
    expect(await list({ status: ['draft'] })).toEqual([2, 2, 0]);
    expect(await list({ status: ['active', 'draft'] })).toEqual([3, 2, 1, 0]);
    expect(await list({ external_id: 'b' })).toEqual([1, 1]);
    expect(await list({ external_id: 'b', status: ['paused'] })).toEqual([0]);
  });

  it('of another firm is not found by any request', async () => {
    const owner = service.newOwner();
    const uuid = await activeCampaign(owner);
    await upload(owner, uuid, rowsOf(1));
    const { items } = await service.client.listCalls({ ...callerOf(owner), page: 1, size: 1, campaign: uuid });
    const otherFirm = service.newOwner();
    const itsOwnUpload = await service.put(otherFirm, csvOf(rowsOf(1)));
    const refused = [
      read(otherFirm, uuid),
      act(otherFirm, uuid, 'pause'),
      service.client.changeCampaign({ ...callerOf(otherFirm), campaign_uuid: uuid, name: 'x' }),
      service.client.admitToCampaign({ ...callerOf(otherFirm), campaign_uuid: uuid }),
      service.client.openUpload({ ...callerOf(otherFirm), metadata_filename: 'a.csv', campaign_uuid: uuid }),
      process(otherFirm, uuid, itsOwnUpload),
      process(otherFirm, uuid, 'a-key-of-nobody.csv'),
      register(otherFirm, uuid),
      service.client.getCall({ ...callerOf(otherFirm), call_uuid: items[0]!.uuid, campaign_uuid: uuid }),
    ];
    for (const each of refused) expect(await faultOf(each)).toMatchObject({ code: 'NOT_FOUND' });
    const listed = await service.client.listCampaigns({ ...callerOf(otherFirm), page: 1, size: 10 });
    expect([listed.count, listed.items]).toEqual([0, []]);
    expect(await read(owner, uuid)).toMatchObject({ status: 'active', name: 'Spring', calls_total: 1 });
  });
});

it('actions on a campaign are published to the audit log with their actor, refused ones are not', async () => {
  const owner = service.newOwner();
  const uuid = await activeCampaign(owner);
  await faultOf(act(owner, uuid, 'start'));
  await upload(owner, uuid, rowsOf(1));
  await act(owner, uuid, 'complete');
  const expected = ['calls_added', 'completed', 'created', 'started'].map((action) => `campaign.${action}`);
  const own = await waitUntil(() => {
    const found = auditEntries.filter(({ subject }) => subject === uuid);
    return found.length >= expected.length ? found : undefined;
  });
  expect(own.map(({ data }) => data.action).toSorted()).toEqual(expected);
  expect(new Set(own.map(({ data }) => data.actor))).toEqual(new Set([owner.userUuid]));
});

describe('calls of a campaign', () => {
  it('are counted with statuses and scores for all three kinds of upload', async () => {
    const owner = service.newOwner();
    const uuid = await activeCampaign(owner);
    await upload(owner, uuid, rowsOf(3));
    const { audio_key, metadata_key } = await service.client.openUpload({
      ...callerOf(owner),
      metadata_filename: 'batch.csv',
      audios_filename: 'batch.zip',
      campaign_uuid: uuid,
    });
    await service.putAt(metadata_key, audioCsvOf([{ audio_file_name: 'a.wav' }]));
    await service.putAt(audio_key!, zipOf(['a.wav']));
    await service.client.processUpload({
      ...callerOf(owner),
      metadata_key,
      audios_key: audio_key!,
      on_error: 'reject',
      campaign_uuid: uuid,
    });
    const { call_uuid: callUuid } = await register(owner, uuid);
    expect(await read(owner, uuid)).toMatchObject({ calls_total: 5, calls_by_status: { queued: 5 } });

    await service.upload(owner, csvOf(rowsOf(2)));
    const { items, count } = await service.client.listCalls({ ...callerOf(owner), page: 1, size: 10, campaign: uuid });
    expect(Number(count)).toBe(5);
    expect(items.every((item) => item.campaign_uuid === uuid)).toBe(true);
    await analyzed(owner, callUuid, 70.1);
    const others = items.filter((item) => item.uuid !== callUuid);
    await analyzed(owner, others[0]!.uuid, 80.2);
    await analyzed(owner, others[1]!.uuid, null);
    const counted = { calls_total: 5, calls_by_status: { queued: 2, completed: 3 }, average_score: 75.2 };
    expect(await read(owner, uuid)).toMatchObject(counted);
    await service.deps.campaigns.foldTally();
    expect(await read(owner, uuid)).toMatchObject(counted);
    expect(
      await faultOf(
        service.client.getCall({ ...callerOf(owner), call_uuid: callUuid, campaign_uuid: await newCampaign(owner) }),
      ),
    ).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each(['pause', 'complete', 'cancel'])(
    'are returned to a client that lost the answer and repeats the request after a %s',
    async (action) => {
      const owner = service.newOwner();
      const uuid = await activeCampaign(owner);
      const { call_uuid: callUuid } = await register(owner, uuid);
      await act(owner, uuid, action);
      expect(await register(owner, uuid, {}, callUuid)).toMatchObject({ call_uuid: callUuid });
      expect(await read(owner, uuid)).toMatchObject({ calls_total: 1 });
    },
  );

  it.each(['draft', 'paused', 'completed', 'canceled'])('are refused by a campaign that is %s', async (status) => {
    const owner = service.newOwner();
    const uuid = await activeCampaign(owner);
    const metadata_key = await put(owner, uuid, rowsOf(1));
    await service.db.query('UPDATE campaign SET status = $2 WHERE uuid = $1', [uuid, status]);
    const refused = [
      process(owner, uuid, metadata_key),
      put(owner, uuid, rowsOf(1)),
      register(owner, uuid),
      service.client.admitToCampaign({ ...callerOf(owner), campaign_uuid: uuid }),
    ];
    for (const each of refused) expect(await faultOf(each)).toMatchObject(INVALID);
    expect(await service.tracesOf(owner)).toMatchObject({ calls: 0, batches: 0, objects: 0 });
  });

  it('are added only to the campaign that the upload was opened for', async () => {
    const owner = service.newOwner();
    const [one, other] = [await activeCampaign(owner), await activeCampaign(owner)];
    const metadata_key = await put(owner, one, rowsOf(1));
    const withoutCampaign = await service.put(owner, csvOf(rowsOf(1)));
    for (const [campaign, key] of [
      [other, metadata_key],
      [undefined, metadata_key],
      [one, withoutCampaign],
    ] as const) {
      expect(await faultOf(process(owner, campaign, key))).toMatchObject({ code: 'UPLOAD_NOT_FOUND' });
    }
    const { batch_uuid } = await process(owner, one, metadata_key);
    await act(owner, one, 'complete');
    // A client that lost the answer gets it again, even after the campaign was completed.
    expect(await process(owner, one, metadata_key)).toMatchObject({ batch_uuid, accepted: 1 });
  });

  it('are not added to a campaign that is paused while their upload is processed', async () => {
    const owner = service.newOwner();
    const uuid = await activeCampaign(owner);
    const metadata_key = await put(owner, uuid, rowsOf(3));
    const { deps } = service;
    const batches = {
      ...deps.batches,
      // Called last, before the calls are added.
      ofSession: async (...given: Parameters<typeof deps.batches.ofSession>) => {
        await service.db.query(`UPDATE campaign SET status = 'paused' WHERE uuid = $1`, [uuid]);
        return deps.batches.ofSession(...given);
      },
    };
    const processed = service.process(owner, metadata_key, { campaignUuid: uuid }, { batches });
    expect(await faultOf(processed)).toMatchObject(INVALID);
    expect(await service.tracesOf(owner)).toMatchObject({ calls: 0, batches: 0, objects: 0 });
    await act(owner, uuid, 'start');
    expect(await process(owner, uuid, metadata_key)).toMatchObject({ accepted: 3 });
  });

  it('are canceled even when they are added at the same time', async () => {
    const owner = service.newOwner();
    const uuid = await activeCampaign(owner);
    const keys = [await put(owner, uuid, rowsOf(50)), await put(owner, uuid, rowsOf(50))];
    const uploads = Promise.allSettled([
      ...keys.map((key) => process(owner, uuid, key)),
      ...[1, 2, 3, 4].map((id) => register(owner, uuid, { partner_call_id: `single-${id}` })),
    ]);
    await act(owner, uuid, 'cancel');
    await uploads;
    // The request cancels calls for some seconds. The rest is canceled soon after.
    await waitUntil(async () => (await read(owner, uuid)).calls_by_status['queued'] === undefined);
    const { calls_total } = await read(owner, uuid);
    const { calls } = await service.tracesOf(owner);
    expect(calls_total).toBe(calls);
  });
});

describe('canceling', () => {
  it('cancels the queued calls, in several transactions, and no others', async () => {
    const owner = service.newOwner();
    const uuid = await activeCampaign(owner);
    const outside = await service.upload(owner, csvOf(rowsOf(2)));
    await upload(owner, uuid, rowsOf(2100));
    const { call_uuid: single } = await register(owner, uuid);
    const { call_uuid: transcribing } = await register(owner, uuid);
    const { call_uuid: done } = await register(owner, uuid);
    await service.db.query(`UPDATE call SET status = 'transcribing' WHERE uuid = $1`, [transcribing]);
    await analyzed(owner, done, 50);
    const { status } = await act(owner, uuid, 'cancel');
    expect(status).toBe('canceled');
    // The request cancels calls for some seconds. The rest is canceled soon after.
    await waitUntil(async () => (await read(owner, uuid)).calls_by_status['queued'] === undefined);
    expect(await read(owner, uuid)).toMatchObject({
      status: 'canceled',
      calls_total: 2103,
      calls_by_status: { canceled: 2101, transcribing: 1, completed: 1 },
      average_score: 50,
    });
    const { call, history } = await service.client.getCall({ ...callerOf(owner), call_uuid: single });
    expect(call).toMatchObject({ status: 'canceled' });
    expect(history.at(-1)).toMatchObject({ status: 'canceled', detail: 'its campaign was canceled' });
    // The others learn that this recording need not be transcribed, and that nothing need be spent on the rest.
    const news = () => canceled.filter(({ firmuuid }) => firmuuid === owner.firmUuid);
    const of = (source: string) => news().flatMap(({ data }) => (data.source === source ? data.calls : []));
    await waitUntil(() => of('transcription').length === 2100 && of('audio').length > 0);
    expect(of('audio')).toEqual([single]);
    expect(new Set(news().map(({ subject }) => subject))).toEqual(new Set([uuid]));
    const others = await service.client.listCalls({ ...callerOf(owner), page: 1, size: 10, batch: outside.uuid });
    expect(others.items.map(({ status }) => status)).toEqual(['queued', 'queued']);
    // A call that is being processed runs to its end.
    await analyzed(owner, transcribing, 60);
    expect(await read(owner, uuid)).toMatchObject({
      calls_by_status: { canceled: 2101, completed: 2 },
      average_score: 55,
    });
  });

  it('ignores late results of canceled calls', async () => {
    const owner = service.newOwner();
    const uuid = await activeCampaign(owner);
    await upload(owner, uuid, rowsOf(1));
    const { items } = await service.client.listCalls({ ...callerOf(owner), page: 1, size: 1, campaign: uuid });
    const { uuid: callUuid } = items[0]!;
    await act(owner, uuid, 'cancel');
    const late = callAnalyzed({ owner, uuid: callUuid }, { analysis: null });
    await service.publish(late);
    await waitUntil(async () => {
      const depths = await service.deps.bus.depths();
      return depths.every(({ waiting, active }) => waiting + active === 0);
    });
    const detail = await service.client.getCall({ ...callerOf(owner), call_uuid: callUuid });
    expect(detail.call).toMatchObject({ status: 'canceled' });
    expect(await faultOf(service.client.retryCall({ ...callerOf(owner), call_uuid: callUuid }))).toMatchObject({
      code: 'NOT_RETRYABLE',
    });
    expect(await read(owner, uuid)).toMatchObject({ calls_by_status: { canceled: 1 } });
  });
});

it('AudioStored is published for a single upload of a campaign', async () => {
  const owner = service.newOwner();
  const { call_uuid: callUuid } = await register(owner, await activeCampaign(owner));
  await waitUntil(() => stored.some(({ subject }) => subject === callUuid));
});
