import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AudioExtractionRequested } from '@call-analysis/events';
import { Fault, notFound } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import AdmZip from 'adm-zip';
import type { ExtractionRequested } from './extract-recording.ts';
import { AudioUnderTest } from './test/audio-under-test.ts';
import { firmUuid, wavOf } from './test/recordings.ts';

const service = new AudioUnderTest();
const wav = wavOf();

beforeEach(async () => {
  service.reset();
  for (const key of await service.stored()) await service.objects.remove(key);
});

type Damage = (archive: Buffer, event: ExtractionRequested) => void;

const none: Damage = () => {};

/** Stores an archive of these files. Returns the events that request their extraction, in order. */
async function requested(files: Record<string, Buffer>, damage: Damage = none): Promise<ExtractionRequested[]> {
  const zip = new AdmZip();
  for (const [name, bytes] of Object.entries(files)) zip.addFile(name, bytes);
  const archive = zip.toBuffer();
  const archive_key = `frozen/${firmUuid}/${randomUUID()}.zip`;
  const events = new AdmZip(archive).getEntries().map(({ entryName, rawEntryName, header }): ExtractionRequested => ({
    id: randomUUID(),
    source: 'test',
    type: AudioExtractionRequested.type,
    time: new Date().toISOString(),
    subject: randomUUID(),
    firmuuid: firmUuid,
    priority: 0,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    data: {
      attempt: 1,
      archive_key,
      archive_bytes: archive.length,
      file_name: entryName,
      entry: {
        raw_name: rawEntryName.toString('base64'),
        offset: header.offset,
        compressed_bytes: header.compressedSize,
        bytes: header.size,
        crc32: header.crc >>> 0,
        method: header.method === 8 ? 8 : 0,
        flags: header.flags,
      },
    },
  }));
  for (const event of events) damage(archive, event);
  await service.objects.put(archive_key, Readable.from([archive]));
  return events;
}

async function requestedOne(name: string, bytes: Buffer, damage: Damage = none): Promise<ExtractionRequested> {
  const [event] = await requested({ [name]: bytes }, damage);
  return event!;
}

const keyOf = (event: ExtractionRequested, extension = 'wav') => `recordings/${firmUuid}/${event.subject}.${extension}`;

/** Every delivery has its own span. */
const untraced = <Request extends { traceparent?: string | undefined }>({ traceparent: _span, ...rest }: Request) =>
  rest;

describe('a recording in an archive', () => {
  it('is stored under the uuid of its call and reported to the call catalogue', async () => {
    const event = await requestedOne('Запись 1.WAV', wav);
    await service.publish(event);
    expect(await service.recordedOf(event)).toMatchObject({
      firm_uuid: firmUuid,
      call_uuid: event.subject,
      attempt: 1,
      // A new span in the same trace.
      traceparent: expect.stringContaining(event.traceparent!.slice(0, 36)),
      recording: {
        object_key: keyOf(event),
        format: 'wav',
        codec: 'pcm_s16le',
        channels: 2,
        sample_rate: 8000,
        duration: 1,
        size_bytes: wav.length,
        sha256: createHash('sha256').update(wav).digest(),
      },
    });
    expect((await buffer(await service.objects.open(keyOf(event)))).equals(wav)).toBe(true);
  });

  it('may be larger than a single upload', async () => {
    const large = wavOf({ seconds: 1700 });
    expect(large.length).toBeGreaterThan(54_000_000);
    const event = await requestedOne('large.wav', large);
    await service.publish(event);
    expect((await service.recordedOf(event)).recording).toMatchObject({ size_bytes: large.length });
    await service.objects.remove(keyOf(event));
    // Some seconds of work, and ten times as long on a machine that is busy with other tests.
  }, 180_000);

  it('is reported again after the catalogue did not answer, without reading the archive again', async () => {
    const event = await requestedOne('a.wav', wav);
    service.catalogue.recordAudio = async () => {
      await service.objects.remove(event.data.archive_key);
      if (service.recorded.length === 1) throw new Fault('unavailable', 'UNAVAILABLE', 'Gone.');
      return {};
    };
    await service.publish(event);
    await waitUntil(() => service.recorded.length === 2);
    expect(untraced(service.recorded[1]!)).toEqual(untraced(service.recorded[0]!));
    await service.settled();
    expect(service.failed.filter(({ subject }) => subject === event.subject)).toEqual([]);
    expect(await service.stored()).toEqual([keyOf(event)]);
  });

  it('is reported, and stays, when another worker has stored it after the first look and the archive is gone', async () => {
    const event = await requestedOne('a.wav', wav);
    await service.objects.put(keyOf(event), Readable.from([wav]), { maxBytes: wav.length });
    await service.objects.remove(event.data.archive_key);
    const { head } = service.objects;
    service.objects.head = async () => {
      service.objects.head = head;
      return null;
    };
    await service.publish(event);
    expect(await service.recordedOf(event)).toMatchObject({ recording: { size_bytes: wav.length } });
    await service.settled();
    expect(service.failed.filter(({ subject }) => subject === event.subject)).toEqual([]);
    expect(await service.stored()).toContain(keyOf(event));
  });

  it('is reported as before when it is requested again', async () => {
    const event = await requestedOne('a.wav', wav);
    await service.publish(event);
    await service.recordedOf(event);
    await service.settled();
    await service.objects.remove(event.data.archive_key);
    await service.publish({ ...event, id: randomUUID() });
    await waitUntil(() => service.recorded.length === 2);
    expect(untraced(service.recorded[1]!)).toEqual(untraced(service.recorded[0]!));
  });
});

describe('an entry that is not a valid recording fails its call permanently and leaves nothing:', () => {
  const hopeless: [string, string, string, Buffer, Damage][] = [
    [
      'damaged data',
      'ENTRY_CORRUPT',
      'a.wav',
      wav,
      (archive, { data }) => void (archive[data.entry.offset + 60]! ^= 0xff),
    ],
    [
      'a wrong checksum',
      'ENTRY_CORRUPT',
      'a.wav',
      wav,
      (_, { data }) => void (data.entry.crc32 = (data.entry.crc32 ^ 1) >>> 0),
    ],
    ['more bytes than declared', 'ENTRY_CORRUPT', 'a.wav', wav, (_, { data }) => void (data.entry.bytes -= 1)],
    ['mono', 'AUDIO_NOT_STEREO', 'a.wav', wavOf({ channels: 1 }), none],
    ['no audio frame', 'AUDIO_UNREADABLE', 'a.wav', wavOf({ seconds: 0 }), none],
    ['no bytes', 'AUDIO_UNREADABLE', 'a.wav', Buffer.alloc(0), none],
    ['other content', 'INVALID_FILE_FORMAT', 'a.flac', wav, none],
    ['another extension', 'INVALID_FILE_FORMAT', 'a.txt', wav, none],
    ['an archive that was removed', 'ARCHIVE_MISSING', 'a.wav', wav, (_, { data }) => void (data.archive_key += 'x')],
  ];
  const events = new Map<string, ExtractionRequested>();
  let left: string[];

  // All at the same time, because each is given up half a second after its attempt.
  beforeAll(async () => {
    for (const [what, _, name, bytes, damage] of hopeless) events.set(what, await requestedOne(name, bytes, damage));
    await service.publish(...events.values());
    await Promise.all([...events.values()].map((event) => service.failureOf(event)));
    left = await service.stored();
  });

  it.each(hopeless)('%s (%s)', async (what, code) => {
    const event = events.get(what)!;
    const failed = await service.failureOf(event);
    expect(failed.data).toEqual({
      attempt: 1,
      stage: 'extraction',
      code,
      message: expect.stringMatching(/\.$/),
      retryable: false,
      attempts: 1,
    });
    expect(failed.firmuuid).toBe(firmUuid);
    expect(service.recorded.some(({ call_uuid }) => call_uuid === event.subject)).toBe(false);
    expect(left.filter((key) => key.includes(event.subject))).toEqual([]);
  });

  it('and neither a dead letter nor an error in the log: one line at info with the code', async () => {
    await service.settled();
    expect((await service.depth()).dead).toBe(0);
    const calls = new Set([...events.values()].map(({ subject }) => subject));
    const lines = service.lines
      .map((line) => JSON.parse(line) as { level: string; msg: string; code?: string; call_uuid?: string })
      .filter(({ call_uuid }) => calls.has(call_uuid ?? ''));
    expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(['info']));
    const codes = lines.filter(({ msg }) => msg === 'a call failed').map(({ code }) => code);
    expect(codes.sort()).toEqual(hopeless.map(([, code]) => code).sort());
  });

  it('other entries of the archive are extracted', async () => {
    const events = await requested({ 'a.wav': wav, 'b.wav': wavOf({ channels: 1 }), 'c.wav': wav });
    await service.publish(...events);
    await waitUntil(() => service.recorded.length === 2);
    await service.failureOf(events[1]!);
    expect((await service.stored()).sort()).toEqual([keyOf(events[0]!), keyOf(events[2]!)].sort());
  });
});

describe('a temporary failure', () => {
  it('is retried, then fails the call so that a user can retry it, and keeps the bytes for that', async () => {
    const [bug, unknown] = await requested({ 'b.wav': wav, 'c.wav': wav });
    service.catalogue.recordAudio = async ({ call_uuid }) => {
      if (call_uuid === bug!.subject) throw new Error('secret words');
      throw new Fault('invalid', 'VALIDATION_ERROR', 'format: an earlier release');
    };
    await service.publish(bug!, unknown!);
    const { data: ofBug } = await service.failureOf(bug!);
    expect(ofBug).toMatchObject({ stage: 'extraction', code: 'INTERNAL', retryable: true });
    expect(ofBug.attempts).toBeGreaterThan(1);
    const { data: ofUnknown } = await service.failureOf(unknown!);
    expect(ofUnknown).toMatchObject({ stage: 'extraction', code: 'INTERNAL', retryable: true });
    // The message of an internal error belongs in the log.
    expect(ofBug.message).not.toContain('secret');
    expect((await service.stored()).sort()).toEqual([bug!, unknown!].map((event) => keyOf(event)).sort());
  });

  it('of the catalogue or the object store is waited for, however often it is asked', async () => {
    const [event] = await requested({ 'a.wav': wav });
    // More often than the two tries that these tests give an event.
    let outages = 3;
    service.catalogue.recordAudio = async () => {
      outages -= 1;
      if (outages > 0) throw new Fault('unavailable', 'UNAVAILABLE', 'ingest does not answer. Try again shortly.');
      return {};
    };
    await service.setStoreAway(true);
    await service.publish(event!);
    const postponed = () =>
      service.lines.filter((line) => line.includes('"postponed"') && line.includes(event!.subject));
    await waitUntil(() => postponed().length >= 4);
    expect(service.recorded).toEqual([]);
    await service.setStoreAway(false);
    await waitUntil(() => outages === 0);
    await service.settled();
    expect(service.failed.filter(({ subject }) => subject === event!.subject)).toEqual([]);
    expect(await service.stored()).toEqual([keyOf(event!)]);
  }, 180_000);

  it('leaves no bytes of a call that no longer exists', async () => {
    service.catalogue.recordAudio = async () => {
      throw notFound('call');
    };
    const event = await requestedOne('a.wav', wav);
    await service.publish(event);
    await waitUntil(() => service.recorded.length === 1);
    await service.settled();
    expect(await service.stored()).toEqual([]);
  });
});

it('four recordings are extracted at the same time, and no more', async () => {
  let now = 0;
  let most = 0;
  const together = Promise.withResolvers<void>();
  service.catalogue.recordAudio = async () => {
    most = Math.max(most, ++now);
    // The first four wait for each other, and then 100 ms in which a fifth one would start.
    if (now === 4) setTimeout(together.resolve, 100);
    await together.promise;
    now -= 1;
    return {};
  };
  const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${index}.wav`, wav]));
  await service.publish(...(await requested(files)));
  await waitUntil(() => service.recorded.length === 12);
  expect(most).toBe(4);
});
