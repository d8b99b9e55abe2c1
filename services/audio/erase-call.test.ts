import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { AudioExtractionRequested, CallErased, type Event } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import { waitUntil, writeZip } from '@call-analysis/testing';
import { beforeEach, expect, it } from '@jest/globals';
import type { ExtractionRequested } from './archives/extract-recording.ts';
import { AudioUnderTest, firmUuid, wavOf } from './test/audio-under-test.ts';

const service = new AudioUnderTest();
const wav = wavOf();

beforeEach(async () => {
  service.forget();
  for (const key of await service.stored()) await service.objects.remove(key);
});

function told<Data>(type: string, data: Data, subject: string = randomUUID()): Event<Data> {
  const time = new Date().toISOString();
  return { id: randomUUID(), source: 'test', type, time, subject, firmuuid: firmUuid, priority: 0, data };
}

/** Puts an archive with one recording and asks for it. */
async function requested(): Promise<ExtractionRequested> {
  const zip = writeZip([{ name: 'a.wav', data: wav }]);
  const archive_key = `frozen/${firmUuid}/${randomUUID()}.zip`;
  await service.objects.put(archive_key, Readable.from([zip.bytes]));
  const [entry] = zip.entries;
  return told(AudioExtractionRequested.type, {
    attempt: 1,
    archive_key,
    archive_bytes: zip.bytes.length,
    file_name: 'a.wav',
    entry: {
      raw_name: Buffer.from('a.wav').toString('base64'),
      offset: entry!.offset,
      compressed_bytes: wav.length,
      bytes: wav.length,
      crc32: entry!.crc32,
      method: 0,
      flags: 0,
    },
  });
}

const erased = (event: Event) => told(CallErased.type, { erased_at: new Date().toISOString() }, event.subject);
const isFailed = ({ subject }: Event) => service.failed.some((event) => event.subject === subject);

async function isBuried({ subject }: Event): Promise<boolean> {
  return (await service.db.query('SELECT 1 FROM erased_subject WHERE subject = $1', [subject])).length > 0;
}

it('a recording goes with its call, in whatever format, and what marked its upload; others stay', async () => {
  const [call, other] = [randomUUID(), randomUUID()];
  const keys = [`recordings/${firmUuid}/${call}.mp3`, `uploading/${firmUuid}/${call}.mp3`];
  const kept = [`recordings/${firmUuid}/${other}.mp3`, `recordings/${randomUUID()}/${call}.mp3`];
  for (const key of [...keys, ...kept]) await service.objects.put(key, Readable.from(['bytes']));
  await service.publish(told(CallErased.type, { erased_at: new Date().toISOString() }, call));
  await waitUntil(async () => (await service.stored()).length === kept.length);
  expect((await service.stored()).toSorted()).toEqual(kept.toSorted());
});

it('what is taken out of an archive while its call is erased is not kept, and fails nothing', async () => {
  const event = await requested();
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.catalogue.recordAudio = async () => {
    asked.resolve();
    await goOn.promise;
    return {};
  };
  await service.publish(event);
  await asked.promise;
  await service.publish(erased(event));
  await waitUntil(() => isBuried(event));
  goOn.resolve();
  await service.settled();
  expect(await service.stored()).toEqual([]);
  expect(isFailed(event)).toBe(false);
});

it('a recording whose call is gone from the catalogue is not kept, and fails nothing', async () => {
  const event = await requested();
  service.catalogue.recordAudio = async () => {
    throw notFound('call');
  };
  await service.publish(event);
  await waitUntil(() => service.recorded.length === 1);
  await service.settled();
  expect(await service.stored()).toEqual([]);
  expect(isFailed(event)).toBe(false);
  expect((await service.depth()).dead).toBe(0);
});

it('a recording that is asked for after its call was erased is not taken out, nor is its archive missed', async () => {
  const event = await requested();
  await service.publish(erased(event));
  await waitUntil(() => isBuried(event));
  await service.objects.remove(event.data.archive_key);
  await service.publish(event);
  await service.settled();
  expect(service.recorded).toEqual([]);
  expect(isFailed(event)).toBe(false);
});
