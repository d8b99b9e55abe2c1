import { describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { eraseCall } from '../erasure/erase-call.ts';
import { projectFailures } from '../results/project-results.ts';
import type { Owner } from '../store/uploads.ts';
import {
  audioCsvOf,
  callFailed,
  callerOf,
  type CsvRow,
  csvOf,
  failure,
  faultOf,
  goodAudio,
  IngestUnderTest,
  recordingOf,
  zipOf,
} from '../test/ingest-under-test.ts';
import { readCall } from './read-call.ts';
import { registerCall } from './register-call.ts';
import { retryCall } from './retry-call.ts';

const service = new IngestUnderTest({ serving: true });

const corrupt = {
  stage: 'extraction' as const,
  code: 'ENTRY_CORRUPT',
  message: 'Make the archive again.',
  retryable: false,
};

async function fail(owner: Owner, change: Partial<typeof failure> | typeof corrupt = corrupt): Promise<string[]> {
  const calls = await service.callsOf(owner);
  await projectFailures(
    service.parts.store,
    calls.map(({ uuid }) => callFailed({ owner, uuid }, change)),
  );
  return calls.map(({ uuid }) => uuid);
}

const cancel = ({ firmUuid }: Owner) =>
  service.db.query(`UPDATE call SET status = 'canceled' WHERE firm_uuid = $1`, [firmUuid]);

function register(owner: Owner, metadata: object, recording = recordingOf()) {
  return registerCall(service.parts, owner, {
    callUuid: uuidv7(),
    fileName: goodAudio.audio_file_name,
    metadata: JSON.stringify({ ...goodAudio, ...metadata }),
    found: { recording },
    campaignUuid: null,
  });
}

const told = async (owner: Owner, call_uuid: string) =>
  (await service.client.getCall({ ...callerOf(owner), call_uuid })).call?.failure?.message;

describe('a call that failed for good', () => {
  it('with a partner_call_id says that it has to be erased before it can be sent anew, and then it can', async () => {
    const owner = service.newOwner();
    const csv = audioCsvOf([{ audio_file_name: 'a.wav', partner_call_id: 'p' }]);
    await service.uploadBatch(owner, csv, zipOf(['a.wav']));
    const [uuid] = await fail(owner);
    const erase = `Erase that call first, by DELETE /api/v1/calls/${uuid}, and then send it anew.`;
    expect(await told(owner, uuid!)).toBe(
      `Make the archive again. Its partner_call_id is taken as long as this call is there. ${erase}`,
    );
    expect((await faultOf(retryCall(service.parts, owner.firmUuid, uuid!))).message).toContain(erase);
    expect(await service.uploadBatch(owner, csv, zipOf(['a.wav']))).toMatchObject({
      accepted: 0,
      duplicates: 1,
      endedDuplicates: 1,
    });
    await eraseCall(service.parts, owner.firmUuid, uuid!);
    expect(await service.uploadBatch(owner, csv, zipOf(['a.wav']))).toMatchObject({
      accepted: 1,
      duplicates: 0,
      endedDuplicates: 0,
    });
  });

  it('without one says what went wrong and no more: nothing is in the way of sending it anew', async () => {
    const owner = service.newOwner();
    await service.uploadBatch(owner, audioCsvOf([{ audio_file_name: 'a.wav' }]), zipOf(['a.wav']));
    const [uuid] = await fail(owner);
    expect(await told(owner, uuid!)).toBe('Make the archive again.');
  });

  it('and can be retried is not to be erased', async () => {
    const owner = service.newOwner();
    await service.upload(owner, csvOf([{ partner_call_id: 'p' }]));
    const [uuid] = await fail(owner, failure);
    expect(await told(owner, uuid!)).toBe(failure.message);
    expect(await service.upload(owner, csvOf([{ partner_call_id: 'p' }]))).toMatchObject({
      duplicates: 1,
      endedDuplicates: 0,
    });
  });

  it.each<[string, string, (owner: Owner) => Promise<unknown>]>([
    ['failed', 'has failed for good', (owner) => fail(owner)],
    ['canceled', 'was canceled', cancel],
  ])('or was canceled is what a single upload is told to erase, not to wait for: %s', async (_, how, end) => {
    const owner = service.newOwner();
    await service.uploadBatch(
      owner,
      audioCsvOf([{ audio_file_name: 'a.wav', partner_call_id: 'p' }]),
      zipOf(['a.wav']),
    );
    await end(owner);
    const [call] = await service.callsOf(owner);
    const message =
      `Your firm has a call of this partner_call_id, which ${how}. ` +
      `Erase that call first, by DELETE /api/v1/calls/${call!.uuid}, and then send it anew.`;
    expect(await faultOf(register(owner, { partner_call_id: 'p' }))).toMatchObject({
      message: expect.stringContaining(message),
      details: { fields: [{ field: 'partner_call_id', code: 'ALREADY_USED', message }] },
    });
    await eraseCall(service.parts, owner.firmUuid, call!.uuid);
    expect(await register(owner, { partner_call_id: 'p' })).toMatchObject({ isRepeated: false });
  });

  it('is told apart among the duplicates of a batch, and the same keys are answered the same when it is erased', async () => {
    const owner = service.newOwner();
    const rows: CsvRow[] = ['a', 'b', 'c'].map((partner_call_id) => ({ partner_call_id }));
    await service.upload(owner, csvOf(rows.slice(0, 1)));
    const [uuid] = await fail(owner);
    await service.upload(owner, csvOf(rows.slice(1)));
    const key = await service.put(owner, csvOf(rows));
    const first = await service.process(owner, key);
    expect(first).toMatchObject({ accepted: 0, duplicates: 3, endedDuplicates: 1 });
    await eraseCall(service.parts, owner.firmUuid, uuid!);
    expect(await service.process(owner, key)).toEqual(first);
  });

  it('is counted in the name of its own firm alone', async () => {
    const [owner, stranger] = [service.newOwner(), service.newOwner()];
    await service.upload(stranger, csvOf([{ partner_call_id: 'p' }]));
    await fail(stranger);
    await service.upload(owner, csvOf([{ partner_call_id: 'p' }]));
    expect(await service.upload(owner, csvOf([{ partner_call_id: 'p' }]))).toMatchObject({
      duplicates: 1,
      endedDuplicates: 0,
    });
  });
});

describe('a recording that is sent again', () => {
  it('with the same bytes and other metadata changes nothing, and that is known', async () => {
    const owner = service.newOwner();
    const recording = recordingOf();
    const first = await register(owner, { partner_call_id: 'p' }, recording);
    expect(first).toMatchObject({ isRepeated: false, hasEnded: false });
    const again = await register(owner, { partner_call_id: 'p', operator_name: 'Bekzod' }, recording);
    expect(again).toMatchObject({ callUuid: first.callUuid, isRepeated: true, hasEnded: false });
    const { call } = await readCall(service.parts, owner.firmUuid, first.callUuid, null);
    expect(call.operator_name).toBe(goodAudio.operator_name);
    await fail(owner);
    expect(await register(owner, { partner_call_id: 'p' }, recording)).toMatchObject({
      isRepeated: true,
      hasEnded: true,
    });
  });

  it('by the edge, because an answer was lost, is not taken for one that the client repeats', async () => {
    const owner = service.newOwner();
    const request = {
      ...callerOf(owner),
      call_uuid: uuidv7(),
      file_name: goodAudio.audio_file_name,
      metadata: JSON.stringify(goodAudio),
      recording: { ...sent(recordingOf()) },
    };
    const replies = [await service.client.registerCall(request), await service.client.registerCall(request)];
    expect(replies.map(({ repeated_upload = false }) => repeated_upload)).toEqual([false, false]);
  });
});

function sent({ objectKey, sampleRate, sizeBytes, ...same }: ReturnType<typeof recordingOf>) {
  return { ...same, object_key: objectKey, sample_rate: sampleRate, size_bytes: sizeBytes };
}
