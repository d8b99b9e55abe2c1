import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { AudioExtractionRequested, CallErased, type Event } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import { waitUntil, writeZip } from '@call-analysis/testing';
import { beforeEach, expect, it } from '@jest/globals';
import type { ExtractionRequested } from './extract-recording.ts';
import { AudioUnderTest } from './test/audio-under-test.ts';
import { firmUuid, wavOf } from './test/recordings.ts';

const service = new AudioUnderTest();
const wav = wavOf();

beforeEach(async () => {
  service.reset();
  for (const key of await service.stored()) await service.objects.remove(key);
});

function eventOf<Data>(type: string, data: Data, subject: string = randomUUID()): Event<Data> {
  const time = new Date().toISOString();
  return { id: randomUUID(), source: 'test', type, time, subject, firmuuid: firmUuid, priority: 0, data };
}

/** Stores an archive with one recording. Returns the event that requests its extraction. */
async function requested(): Promise<ExtractionRequested> {
  const zip = writeZip([{ name: 'a.wav', data: wav }]);
  const archive_key = `frozen/${firmUuid}/${randomUUID()}.zip`;
  await service.objects.put(archive_key, Readable.from([zip.bytes]));
  const [entry] = zip.entries;
  return eventOf(AudioExtractionRequested.type, {
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

const erased = (event: Event) => eventOf(CallErased.type, { erased_at: new Date().toISOString() }, event.subject);
const isFailed = ({ subject }: Event) => service.failed.some((event) => event.subject === subject);

async function isErased({ subject }: Event): Promise<boolean> {
  return (await service.db.query('SELECT 1 FROM erased_subject WHERE subject = $1', [subject])).length > 0;
}

it('erasing a call removes its recording in any format and its upload marker, and no other recording', async () => {
  const [call, other] = [randomUUID(), randomUUID()];
  const keys = [`recordings/${firmUuid}/${call}.mp3`, `uploading/${firmUuid}/${call}.mp3`];
  const kept = [`recordings/${firmUuid}/${other}.mp3`, `recordings/${randomUUID()}/${call}.mp3`];
  for (const key of [...keys, ...kept]) await service.objects.put(key, Readable.from(['bytes']));
  await service.publish(eventOf(CallErased.type, { erased_at: new Date().toISOString() }, call));
  await waitUntil(async () => (await service.stored()).length === kept.length);
  expect((await service.stored()).toSorted()).toEqual(kept.toSorted());
});

it('a recording that is being extracted while its call is erased is not kept, and no failure is published', async () => {
  const event = await requested();
  const [reported, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.catalogue.recordAudio = async () => {
    reported.resolve();
    await resume.promise;
    return {};
  };
  await service.publish(event);
  await reported.promise;
  await service.publish(erased(event));
  await waitUntil(() => isErased(event));
  resume.resolve();
  await service.settled();
  expect(await service.stored()).toEqual([]);
  expect(isFailed(event)).toBe(false);
});

it('a recording whose call is no longer in the catalogue is not kept, and no failure is published', async () => {
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

it('a recording that is requested after its call was erased is not extracted, and a missing archive is no failure', async () => {
  const event = await requested();
  await service.publish(erased(event));
  await waitUntil(() => isErased(event));
  await service.objects.remove(event.data.archive_key);
  await service.publish(event);
  await service.settled();
  expect(service.recorded).toEqual([]);
  expect(isFailed(event)).toBe(false);
});
