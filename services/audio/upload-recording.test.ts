import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { UploadRecordingRequestInit } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import { createLog } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AudioUnderTest } from './test/audio-under-test.ts';
import { firmUuid, upload, wavOf } from './test/recordings.ts';
import { uploadRecording } from './upload-recording.ts';

const LIMIT = 100_000;
const service = new AudioUnderTest({ uploadBytes: LIMIT });
const wav = wavOf();

beforeEach(async () => {
  service.reset();
  for (const key of await service.stored()) await service.objects.remove(key);
});

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
  throw new Error('The promise was fulfilled.');
}

it.each([
  ['names no firm', { uploader: { firm_uuid: 'x', user_uuid: randomUUID() } }],
  ['is a chunk', { chunk: wav }],
])("an upload whose first message %s is the caller's mistake", async (_what, first) => {
  expect(await codeOf(service.upload([first]))).toBe('VALIDATION_ERROR');
});

describe('a valid recording', () => {
  it('is stored under the uuid of its call and registered in the call catalogue', async () => {
    const { audio_id, ignored_fields } = await service.upload(upload(wav, { metadata: '{"x":1}' }));
    const key = `recordings/${firmUuid}/${audio_id}.wav`;
    expect(ignored_fields).toEqual([]);
    expect(await service.stored()).toEqual([key]);
    expect((await buffer(await service.objects.open(key))).equals(wav)).toBe(true);
    expect(service.registered).toMatchObject([
      {
        caller: { firm_uuid: firmUuid },
        call_uuid: audio_id,
        file_name: 'a.wav',
        metadata: '{"x":1}',
        recording: {
          object_key: key,
          format: 'wav',
          codec: 'pcm_s16le',
          channels: 2,
          sample_rate: 8000,
          duration: 1,
          size_bytes: wav.length,
          sha256: createHash('sha256').update(wav).digest(),
        },
      },
    ]);
    expect(service.registered[0]).not.toHaveProperty('campaign_uuid');
  });

  it('may follow its metadata, arrive in pieces of any size, and belong to a campaign', async () => {
    const campaign_uuid = randomUUID();
    const [, ...rest] = upload(wav, { metadata: null, pieceBytes: 997 });
    const uploader = { firm_uuid: firmUuid, user_uuid: randomUUID(), campaign_uuid };
    await service.upload([{ uploader }, { metadata: 'm' }, ...rest]);
    expect(service.registered).toMatchObject([{ metadata: 'm', campaign_uuid, recording: { size_bytes: wav.length } }]);
  });

  it('may have an extension in any case, and its file name is never used as a path', async () => {
    const { audio_id } = await service.upload(upload(wav, { fileName: '../../etc/Запись.WAV' }));
    expect(await service.stored()).toEqual([`recordings/${firmUuid}/${audio_id}.wav`]);
    expect(service.registered).toMatchObject([{ file_name: '../../etc/Запись.WAV' }]);
  });

  it('of exactly the size limit is accepted', async () => {
    await service.upload(upload(Buffer.concat([wav, Buffer.alloc(LIMIT - wav.length)])));
    expect(service.registered).toMatchObject([{ recording: { size_bytes: LIMIT } }]);
  });

  it('that was uploaded before gets the earlier uuid and is not stored twice', async () => {
    const first = await service.upload(upload(wav));
    service.catalogue.registerCall = async () => ({ call_uuid: first.audio_id, ignored_fields: ['colour'] });
    const again = await service.upload(upload(wav));
    expect(again).toEqual({ audio_id: first.audio_id, ignored_fields: ['colour'] });
    expect(await service.stored()).toEqual([`recordings/${firmUuid}/${first.audio_id}.wav`]);
  });
});

describe('a refused upload leaves nothing behind:', () => {
  it.each([
    ['another extension', upload(wav, { fileName: 'a.txt' }), 'INVALID_FILE_FORMAT', 0],
    ['no extension', upload(wav, { fileName: 'wav' }), 'INVALID_FILE_FORMAT', 0],
    [
      'another extension and too many bytes',
      upload(Buffer.alloc(LIMIT + 1), { fileName: 'a.txt' }),
      'FILE_TOO_LARGE',
      0,
    ],
    ['too many bytes', upload(Buffer.alloc(LIMIT + 1)), 'FILE_TOO_LARGE', 0],
    ['no metadata', upload(wav, { metadata: null }), 'MISSING_FILE', 0],
    ['no file', upload(wav).filter((piece) => 'metadata' in piece || 'uploader' in piece), 'MISSING_FILE', 0],
    ['no bytes', upload(Buffer.alloc(0)), 'AUDIO_UNREADABLE', 1],
    ['other content', upload(Buffer.from('fLaC0000'.repeat(20))), 'INVALID_FILE_FORMAT', 1],
    ['no audio frame', upload(wavOf({ seconds: 0 })), 'AUDIO_UNREADABLE', 1],
    ['one channel', upload(wavOf({ channels: 1 })), 'AUDIO_NOT_STEREO', 1],
    ['six channels', upload(wavOf({ channels: 6, seconds: 0.1 })), 'AUDIO_NOT_STEREO', 1],
  ])('%s', async (_, pieces, code, asked) => {
    expect(await codeOf(service.upload(pieces))).toBe(code);
    expect(await service.stored()).toEqual([]);
    // A fault of the metadata has precedence, and only the catalogue finds it.
    expect(service.registered.map(({ fault }) => fault?.code)).toEqual(asked === 0 ? [] : [code]);
  });

  it('a fault of the metadata, passed on from the catalogue', async () => {
    service.catalogue.registerCall = async () => {
      throw new Fault('invalid', 'VALIDATION_ERROR', 'Bad.', { details: { fields: [{ field: 'direction' }] } });
    };
    await expect(service.upload(upload(wav))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'Bad.',
      details: { fields: [{ field: 'direction' }] },
    });
    expect(await service.stored()).toEqual([]);
  });

  it('too many bytes, refused without reading the rest', async () => {
    let sent = 0;
    async function* endless(): AsyncGenerator<UploadRecordingRequestInit> {
      yield* upload(Buffer.alloc(0), { metadata: null });
      for (;;) {
        sent += 10_000;
        yield { chunk: Buffer.alloc(10_000) };
        await delay(1);
      }
    }
    expect(await codeOf(service.upload(endless()))).toBe('FILE_TOO_LARGE');
    expect(sent).toBeLessThan(10 * LIMIT);
    expect(await service.stored()).toEqual([]);
  });

  it('an upload that the client aborts', async () => {
    const [uploader, name, ...rest] = upload(wav);
    async function* broken(): AsyncGenerator<UploadRecordingRequestInit> {
      yield uploader!;
      yield name!;
      yield rest[0]!;
      await waitUntil(async () => (await service.stored()).length > 0);
      throw new Fault('invalid', 'MISSING_FILE', 'The form ended.');
    }
    expect(await codeOf(service.upload(broken()))).toBe('MISSING_FILE');
    await waitUntil(async () => (await service.stored()).length === 0);
    expect(service.registered).toEqual([]);
  });

  it('an upload whose deadline has passed', async () => {
    async function* stalled(): AsyncGenerator<UploadRecordingRequestInit> {
      yield* upload(wav).slice(0, 3);
      await new Promise(() => {});
    }
    expect(await codeOf(service.upload(stalled(), { deadlineMs: 300 }))).toBe('UNAVAILABLE');
    await waitUntil(async () => (await service.stored()).length === 0);
    expect(service.registered).toEqual([]);
  });
});

describe('when the answer of the call catalogue is lost', () => {
  it('the same call is registered again', async () => {
    const { registerCall } = service.catalogue;
    service.catalogue.registerCall = async (...given) => {
      if (service.registered.length === 1) throw new Fault('unavailable', 'UNAVAILABLE', 'Gone.');
      return registerCall(...given);
    };
    const { audio_id } = await service.upload(upload(wav));
    expect(service.registered.map(({ call_uuid }) => call_uuid)).toEqual([audio_id, audio_id]);
    expect(await service.stored()).toEqual([`recordings/${firmUuid}/${audio_id}.wav`]);
  });

  it.each([
    ['unavailable', 'UNAVAILABLE'],
    ['internal', 'INTERNAL'],
  ] as const)(
    'on every attempt (%s), the bytes stay, because the call may exist, and the sweep can find them',
    async (kind, code) => {
      service.catalogue.registerCall = async () => {
        throw new Fault(kind, code, 'Gone.');
      };
      expect(await codeOf(service.upload(upload(wav)))).toBe(code);
      const uuid = service.registered[0]?.call_uuid;
      expect((await service.stored()).sort()).toEqual([
        `recordings/${firmUuid}/${uuid}.wav`,
        `uploading/${firmUuid}/${uuid}.wav`,
      ]);
    },
  );
});

describe('when the object store does not answer in time', () => {
  it('it may still store the bytes, so the marker stays for the sweep', async () => {
    const objects: Objects = Object.assign(Object.create(service.objects) as Objects, {
      async put(key: string, bytes: Readable) {
        const done = await service.objects.put(key, bytes);
        if (key.startsWith('recordings/'))
          throw new Fault('unavailable', 'UNAVAILABLE', 'The object store does not answer.');
        return done;
      },
      remove: (key: string) => service.objects.remove(key),
    });
    async function* pieces() {
      yield* [{ file_name: 'call.wav' }, { metadata: '{}' }, { chunk: wav }];
    }
    const registerCall = () => Promise.reject(new Error('There is nothing to register.'));
    const log = createLog({ name: 'audio', level: 'silent' });
    const parts = { objects, ingest: { registerCall }, log, uploadBytes: LIMIT, orphanAfterMs: 60_000 };
    const uploader = { firmUuid, userUuid: randomUUID(), campaignUuid: null };
    expect(await codeOf(uploadRecording(parts, uploader, pieces()))).toBe('UNAVAILABLE');
    expect(await service.stored()).toEqual([expect.stringMatching(/^uploading\//)]);
  });
});

describe('many concurrent uploads', () => {
  it('do not affect each other', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 24 }, (_, index) =>
        service.upload(index % 3 === 0 ? upload(wavOf({ channels: 1 })) : upload(wav, { pieceBytes: 1000 + index })),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(
      Array.from({ length: 24 }, (_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')),
    );
    expect(await service.stored()).toHaveLength(16);
  });

  it('leave no names, metadata or phone numbers in the log', async () => {
    await service.upload(upload(wav, { fileName: 'Ivanov.wav', metadata: '{"client_phone_number":"+998901234567"}' }));
    await codeOf(service.upload(upload(wavOf({ channels: 1 }), { fileName: 'Ivanov.wav' })));
    expect(service.lines.join('\n')).not.toMatch(/Ivanov|998901234567/);
  });
});
