import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { formatOf, inspect, requireStereo } from './inspect.ts';
import { FORMATS } from './recording.ts';
import { sourceOfBytes } from './source.ts';
import { concat, text, u32 } from './test/bytes.ts';
import { faultOf, watchedSource } from './test/containers.ts';
import { aiffFile, auFile, wavFile } from './test/wav-aiff-au-files.ts';

const DATA = new Uint8Array(400);
const WAV = wavFile({}, DATA);
const AIFF = aiffFile({}, DATA);
const AU = auFile({}, DATA);
const named = (name: string, bytes: Uint8Array): ReturnType<typeof inspect> => inspect(sourceOfBytes(bytes), name);

describe('the extension of a file name', () => {
  it.each(FORMATS)('%s is accepted in any case', (format) => {
    for (const name of [`a.${format}`, `a.${format.toUpperCase()}`, `a.mp3.${format}`, `.${format}`]) {
      expect(formatOf(name)).toBe(format);
    }
  });

  it('is refused if unknown, with the file name and the accepted extensions in the message', async () => {
    for (const name of ['a.m4a', 'a', 'wav', 'a.wav.', 'a.wav ', 'a.wave', 'a.aif']) {
      const { code, message } = await faultOf(named(name, WAV));
      expect(code).toBe('INVALID_FILE_FORMAT');
      expect(message).toBe(
        `The file is called "${name}". Its extension must be one of .aiff, .au, .flac, .mp3, .ogg, .wav.`,
      );
    }
  });
});

describe('the content of a file', () => {
  it('is accepted when it matches the extension', async () => {
    expect(await named('a.wav', WAV)).toMatchObject({ format: 'wav', channels: 2, frames: 100, duration: 0.0125 });
    expect(await named('a.AIFF', AIFF)).toMatchObject({ format: 'aiff', channels: 2, frames: 100 });
    expect(await named('a.au', AU)).toMatchObject({ format: 'au', channels: 2, frames: 100 });
  });

  it.each(FORMATS)('is unreadable as %s when it is empty', async (format) => {
    expect(await faultOf(named(`a.${format}`, new Uint8Array(0)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  const MP3_FRAME = concat(text('\xff\xfb\x90\x00'), new Uint8Array(413));
  const MP3 = concat(MP3_FRAME, MP3_FRAME, MP3_FRAME);
  const tag = concat(text('ID3\x04\0\0\0\0\x02\0'), new Uint8Array(256));
  const contents: [string, string | null, Uint8Array][] = [
    ['WAV', 'wav', WAV],
    ['AIFF', 'aiff', AIFF],
    ['AU', 'au', AU],
    ['MP3', 'mp3', MP3],
    ['MP3', 'mp3', concat(tag, MP3)],
    ['FLAC', 'flac', concat(text('fLaC'), DATA)],
    ['FLAC', 'flac', concat(tag, text('fLaC'), DATA)],
    ['Ogg', 'ogg', concat(text('OggS'), DATA)],
    ['MP4 (M4A)', null, concat(u32(32), text('ftypM4A '), DATA)],
    ['Windows Media (ASF)', null, concat(text('0&\xb2u'), DATA)],
    ['AMR', null, concat(text('#!AMR\n'), DATA)],
    ['AAC', null, concat(text('\xff\xf1\x50\x80\x02\x1f\xfc'), DATA)],
    ['a ZIP archive', null, concat(text('PK\x03\x04'), DATA)],
  ];
  it.each(contents)(
    'is named in the refusal when it is %s under another extension (%s)',
    async (name, format, bytes) => {
      for (const other of FORMATS.filter((each) => each !== format)) {
        const { code, message } = await faultOf(named(`a.${other}`, bytes));
        expect(code).toBe('INVALID_FILE_FORMAT');
        expect(message).toContain(`its content is ${name}`);
        if (format) expect(message).toContain(`Rename it to .${format}`);
      }
    },
  );

  it.each(FORMATS)('is refused as %s when its format is unknown', async (format) => {
    for (const bytes of [text('<html><body>404</body></html>'), text('R'), DATA]) {
      expect(await faultOf(named(`a.${format}`, bytes))).toMatchObject({ code: 'INVALID_FILE_FORMAT' });
    }
  });

  it('may be any bytes: the result is sane or one of two faults', async () => {
    const starts = fc.constantFrom('RIFF', 'FORM', '.snd', 'fLaC', 'OggS', 'ID3\x04', '\xff\xfb', '');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...FORMATS),
        starts,
        fc.uint8Array({ maxLength: 3000 }),
        async (format, start, rest) => {
          const { source } = watchedSource(concat(text(start), rest));
          if (source.sizeBytes === 0) return;
          const found = await inspect(source, `a.${format}`).catch((error: unknown) => error);
          if (found instanceof Error) {
            if (!(found instanceof Fault)) throw found;
            expect(['INVALID_FILE_FORMAT', 'AUDIO_UNREADABLE']).toContain(found.code);
          } else expect(found).toMatchObject({ format });
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a codec that is not supported', () => {
  const messageOf = async (name: string, bytes: Uint8Array): Promise<string> => {
    const { code, message } = await faultOf(named(name, bytes));
    expect(code).toBe('INVALID_FILE_FORMAT');
    return message;
  };

  it.each<[string, string, Uint8Array]>([
    ['GSM 6.10', 'a.wav', wavFile({ tag: 0x31, channels: 1, bits: 0, blockBytes: 65 }, DATA)],
    ['G.722', 'a.wav', wavFile({ tag: 0x28f, channels: 1, bits: 4, blockBytes: 1 }, DATA)],
    ['G.726 ADPCM', 'a.wav', wavFile({ tag: 0x45, channels: 1, bits: 4, blockBytes: 1 }, DATA)],
    ['GSM 6.10', 'a.aiff', aiffFile({ compression: 'agsm', channels: 1 }, DATA)],
    ['G.722', 'a.au', auFile({ encoding: 24, channels: 1 }, DATA)],
  ])(
    'in mono is refused by name, with the advice that two channels are needed: %s in %s',
    async (codec, name, file) => {
      const message = await messageOf(name, file);
      expect(message).toContain(codec);
      expect(message).toContain('The recording is mono (1 channel), so converting it is not enough');
      expect(message).toContain('two channels: the operator on one, the client on the other');
      expect(message).not.toContain('keep both channels');
    },
  );

  it('in stereo is refused with the advice to keep both channels', async () => {
    expect(await messageOf('a.wav', wavFile({ tag: 0x31 }, DATA))).toMatch(/GSM 6\.10 .* keep both channels\.$/);
  });

  it('with more channels is refused with their number', async () => {
    const message = await messageOf('a.wav', wavFile({ tag: 2, bits: 4, channels: 3, blockBytes: 512 }, DATA));
    expect(message).toContain('MS ADPCM');
    expect(message).toContain('The recording has 3 channels, so converting it is not enough');
  });
});

describe('the stereo check', () => {
  it.each([1, 3, 6, 33])('refuses %d channels and reports the number', async (channels) => {
    const info = await named('a.wav', wavFile({ channels }, DATA));
    try {
      requireStereo(info);
      throw new Error('The recording was accepted.');
    } catch (error) {
      expect(error).toMatchObject({ kind: 'invalid', code: 'AUDIO_NOT_STEREO', details: { channels } });
      expect((error as Error).message).toContain(channels === 1 ? '1 channel' : `${channels} channels`);
    }
  });

  it.each<[string, number]>([
    ['a.wav', 40],
    ['a.aiff', 33],
    ['a.au', 65_536],
  ])('refuses %s with %d channels by their number', async (fileName, channels) => {
    const data = new Uint8Array(4 * channels);
    const file = {
      wav: () => wavFile({ channels }, data),
      aiff: () => aiffFile({ channels }, data),
      au: () => auFile({ channels }, data),
    };
    const info = await named(fileName, file[fileName.slice(2) as keyof typeof file]());
    expect(() => requireStereo(info)).toThrow(
      expect.objectContaining({ code: 'AUDIO_NOT_STEREO', message: expect.stringContaining(`${channels} channels`) }),
    );
  });

  it('accepts two channels', async () => {
    requireStereo(await named('a.wav', WAV));
  });
});

it('a WAV file that holds MP3 has the properties of the MP3 inside', async () => {
  const frames = Array.from({ length: 20 }, () => concat(text('\xff\xfb\x90\x00'), new Uint8Array(413)));
  const info = await named(
    'a.wav',
    wavFile({ tag: 0x55, bits: 0, sampleRate: 44_100, blockBytes: 1 }, concat(...frames)),
  );
  expect(info).toMatchObject({ format: 'wav', codec: 'mp3', channels: 2, sampleRate: 44_100 });
});

it.each([
  ['a.wav', wavFile({}, new Uint8Array(50_000_000))],
  ['a.aiff', aiffFile({}, new Uint8Array(50_000_000))],
  ['a.au', auFile({}, new Uint8Array(50_000_000))],
])('probing %s reads only the header', async (name, bytes) => {
  const { source, read } = watchedSource(bytes);
  await inspect(source, name);
  expect(read.bytes).toBeLessThan(16 * 1024);
});
