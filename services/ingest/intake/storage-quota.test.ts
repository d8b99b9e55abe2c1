import { describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { sweep } from '../sweep.ts';
import { audioCsvOf, csvOf, goodAudio } from '../test/csv.ts';
import { ErasedCalls, secrets } from '../test/erased-calls.ts';
import { faultOf, recordingOf, zipOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { recordAudio, registerCall } from './register-call.ts';

const service = new IngestUnderTest();
const calls = new ErasedCalls(service);

describe('a firm with a storage quota', () => {
  const limitedTo = (storageQuotaBytes: number) => ({ limits: { ...service.deps.limits, storageQuotaBytes } });

  it('is refused an upload beyond it by name, and keeps nothing of it; another firm is not', async () => {
    const owner = service.newOwner();
    const { metadataKey, audiosKey } = await service.putBatch(
      owner,
      audioCsvOf([{ audio_file_name: 'a.wav' }]),
      zipOf(['a.wav']),
    );
    const fault = await faultOf(service.process(owner, metadataKey, { audiosKey }, limitedTo(100)));
    expect(fault).toMatchObject({ code: 'STORAGE_QUOTA_EXCEEDED', details: { quota_bytes: 100, used_bytes: 0 } });
    expect(fault.message).toContain("Your firm's storage quota is 100 bytes.");
    expect(await service.callsOf(owner)).toEqual([]);
    const batch = await service.process(owner, metadataKey, { audiosKey }, limitedTo(1_000_000));
    expect(batch.accepted).toBe(1);
    expect(await service.process(owner, metadataKey, { audiosKey }, limitedTo(1))).toMatchObject({ uuid: batch.uuid });
  });

  it('has its single uploads registered with the connection that each of them holds', async () => {
    const limited = limitedTo(1_000_000_000);
    const owner = service.newOwner();
    const register = () =>
      registerCall({ ...service.deps, ...limited }, owner, {
        callUuid: uuidv7(),
        fileName: goodAudio.audio_file_name,
        metadata: JSON.stringify(goodAudio),
        found: { recording: recordingOf() },
        campaignUuid: null,
      });
    await Promise.all(Array.from({ length: 32 }, register));
    expect(await service.callsOf(owner)).toHaveLength(32);
  });

  it('is shown the bytes that it stores after uploads, extraction, retention and erasure, folded or not', async () => {
    const { deps } = service;
    const owner = service.newOwner();
    const { firmUuid } = owner;
    const added = async () => {
      const [row] = await service.db.query<{ bytes: number }>(
        `SELECT (SELECT coalesce(sum(size_bytes), 0) FROM recording WHERE firm_uuid = $1)::float8
           + (SELECT coalesce(sum(archive_bytes), 0) FROM batch WHERE firm_uuid = $1)::float8 AS bytes`,
        [firmUuid],
      );
      return row!.bytes;
    };
    const seen = new Set<number>();
    const check = async () => {
      const bytes = await added();
      expect(await deps.uploads.storedBytes(firmUuid)).toBe(bytes);
      await deps.uploads.foldStoredBytes();
      expect(await deps.uploads.storedBytes(firmUuid)).toBe(bytes);
      seen.add(bytes);
    };
    await check();
    const { anonymized_text: _, ...metadata } = secrets();
    const single = await calls.newRecording(metadata, owner);
    await check();
    await service.uploadBatch(owner, audioCsvOf([{ audio_file_name: 'a.wav' }]), zipOf(['a.wav']));
    await check();
    const extracted = (await service.callsOf(owner)).find(({ uuid }) => uuid !== single.uuid)!;
    const recording = recordingOf({ size_bytes: 77 });
    await recordAudio(service.deps, {
      firmUuid,
      callUuid: extracted.uuid,
      attempt: 1,
      recording,
    });
    await check();
    await deps.db.transaction((tx) => deps.retained.takeRecordings(tx, firmUuid, [extracted.uuid], new Date()));
    await calls.erase(single);
    await check();
    await sweep({ ...service.deps, claimDays: 30 }, new Date(Date.now() + 8 * 24 * 3600 * 1000));
    await check();
    expect(seen.size).toBeGreaterThan(4);
  });

  it('may upload again once recordings are erased', async () => {
    const { deps } = service;
    const owner = service.newOwner();
    const { anonymized_text: _, ...metadata } = secrets();
    const call = await calls.newRecording(metadata, owner);
    expect(await deps.uploads.storedBytes(owner.firmUuid)).toBeGreaterThan(0);
    const key = await service.put(owner, csvOf([{}]));
    const used = await deps.uploads.storedBytes(owner.firmUuid);
    expect(await faultOf(service.process(owner, key, {}, limitedTo(used)))).toMatchObject({
      code: 'STORAGE_QUOTA_EXCEEDED',
    });
    await calls.erase(call);
    expect(await deps.uploads.storedBytes(owner.firmUuid)).toBe(0);
    expect(await service.process(owner, key, {}, limitedTo(1_000_000))).toMatchObject({ accepted: 1 });
  });
});
