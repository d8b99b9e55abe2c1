import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { formatOf, inspect, requireStereo } from './inspect.ts';
import { FORMATS } from './recording.ts';
import { sourceOfBytes } from './source.ts';
import { joined, text, u32 } from './test/bytes.ts';
import { aiffFile, auFile, wavFile } from './test/files.ts';
import { faultOf, watched } from './test/reading.ts';

const DATA = new Uint8Array(400);
const WAV = wavFile({}, DATA);
const AIFF = aiffFile({}, DATA);
const AU = auFile({}, DATA);
const named = (name: string, bytes: Uint8Array): ReturnType<typeof inspect> => inspect(sourceOfBytes(bytes), name);

describe('the extension', () => {
  it.each(FORMATS)('%s is known in any case', (format) => {
    for (const name of [`a.${format}`, `a.${format.toUpperCase()}`, `a.mp3.${format}`, `.${format}`]) {
      expect(formatOf(name)).toBe(format);
    }
  });

  it('of another kind is refused, and the message says what the file is called and lists those that are allowed', async () => {
    for (const name of ['a.m4a', 'a', 'wav', 'a.wav.', 'a.wav ', 'a.wave', 'a.aif']) {
      const { code, message } = await faultOf(named(name, WAV));
      expect(code).toBe('INVALID_FILE_FORMAT');
      expect(message).toBe(
        `The file is called "${name}". Its extension must be one of .aiff, .au, .flac, .mp3, .ogg, .wav.`,
      );
    }
  });
});

describe('the content', () => {
  it('is found to be what the extension says', async () => {
    expect(await named('a.wav', WAV)).toMatchObject({ format: 'wav', channels: 2, frames: 100, duration: 0.0125 });
    expect(await named('a.AIFF', AIFF)).toMatchObject({ format: 'aiff', channels: 2, frames: 100 });
    expect(await named('a.au', AU)).toMatchObject({ format: 'au', channels: 2, frames: 100 });
  });

  it.each(FORMATS)('of no byte at all is unreadable as %s', async (format) => {
    expect(await faultOf(named(`a.${format}`, new Uint8Array(0)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  const MP3_FRAME = joined(text('\xff\xfb\x90\x00'), new Uint8Array(413));
  const MP3 = joined(MP3_FRAME, MP3_FRAME, MP3_FRAME);
  const tag = joined(text('ID3\x04\0\0\0\0\x02\0'), new Uint8Array(256));
  const contents: [string, string | null, Uint8Array][] = [
    ['WAV', 'wav', WAV],
    ['AIFF', 'aiff', AIFF],
    ['AU', 'au', AU],
    ['MP3', 'mp3', MP3],
    ['MP3', 'mp3', joined(tag, MP3)],
    ['FLAC', 'flac', joined(text('fLaC'), DATA)],
    ['FLAC', 'flac', joined(tag, text('fLaC'), DATA)],
    ['Ogg', 'ogg', joined(text('OggS'), DATA)],
    ['MP4 (M4A)', null, joined(u32(32), text('ftypM4A '), DATA)],
    ['Windows Media (ASF)', null, joined(text('0&\xb2u'), DATA)],
    ['AMR', null, joined(text('#!AMR\n'), DATA)],
    ['AAC', null, joined(text('\xff\xf1\x50\x80\x02\x1f\xfc'), DATA)],
    ['a ZIP archive', null, joined(text('PK\x03\x04'), DATA)],
  ];
  it.each(contents)('that is %s under another name is named in the refusal (%s)', async (name, format, bytes) => {
    for (const other of FORMATS.filter((each) => each !== format)) {
      const { code, message } = await faultOf(named(`a.${other}`, bytes));
      expect(code).toBe('INVALID_FILE_FORMAT');
      expect(message).toContain(`its content is ${name}`);
      if (format) expect(message).toContain(`Rename it to .${format}`);
    }
  });

  it.each(FORMATS)('that nobody knows is refused as %s', async (format) => {
    for (const bytes of [text('<html><body>404</body></html>'), text('R'), DATA]) {
      expect(await faultOf(named(`a.${format}`, bytes))).toMatchObject({ code: 'INVALID_FILE_FORMAT' });
    }
  });

  it('may be any bytes: the answer is a fault of two kinds or sane', async () => {
    const starts = fc.constantFrom('RIFF', 'FORM', '.snd', 'fLaC', 'OggS', 'ID3\x04', '\xff\xfb', '');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...FORMATS),
        starts,
        fc.uint8Array({ maxLength: 3000 }),
        async (format, start, rest) => {
          const { source } = watched(joined(text(start), rest));
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

describe('stereo', () => {
  it.each([1, 3, 6])('is refused for %d channels, with how many there are', async (channels) => {
    const info = await named('a.wav', wavFile({ channels }, DATA));
    try {
      requireStereo(info);
      throw new Error('It was accepted.');
    } catch (error) {
      expect(error).toMatchObject({ kind: 'invalid', code: 'AUDIO_NOT_STEREO', details: { channels } });
      expect((error as Error).message).toContain(channels === 1 ? '1 channel' : `${channels} channels`);
    }
  });

  it('is two channels', async () => {
    requireStereo(await named('a.wav', WAV));
  });
});

it('a WAV file that holds MP3 is read as MP3 is', async () => {
  const frames = Array.from({ length: 20 }, () => joined(text('\xff\xfb\x90\x00'), new Uint8Array(413)));
  const info = await named(
    'a.wav',
    wavFile({ tag: 0x55, bits: 0, sampleRate: 44_100, blockBytes: 1 }, joined(...frames)),
  );
  expect(info).toMatchObject({ format: 'wav', codec: 'mp3', channels: 2, sampleRate: 44_100 });
});

it.each([
  ['a.wav', wavFile({}, new Uint8Array(50_000_000))],
  ['a.aiff', aiffFile({}, new Uint8Array(50_000_000))],
  ['a.au', auFile({}, new Uint8Array(50_000_000))],
])('probing %s takes less than 5 ms when nothing comes between, and reads but the header', async (name, bytes) => {
  const times: number[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const { source, read } = watched(bytes);
    const begin = performance.now();
    await inspect(source, name);
    times.push(performance.now() - begin);
    expect(read.bytes).toBeLessThan(16 * 1024);
  }
  // A busy machine delays some of so many, not each.
  expect(Math.min(...times)).toBeLessThan(5);
});
