import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { audio } from '@call-analysis/proto';
import type { UploadRecordingRequestInit } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import { dial } from '@call-analysis/rpc';
import { createLog } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { start } from './start.ts';
import { AudioUnderTest } from './test/audio-under-test.ts';
import { firmUuid, upload, wavOf } from './test/recordings.ts';

const HOUR = 3_600_000;
const service = new AudioUnderTest({ orphanAfterMs: HOUR, sweepEveryMs: 100 });
const log = createLog({ name: 'audio', level: 'silent' });

const anHourAgo = () => new Date(Date.now() - HOUR - 60_000);
const isUploading = async () => (await service.stored()).some((key) => key.startsWith('uploading/'));

/** An upload that sends its metadata, the last part, only when the test allows it. */
async function* paused(resume: Promise<void>): AsyncGenerator<UploadRecordingRequestInit> {
  yield* upload(wavOf()).slice(0, -1);
  await resume;
  yield { metadata: '{}' };
}

it('the service reports that it is ready', async () => {
  const second = await start(service.config, { log });
  const client = dial(audio, second.address, { name: 'audio' });
  // A database that is slow to answer makes the service briefly unready.
  await waitUntil(() => client.ready().then(() => true));
  client.close();
  await second.close();
});

it('the sweep runs regularly and leaves uploads in progress', async () => {
  const resume = Promise.withResolvers<void>();
  const slow = service.upload(paused(resume.promise));
  await waitUntil(isUploading);
  const orphan = randomUUID();
  await service.objects.put(`uploading/${firmUuid}/${orphan}.wav`, Readable.from([]));
  await service.backdateMarker(orphan, anHourAgo());
  await waitUntil(async () => (await service.stored()).every((key) => !key.includes(orphan)));
  expect(await isUploading()).toBe(true);
  resume.resolve();
  await slow;

  service.catalogue.registerCall = async () => {
    throw new Error('lost');
  };
  await expect(service.upload(upload(wavOf()))).rejects.toThrow();
  const lost = service.registered.at(-1)?.call_uuid ?? '';
  expect((await service.stored()).filter((key) => key.includes(lost))).toHaveLength(2);
  await service.backdateMarker(lost, anHourAgo());
  await waitUntil(async () => (await service.stored()).every((key) => !key.includes(lost)));
  expect(await service.stored()).toHaveLength(1);
});

it('an upload is refused when it took so long that the sweep may have removed its bytes', async () => {
  service.reset();
  const orphanAfterMs = 200;
  const second = await start({ ...service.config, orphanAfterMs, sweepEveryMs: HOUR }, { log });
  const client = dial(audio, second.address, { name: 'audio' });
  const [first, name, ...rest] = upload(wavOf());
  const late = client.uploadRecording(
    (async function* () {
      yield first!;
      yield name!;
      // The time counts from before the marker is stored.
      await waitUntil(isUploading);
      await delay(orphanAfterMs);
      yield* rest;
    })(),
    { deadlineMs: 50_000 },
  );
  await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching('took too long') });
  expect(service.registered).toEqual([]);
  client.close();
  await second.close();
});

it('uploads in progress are finished when the service stops', async () => {
  service.reset();
  const second = await start(service.config, { log });
  const client = dial(audio, second.address, { name: 'audio' });
  const resume = Promise.withResolvers<void>();
  const slow = client.uploadRecording(paused(resume.promise), { deadlineMs: 50_000 });
  await waitUntil(isUploading);
  const closed = second.close();
  resume.resolve();
  const { audio_id } = await slow;
  await closed;
  client.close();
  expect(await service.stored()).toContain(`recordings/${firmUuid}/${audio_id}.wav`);
});
