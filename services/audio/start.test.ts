import { setTimeout as delay } from 'node:timers/promises';
import { audio } from '@call-analysis/proto';
import { dial } from '@call-analysis/rpc';
import { createLog } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { AudioUnderTest, firmUuid, upload, wavOf } from './audio-under-test.ts';
import { start } from './start.ts';

const service = new AudioUnderTest({ orphanAfterMs: 3000, sweepEveryMs: 100 });
const log = createLog({ name: 'audio', level: 'silent' });

it('says that it is ready', async () => {
  const second = await start(service.config, { log });
  const client = dial(audio, second.address, { name: 'audio' });
  await expect(client.ready()).resolves.toBeUndefined();
  client.close();
  await second.close();
});

it('sweeps from time to time, and lets uploads that are under way be', async () => {
  let isUploading = true;
  const slow = service.upload(
    (async function* () {
      yield* upload(wavOf()).slice(0, -1);
      await delay(300);
      yield { metadata: '{}' };
    })(),
  );
  void slow.finally(() => (isUploading = false));
  await waitUntil(async () => (await service.stored()).length > 0);
  await delay(200);
  expect(isUploading).toBe(true);
  await slow;

  service.catalogue.registerCall = async () => {
    throw new Error('lost');
  };
  await expect(service.upload(upload(wavOf()))).rejects.toThrow();
  const lost = service.registered.at(-1)?.call_uuid ?? '';
  expect((await service.stored()).filter((key) => key.includes(lost))).toHaveLength(2);
  await waitUntil(async () => (await service.stored()).every((key) => !key.includes(lost)));
  expect(await service.stored()).toHaveLength(1);
});

it('refuses an upload that took so long that the sweep may have taken its bytes', async () => {
  const [first, name, ...rest] = upload(wavOf());
  const before = service.registered.length;
  const late = service.upload(
    (async function* () {
      yield first!;
      yield name!;
      await delay(1700);
      yield* rest;
    })(),
  );
  await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(service.registered).toHaveLength(before);
});

it('finishes the uploads in hand when it stops', async () => {
  service.forget();
  const second = await start(service.config, { log });
  const client = dial(audio, second.address, { name: 'audio' });
  const slow = client.uploadRecording(
    (async function* () {
      yield* upload(wavOf()).slice(0, -1);
      await delay(300);
      yield { metadata: '{}' };
    })(),
  );
  await waitUntil(async () => (await service.stored()).some((key) => key.startsWith('uploading/')));
  const closed = second.close();
  const { audio_id } = await slow;
  await closed;
  client.close();
  expect(await service.stored()).toContain(`recordings/${firmUuid}/${audio_id}.wav`);
});
