import { describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { retryCall } from '../attempts/retry-call.ts';
import { eraseCall } from '../erasure/erase-call.ts';
import { registerCall } from '../intake/register-call.ts';
import type { Owner } from '../intake/upload-store.ts';
import { projectFailures } from '../results/project-results.ts';
import { audioCsvOf, type CsvRow, csvOf, goodAudio } from '../test/csv.ts';
import { callFailed, failure } from '../test/events.ts';
import { callerOf, faultOf, recordingOf, zipOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { readCall } from './read-call.ts';

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
    service.deps,
    calls.map(({ uuid }) => callFailed({ owner, uuid }, change)),
  );
  return calls.map(({ uuid }) => uuid);
}

const cancel = ({ firmUuid }: Owner) =>
  service.db.query(`UPDATE call SET status = 'canceled' WHERE firm_uuid = $1`, [firmUuid]);

function register(owner: Owner, metadata: object, recording = recordingOf()) {
  return registerCall(service.deps, owner, {
    callUuid: uuidv7(),
    fileName: goodAudio.audio_file_name,
    metadata: JSON.stringify({ ...goodAudio, ...metadata }),
    found: { recording },
    campaignUuid: null,
  });
}

const messageOf = async (owner: Owner, call_uuid: string) =>
  (await service.client.getCall({ ...callerOf(owner), call_uuid })).call?.failure?.message;

describe('a call that failed permanently', () => {
  it('with a partner_call_id must be erased before it can be uploaded again, as the response says', async () => {
    const owner = service.newOwner();
    const csv = audioCsvOf([{ audio_file_name: 'a.wav', partner_call_id: 'p' }]);
    await service.uploadBatch(owner, csv, zipOf(['a.wav']));
    const [uuid] = await fail(owner);
    const erase = `Erase that call first with DELETE /api/v1/calls/${uuid}, then upload it again.`;
    expect(await messageOf(owner, uuid!)).toBe(
      `Make the archive again. Its partner_call_id is taken until this call is erased. ${erase}`,
    );
    expect((await faultOf(retryCall(service.deps, owner.firmUuid, uuid!))).message).toContain(erase);
    expect(await service.uploadBatch(owner, csv, zipOf(['a.wav']))).toMatchObject({
      accepted: 0,
      duplicates: 1,
      endedDuplicates: 1,
    });
    await eraseCall(service.deps, owner.firmUuid, uuid!);
    expect(await service.uploadBatch(owner, csv, zipOf(['a.wav']))).toMatchObject({
      accepted: 1,
      duplicates: 0,
      endedDuplicates: 0,
    });
  });

  it('without a partner_call_id has only the message of its failure', async () => {
    const owner = service.newOwner();
    await service.uploadBatch(owner, audioCsvOf([{ audio_file_name: 'a.wav' }]), zipOf(['a.wav']));
    const [uuid] = await fail(owner);
    expect(await messageOf(owner, uuid!)).toBe('Make the archive again.');
  });

  it('but can be retried has only the message of its failure', async () => {
    const owner = service.newOwner();
    await service.upload(owner, csvOf([{ partner_call_id: 'p' }]));
    const [uuid] = await fail(owner, failure);
    expect(await messageOf(owner, uuid!)).toBe(failure.message);
    expect(await service.upload(owner, csvOf([{ partner_call_id: 'p' }]))).toMatchObject({
      duplicates: 1,
      endedDuplicates: 0,
    });
  });

  it.each<[string, string, (owner: Owner) => Promise<unknown>]>([
    ['failed', 'failed permanently', (owner) => fail(owner)],
    ['canceled', 'was canceled', cancel],
  ])('or was canceled must be erased before a single upload of its partner_call_id: %s', async (_, how, end) => {
    const owner = service.newOwner();
    await service.uploadBatch(
      owner,
      audioCsvOf([{ audio_file_name: 'a.wav', partner_call_id: 'p' }]),
      zipOf(['a.wav']),
    );
    await end(owner);
    const [call] = await service.callsOf(owner);
    const message =
      `Your firm already has a call with this partner_call_id, which ${how}. ` +
      `Erase that call first with DELETE /api/v1/calls/${call!.uuid}, then upload it again.`;
    expect(await faultOf(register(owner, { partner_call_id: 'p' }))).toMatchObject({
      message: expect.stringContaining(message),
      details: { fields: [{ field: 'partner_call_id', code: 'ALREADY_USED', message }] },
    });
    await eraseCall(service.deps, owner.firmUuid, call!.uuid);
    expect(await register(owner, { partner_call_id: 'p' })).not.toHaveProperty('repeated_upload');
  });

  it('is counted separately among the duplicates of a batch, and a repeated request has the same answer', async () => {
    const owner = service.newOwner();
    const rows: CsvRow[] = ['a', 'b', 'c'].map((partner_call_id) => ({ partner_call_id }));
    await service.upload(owner, csvOf(rows.slice(0, 1)));
    const [uuid] = await fail(owner);
    await service.upload(owner, csvOf(rows.slice(1)));
    const key = await service.put(owner, csvOf(rows));
    const first = await service.process(owner, key);
    expect(first).toMatchObject({ accepted: 0, duplicates: 3, endedDuplicates: 1 });
    await eraseCall(service.deps, owner.firmUuid, uuid!);
    expect(await service.process(owner, key)).toEqual(first);
  });

  it('is counted only for its own firm', async () => {
    const [owner, otherFirm] = [service.newOwner(), service.newOwner()];
    await service.upload(otherFirm, csvOf([{ partner_call_id: 'p' }]));
    await fail(otherFirm);
    await service.upload(owner, csvOf([{ partner_call_id: 'p' }]));
    expect(await service.upload(owner, csvOf([{ partner_call_id: 'p' }]))).toMatchObject({
      duplicates: 1,
      endedDuplicates: 0,
    });
  });
});

describe('a recording that is uploaded again', () => {
  it('with the same bytes and other metadata changes nothing, and the answer says so', async () => {
    const owner = service.newOwner();
    const recording = recordingOf();
    const first = await register(owner, { partner_call_id: 'p' }, recording);
    expect(first).not.toHaveProperty('repeated_upload');
    const again = await register(owner, { partner_call_id: 'p', operator_name: 'Bekzod' }, recording);
    expect(again).toMatchObject({ call_uuid: first.call_uuid, repeated_upload: true, has_ended: false });
    const call = await readCall(service.deps, owner.firmUuid, first.call_uuid, null);
    expect(call.operator_name).toBe(goodAudio.operator_name);
    await fail(owner);
    expect(await register(owner, { partner_call_id: 'p' }, recording)).toMatchObject({
      repeated_upload: true,
      has_ended: true,
    });
  });

  it('is no repeated upload when the gateway repeats a request whose answer was lost', async () => {
    const owner = service.newOwner();
    const request = {
      ...callerOf(owner),
      call_uuid: uuidv7(),
      file_name: goodAudio.audio_file_name,
      metadata: JSON.stringify(goodAudio),
      recording: recordingOf(),
    };
    const replies = [await service.client.registerCall(request), await service.client.registerCall(request)];
    expect(replies.map(({ repeated_upload = false }) => repeated_upload)).toEqual([false, false]);
  });
});
