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
import { AudioUnderTest, firmUuid, upload, wavOf } from './test/audio-under-test.ts';

const HOUR = 3_600_000;
const service = new AudioUnderTest({ orphanAfterMs: HOUR, sweepEveryMs: 100 });
const log = createLog({ name: 'audio', level: 'silent' });

const anHourAgo = () => new Date(Date.now() - HOUR - 60_000);
const isUploading = async () => (await service.stored()).some((key) => key.startsWith('uploading/'));

/** An upload that goes on when the test says so: all but its metadata, then that. */
async function* held(goOn: Promise<void>): AsyncGenerator<UploadRecordingRequestInit> {
  yield* upload(wavOf()).slice(0, -1);
  await goOn;
  yield { metadata: '{}' };
}

it('says that it is ready', async () => {
  const second = await start(service.config, { log });
  const client = dial(audio, second.address, { name: 'audio' });
  // A database that does not answer for a moment makes it unready for a moment.
  await waitUntil(() => client.ready().then(() => true));
  client.close();
  await second.close();
});

it('sweeps from time to time, and lets uploads that are under way be', async () => {
  const goOn = Promise.withResolvers<void>();
  const slow = service.upload(held(goOn.promise));
  await waitUntil(isUploading);
  const orphan = randomUUID();
  await service.objects.put(`uploading/${firmUuid}/${orphan}.wav`, Readable.from([]));
  await service.markSince(orphan, anHourAgo());
  await waitUntil(async () => (await service.stored()).every((key) => !key.includes(orphan)));
  expect(await isUploading()).toBe(true);
  goOn.resolve();
  await slow;

  service.catalogue.registerCall = async () => {
    throw new Error('lost');
  };
  await expect(service.upload(upload(wavOf()))).rejects.toThrow();
  const lost = service.registered.at(-1)?.call_uuid ?? '';
  expect((await service.stored()).filter((key) => key.includes(lost))).toHaveLength(2);
  await service.markSince(lost, anHourAgo());
  await waitUntil(async () => (await service.stored()).every((key) => !key.includes(lost)));
  expect(await service.stored()).toHaveLength(1);
});

it('refuses an upload that took so long that the sweep may have taken its bytes', async () => {
  service.forget();
  const orphanAfterMs = 200;
  const second = await start({ ...service.config, orphanAfterMs, sweepEveryMs: HOUR }, { log });
  const client = dial(audio, second.address, { name: 'audio' });
  const [first, name, ...rest] = upload(wavOf());
  const late = client.uploadRecording(
    (async function* () {
      yield first!;
      yield name!;
      // Its time runs from before the marker stands.
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

it('finishes the uploads in hand when it stops', async () => {
  service.forget();
  const second = await start(service.config, { log });
  const client = dial(audio, second.address, { name: 'audio' });
  const goOn = Promise.withResolvers<void>();
  const slow = client.uploadRecording(held(goOn.promise), { deadlineMs: 50_000 });
  await waitUntil(isUploading);
  const closed = second.close();
  goOn.resolve();
  const { audio_id } = await slow;
  await closed;
  client.close();
  expect(await service.stored()).toContain(`recordings/${firmUuid}/${audio_id}.wav`);
});
