import { randomBytes, randomUUID } from 'node:crypto';
import { AudioStored, type BodyOf, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { audioCsvOf, csvOf, goodAudio } from '../test/csv.ts';
import { faultOf, zipOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import type { Owner } from './upload-store.ts';

const service = new IngestUnderTest({ serving: true });

let stored: Event<BodyOf<typeof AudioStored>>[];

beforeAll(async () => {
  stored = await service.collect(AudioStored);
});

const sha256 = randomBytes(32);

function recording(change: object = {}) {
  return {
    object_key: 'recordings/a.wav',
    format: 'wav',
    codec: 'pcm_s16le',
    channels: 2,
    sample_rate: 8000,
    duration: 61.25,
    size_bytes: 1_960_044,
    sha256,
    ...change,
  };
}

const caller = ({ firmUuid, userUuid }: Owner) => ({ firm_uuid: firmUuid, user_uuid: userUuid });

/** Registers a recording with valid values, save those given. */
function register(owner: Owner, metadata: object = {}, change: object = {}) {
  return service.client.registerCall({
    caller: caller(owner),
    call_uuid: uuidv7(),
    file_name: 'call.wav',
    metadata: JSON.stringify({ ...goodAudio, ...metadata }),
    recording: recording(),
    ...change,
  });
}

/** Retries while another registration of the call holds its lock. */
async function registerWithRetries(owner: Owner, metadata: object, change: object = {}) {
  const same = { call_uuid: uuidv7(), ...change };
  for (;;) {
    const answer = await register(owner, metadata, same).catch((error: unknown) => {
      if ((error as { code?: unknown }).code === 'UNAVAILABLE') return null;
      throw error;
    });
    if (answer !== null) return answer;
  }
}

function read(owner: Owner, call_uuid: string) {
  return service.client.getCall({ caller: caller(owner), call_uuid });
}

const publishedFor = (uuid: string) => stored.filter(({ subject }) => subject === uuid);

/** Waits until the events of this firm's earlier registrations are delivered. */
async function settled(owner: Owner): Promise<void> {
  const { call_uuid } = await register(owner);
  await waitUntil(() => publishedFor(call_uuid).length > 0);
}

const nothing = { calls: 0, recordings: 0, batches: 0, rejected_files: 0, objects: 0 };

describe('a single upload', () => {
  it('becomes a call with the given uuid, and AudioStored is published once', async () => {
    const owner = service.newOwner();
    const call_uuid = uuidv7();
    const reply = await register(owner, { partner_call_id: ' p-1 ', direction: 'Inbound', extra: 1 }, { call_uuid });
    expect(reply).toEqual({ call_uuid, ignored_fields: ['extra'] });
    await settled(owner);
    expect(publishedFor(call_uuid)).toHaveLength(1);
    expect(publishedFor(call_uuid)[0]).toMatchObject({
      source: 'ingest',
      firmuuid: owner.firmUuid,
      priority: 0,
      data: {
        attempt: 1,
        key: 'recordings/a.wav',
        format: 'wav',
        channels: 2,
        sample_rate: 8000,
        duration: 61.25,
        size_bytes: 1_960_044,
        left: 'operator',
        right: 'client',
        segment_type: 'support',
        operator_name: 'Aziza',
        direction: 'inbound',
        start_time: '2026-01-02T03:04:05.000Z',
      },
    });
    const before = Date.now();
    const { call, audio, transcript_json, history } = await read(owner, call_uuid);
    const after = Date.now();
    expect(call).toMatchObject({
      uuid: call_uuid,
      source: 'audio',
      status: 'queued',
      partner_call_id: ' p-1 ',
      direction: 'inbound',
      duration: 61.25,
      start_time: '2026-01-02T03:04:05.000Z',
    });
    expect(call).not.toHaveProperty('batch_uuid');
    expect(transcript_json).toBeUndefined();
    expect(history).toMatchObject([{ status: 'queued' }]);
    expect(audio).toMatchObject({
      file_name: 'call.wav',
      format: 'wav',
      channels: 2,
      sample_rate: 8000,
      duration: 61.25,
      size: 1_960_044,
      url: expect.stringContaining('recordings/a.wav'),
    });
    const signedAt = Date.parse(audio!.url_expires_at) - 3_600_000;
    // The expiry may be rounded to seconds.
    expect(signedAt).toBeGreaterThanOrEqual(before - 1_000);
    expect(signedAt).toBeLessThanOrEqual(after + 1_000);
  });

  it('belongs to the campaign that it names', async () => {
    const owner = service.newOwner();
    const { uuid: campaign_uuid } = await service.client.createCampaign({ caller: caller(owner), name: 'Spring' });
    await service.client.moveCampaign({ caller: caller(owner), campaign_uuid, action: 'start' });
    const { call_uuid } = await register(owner, {}, { campaign_uuid });
    expect((await read(owner, call_uuid)).call?.campaign_uuid).toBe(campaign_uuid);
  });

  it('is one call when its uuid is registered repeatedly or at the same time', async () => {
    const owner = service.newOwner();
    const call_uuid = uuidv7();
    const replies = await Promise.all(Array.from({ length: 4 }, () => registerWithRetries(owner, {}, { call_uuid })));
    replies.push(await register(owner, { partner_call_id: 'later' }, { call_uuid }));
    for (const reply of replies) expect(reply.call_uuid).toBe(call_uuid);
    await settled(owner);
    expect(publishedFor(call_uuid)).toHaveLength(1);
    expect(await service.tracesOf(owner)).toMatchObject({ calls: 2, recordings: 2 });
  });

  it('is not visible to another firm, and its partner_call_id is free there', async () => {
    const [owner, otherFirm] = [service.newOwner(), service.newOwner()];
    const { call_uuid } = await register(owner, { partner_call_id: 'p' });
    const other = await register(otherFirm, { partner_call_id: 'p' });
    expect(other.call_uuid).not.toBe(call_uuid);
    expect(await faultOf(read(otherFirm, call_uuid))).toMatchObject({ code: 'NOT_FOUND' });
    const call_uuids = [call_uuid, other.call_uuid, randomUUID()];
    expect(await service.client.findCalls({ firm_uuid: owner.firmUuid, call_uuids })).toEqual({
      call_uuids: [call_uuid],
    });
    expect(await service.client.findCalls({ firm_uuid: owner.firmUuid, call_uuids: [] })).toEqual({ call_uuids: [] });
  });
});

describe('the faults of a single upload', () => {
  const fault = { code: 'AUDIO_NOT_STEREO', message: 'The recording has 1 channel.' };
  const refused = { recording: null, fault };

  it('come in order: metadata, then names, then the recording', async () => {
    const owner = service.newOwner();
    const other = { ...refused, file_name: 'other.wav' };
    expect(await faultOf(register(owner, { operator_name: '' }, other))).toMatchObject({
      kind: 'invalid',
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'operator_name', code: 'REQUIRED' }] },
    });
    expect(await faultOf(register(owner, { client_phone_number: '1', operator_name: '' }, other))).toMatchObject({
      code: 'INVALID_PHONE_NUMBER',
      details: { fields: [{ field: 'client_phone_number' }, { field: 'operator_name' }] },
    });
    expect(await faultOf(register(owner, {}, { ...other, metadata: 'no JSON' }))).toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    expect(await faultOf(register(owner, {}, other))).toMatchObject({
      kind: 'invalid',
      code: 'AUDIO_FILENAME_MISMATCH',
      details: { file_name: 'other.wav', audio_file_name: 'call.wav' },
    });
    expect(await faultOf(register(owner, {}, refused))).toMatchObject({ kind: 'invalid', ...fault, details: null });
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });

  it('do not include a name that is equal after NFC, or that has the blanks of the file’s own name', async () => {
    const owner = service.newOwner();
    for (const [named, sent] of [
      ['cafe\u0301.wav', 'caf\u00e9.wav'],
      ['caf\u00e9.wav', 'cafe\u0301.wav'],
      [' call.wav', ' call.wav'],
      [' call.wav ', 'call.wav'],
    ]) {
      const { call_uuid } = await register(owner, { audio_file_name: named }, { file_name: sent });
      expect((await read(owner, call_uuid)).audio?.file_name).toBe(sent);
    }
    for (const [named, sent] of [
      ['call.wav', 'Call.wav'],
      ['call.wav', 'call.WAV'],
      ['call.wav', ' call.wav'],
      ['call.wav', 'folder/call.wav'],
      ['call.wav', ''],
    ]) {
      const mismatch = register(owner, { audio_file_name: named }, { file_name: sent });
      expect(await faultOf(mismatch)).toMatchObject({ code: 'AUDIO_FILENAME_MISMATCH' });
    }
  });

  it('include a segment type that the firm does not have', async () => {
    const owner = service.newOwner({ segmentTypes: new Set(['sales']) });
    expect(await faultOf(register(owner))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'segment_type', code: 'UNKNOWN_SEGMENT_TYPE' }] },
    });
    await expect(register(owner, { segment_type: 'sales' })).resolves.toMatchObject({ ignored_fields: [] });
  });
});

describe('a partner_call_id that the firm has already', () => {
  const taken = {
    kind: 'invalid',
    code: 'VALIDATION_ERROR',
    details: { fields: [{ field: 'partner_call_id', code: 'ALREADY_USED' }] },
  };

  it('returns the existing call for the same bytes, even with other metadata', async () => {
    const owner = service.newOwner();
    const { call_uuid } = await register(owner, { partner_call_id: 'p' });
    const again = await register(owner, { partner_call_id: 'p', operator_name: 'Bekzod', more: 1 });
    expect(again).toMatchObject({ call_uuid, ignored_fields: ['more'], repeated_upload: true, has_ended: false });
    await settled(owner);
    expect(publishedFor(call_uuid)).toHaveLength(1);
    expect((await read(owner, call_uuid)).call?.operator_name).toBe('Aziza');
  });

  it('is a fault for other bytes', async () => {
    const owner = service.newOwner();
    await register(owner, { partner_call_id: 'p' });
    const other = register(owner, { partner_call_id: 'p' }, { recording: recording({ sha256: randomBytes(32) }) });
    expect(await faultOf(other)).toMatchObject(taken);
    expect(await service.tracesOf(owner)).toMatchObject({ calls: 1, recordings: 1 });
  });

  it('is a fault when it belongs to a transcript, or to a recording that is still in its archive', async () => {
    const owner = service.newOwner();
    await service.upload(owner, csvOf([{ partner_call_id: 'transcript' }]));
    const batch = audioCsvOf([{ audio_file_name: 'a.wav', partner_call_id: 'batch' }]);
    await service.uploadBatch(owner, batch, zipOf(['a.wav']));
    for (const [partner_call_id, said] of [
      ['transcript', 'as a transcript'],
      ['batch', 'in a batch'],
    ] as const) {
      const fault = await faultOf(register(owner, { partner_call_id }));
      expect(fault).toMatchObject(taken);
      expect(fault.message).toContain(said);
    }
    const { call_uuid } = await register(owner, { partner_call_id: 'Batch' });
    expect(call_uuid).toBeTruthy();
  });

  it('returns the existing call when its recording was extracted from an archive with the same bytes', async () => {
    const owner = service.newOwner();
    await service.uploadBatch(
      owner,
      audioCsvOf([{ audio_file_name: 'a.wav', partner_call_id: 'p' }]),
      zipOf(['a.wav']),
    );
    const [call] = await service.callsOf(owner);
    await service.client.recordAudio({
      firm_uuid: owner.firmUuid,
      call_uuid: call!.uuid,
      attempt: 1,
      recording: recording(),
    });
    expect(await register(owner, { partner_call_id: 'p' })).toMatchObject({ call_uuid: call!.uuid });
  });

  it('is one call for eight concurrent uploads of the same bytes', async () => {
    const owner = service.newOwner();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => registerWithRetries(owner, { partner_call_id: 'p' })),
    );
    const uuids = new Set(replies.map(({ call_uuid }) => call_uuid));
    expect(uuids.size).toBe(1);
    await settled(owner);
    expect(stored.filter(({ firmuuid }) => firmuuid === owner.firmUuid)).toHaveLength(2);
  });

  it('is one call for concurrent uploads of different bytes, and a fault for the others', async () => {
    const owner = service.newOwner();
    const answers = await Promise.allSettled(
      Array.from({ length: 4 }, () =>
        registerWithRetries(owner, { partner_call_id: 'p' }, { recording: recording({ sha256: randomBytes(32) }) }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject(taken);
  });

  it('is UNAVAILABLE when another upload holds it for some seconds', async () => {
    const owner = service.newOwner();
    const holding = service.db.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO call (firm_uuid, uuid, source, partner_call_id, client_phone_number, operator_name, segment_type, start_time)
         VALUES ($1, $2, 'transcription', 'p', '+998901234567', 'Aziza', 'support', now())`,
        [owner.firmUuid, randomUUID()],
      );
      const fault = await faultOf(register(owner, { partner_call_id: 'p' }));
      expect(fault).toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
      throw new Error('rolled back');
    });
    await expect(holding).rejects.toThrow('rolled back');
    await expect(register(owner, { partner_call_id: 'p' })).resolves.toMatchObject({ ignored_fields: [] });
  });
});
