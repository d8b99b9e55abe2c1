import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { chunk, concat, encodeSamples, type SampleKind, sampleValue, text, u16, u32, u64 } from '../test/bytes.ts';
import { decodeAll, expectContainerContract, faultOf, watchedSource } from '../test/containers.ts';
import { extensible, fmtChunk, riffWave, wavFile, type WavShape } from '../test/wav-aiff-au-files.ts';
import { wav } from './wav.ts';

const probe = (bytes: Uint8Array): ReturnType<typeof wav.probe> => wav.probe(sourceOfBytes(bytes));
const ints = Array.from({ length: 200 }, (_, i) => Math.round(30_000 * Math.sin(i / 7)));
const DATA = encodeSamples('s16', ints, true);
const LEFT = ints.filter((_, i) => i % 2 === 0).map((value) => sampleValue('s16', value));
const RIGHT = ints.filter((_, i) => i % 2 === 1).map((value) => sampleValue('s16', value));

async function expectAllSamples(bytes: Uint8Array): Promise<void> {
  expect(await probe(bytes)).toMatchObject({ codec: 'pcm_s16le', channels: 2, sampleRate: 8000, frames: 100 });
  expect((await decodeAll(wav, bytes)).channels).toEqual([LEFT, RIGHT]);
}

describe('samples', () => {
  const kinds: [SampleKind, WavShape, string, number[]][] = [
    ['u8', { bits: 8 }, 'pcm_u8', [0, 1, 127, 128, 200, 255]],
    ['s16', { bits: 16 }, 'pcm_s16le', [-32_768, -1, 0, 1, 12_345, 32_767]],
    ['s24', { bits: 24 }, 'pcm_s24le', [-8_388_608, -1, 0, 1, 1_234_567, 8_388_607]],
    ['s32', { bits: 32 }, 'pcm_s32le', [-2_147_483_648, -1, 0, 1, 12_345_678, 2_147_483_647]],
    ['f32', { bits: 32, tag: 3 }, 'pcm_f32le', [-1, -0.5, 0, 0.25, 0.75, 1]],
    ['f64', { bits: 64, tag: 3 }, 'pcm_f64le', [-1, -0.5, 0, 0.1, 0.75, 1]],
  ];
  it.each(kinds)('of kind %s are decoded to their values', async (kind, shape, codec, values) => {
    const bytes = wavFile(shape, encodeSamples(kind, values, true));
    expect(await probe(bytes)).toMatchObject({ format: 'wav', codec, frames: 3 });
    const { channels } = await decodeAll(wav, bytes);
    const expected = values.map((value) => sampleValue(kind, value));
    expect(channels).toEqual([expected.filter((_, i) => i % 2 === 0), expected.filter((_, i) => i % 2 === 1)]);
  });

  it('of 12 and 20 bits are left-aligned in 16 and 24', async () => {
    expect(await probe(wavFile({ bits: 12 }, DATA))).toMatchObject({ codec: 'pcm_s16le', frames: 100 });
    expect(await probe(wavFile({ bits: 20 }, new Uint8Array(60)))).toMatchObject({ codec: 'pcm_s24le', frames: 10 });
  });

  it('of 24 bits in 32 are found by the block size if the bytes per second agree with it', async () => {
    const wide = { bits: 24, blockBytes: 8 };
    expect(await probe(wavFile(wide, new Uint8Array(80)))).toMatchObject({ codec: 'pcm_s32le', frames: 10 });
    const wrong = { ...wide, bytesPerSecond: 48_000 };
    expect(await probe(wavFile(wrong, new Uint8Array(60)))).toMatchObject({ codec: 'pcm_s24le', frames: 10 });
  });

  it('that are not numbers become silence, and those out of range are limited', async () => {
    const data = encodeSamples('f32', [Number.NaN, 7, -Infinity, 0.5], true);
    expect((await decodeAll(wav, wavFile({ tag: 3, bits: 32 }, data))).channels).toEqual([
      [0, -1],
      [1, 0.5],
    ]);
  });

  it('of an extensible format have the sub-format and the container size', async () => {
    const shape = (tag: number, bits: number, validBits = bits): Uint8Array =>
      wavFile({ tag: 0xfffe, bits, extension: extensible(tag, validBits) }, new Uint8Array(48));
    expect(await probe(shape(1, 24, 20))).toMatchObject({ codec: 'pcm_s24le', frames: 8 });
    expect(await probe(shape(3, 32))).toMatchObject({ codec: 'pcm_f32le', frames: 6 });
    expect(await probe(shape(6, 8))).toMatchObject({ codec: 'pcm_alaw', frames: 24 });
    expect(await faultOf(probe(shape(0x92, 16)))).toMatchObject({ code: 'INVALID_FILE_FORMAT' });
  });
});

describe('chunks', () => {
  const format = fmtChunk();
  const data = chunk('data', DATA);
  const list = chunk('LIST', text('INFOISFT\x05\0\0\0Lavf\0\0'));
  const odd = chunk('note', text('odd'));

  it.each<[string, Uint8Array[]]>([
    [
      'other chunks before the format',
      [chunk('JUNK', new Uint8Array(28)), chunk('bext', new Uint8Array(602)), format, data],
    ],
    ['other chunks between format and data', [format, list, odd, data]],
    ['other chunks after the data', [format, data, list, chunk('id3 ', new Uint8Array(33))]],
    ['an unpadded chunk of odd size before the format', [chunk('note', text('odd'), { padded: false }), format, data]],
    ['an unpadded chunk of odd size before the data', [format, chunk('note', text('odd'), { padded: false }), data]],
    ['the data before the format', [data, odd, format]],
    [
      'a second format and a second data chunk',
      [format, fmtChunk({ channels: 1, bits: 8 }), data, chunk('data', new Uint8Array(8))],
    ],
    ['a chunk longer than one read', [chunk('JUNK', new Uint8Array(70_000)), format, data]],
  ])('%s: all samples are found', async (_name, chunks) => {
    await expectAllSamples(riffWave(...chunks));
  });

  it('with the number of frames shorten the last block, and are ignored if implausible', async () => {
    const shape = { tag: 0x11, bits: 4, blockBytes: 512 };
    const file = (frames: number): Uint8Array =>
      riffWave(fmtChunk(shape), chunk('fact', u32(frames)), chunk('data', new Uint8Array(1024)));
    expect(await probe(file(1000))).toMatchObject({ codec: 'adpcm_ima_wav', frames: 1000 });
    expect((await decodeAll(wav, file(1000))).channels[1]).toHaveLength(1000);
    expect(await probe(file(5))).toMatchObject({ frames: 1010 });
    expect(await probe(file(2000))).toMatchObject({ frames: 1010 });
  });
});

describe('sizes', () => {
  const withSize = (sizeBytes: number, rest: Uint8Array = DATA): Uint8Array =>
    riffWave(fmtChunk(), concat(text('data'), u32(sizeBytes), rest));

  it.each([0, 0xffff_ffff, 0x7fff_ffff, DATA.length + 1000])(
    'of %d for the data mean up to the end of the file',
    async (size) => {
      await expectAllSamples(withSize(size));
    },
  );

  it('of 0 reach to the end of the file when the first samples look like one chunk and lead nowhere', async () => {
    const samples = DATA.slice();
    samples.set(concat(text('LIST'), u32(20)), 0);
    const bytes = riffWave(fmtChunk(), concat(text('data'), u32(0), samples));
    expect(await probe(bytes)).toMatchObject({ codec: 'pcm_s16le', frames: 100 });
  });

  it('of 0 before another chunk mean an empty recording', async () => {
    const fault = await faultOf(probe(withSize(0, chunk('LIST', text('INFO')))));
    expect(fault).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    expect(await faultOf(probe(withSize(0, new Uint8Array(0))))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('over 4 GiB are read from the ds64 chunk', async () => {
    for (const kind of ['RF64', 'BW64']) {
      const sizes = concat(u64(0), u64(DATA.length), u64(100), u32(0));
      const rest = chunk('LIST', new Uint8Array(40));
      const marked = concat(text('data'), u32(0xffff_ffff), DATA, rest);
      await expectAllSamples(
        concat(text(kind), u32(0xffff_ffff), text('WAVE'), chunk('ds64', sizes), fmtChunk(), marked),
      );
    }
  });

  it('do not depend on the RIFF header', async () => {
    for (const size of [0, 1, 0xffff_ffff]) {
      await expectAllSamples(concat(text('RIFF'), u32(size), text('WAVE'), fmtChunk(), chunk('data', DATA)));
    }
  });

  it('that reach beyond a cut-off file leave the remaining samples', async () => {
    expect(await probe(wavFile({}, DATA).subarray(0, -7))).toMatchObject({ frames: 98 });
    expect(await faultOf(probe(wavFile({}, DATA).subarray(0, 46)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('of a big-endian file are read in big-endian order', async () => {
    const big = encodeSamples('s16', ints, false);
    const content = concat(text('WAVE'), fmtChunk({}, false), chunk('data', big, { littleEndian: false }));
    const bytes = concat(text('RIFX'), u32(content.length, false), content);
    expect(await probe(bytes)).toMatchObject({ codec: 'pcm_s16be', frames: 100 });
    expect((await decodeAll(wav, bytes)).channels).toEqual([LEFT, RIGHT]);
  });
});

it.each(['0001000000001000', '0000000100001000'])(
  'the sub-format GUID of a big-endian file may begin with %s',
  async (guid) => {
    const extension = Buffer.concat([
      Buffer.from('0016001000000003', 'hex'),
      Buffer.from(`${guid}800000aa00389b71`, 'hex'),
    ]);
    const format = fmtChunk({ tag: 0xfffe, extension }, false);
    const bytes = concat(text('RIFX'), u32(0), text('WAVE'), format, chunk('data', DATA, { littleEndian: false }));
    expect(await probe(bytes)).toMatchObject({ codec: 'pcm_s16be', frames: 100 });
  },
);

describe('a codec that is not supported', () => {
  it.each([
    [0x31, 'GSM 6.10'],
    [0x65, 'G.722'],
    [0x28f, 'G.722'],
    [0x83, 'G.729'],
    [0x161, 'Windows Media Audio 2'],
    [0x1234, 'the codec 0x1234'],
  ])('is refused by name with advice: tag %d, %s', async (tag, name) => {
    const { code, message } = await faultOf(probe(wavFile({ tag }, DATA)));
    expect(code).toBe('INVALID_FILE_FORMAT');
    expect(message).toContain(name);
    expect(message).toContain('Convert');
  });

  it('is refused by name even when the recording is empty', async () => {
    expect(await faultOf(probe(riffWave(fmtChunk({ tag: 0x31 }))))).toMatchObject({ code: 'INVALID_FILE_FORMAT' });
  });

  it.each<[string, WavShape]>([
    ['floats of 16 bits', { tag: 3, bits: 16 }],
    ['integers of 64 bits', { bits: 64 }],
    ['IMA ADPCM of 3 bits', { tag: 0x11, bits: 3, blockBytes: 512 }],
    ['MS ADPCM of 3 channels', { tag: 2, bits: 4, channels: 3, blockBytes: 512 }],
  ])('is refused by name: %s', async (name, shape) => {
    expect((await faultOf(probe(wavFile(shape, DATA)))).message).toContain(name);
  });
});

describe('values that no recorder writes', () => {
  it.each<[string, WavShape]>([
    ['0 channels', { channels: 0, blockBytes: 4 }],
    ['0 Hz', { sampleRate: 0 }],
    ['769 kHz', { sampleRate: 769_000 }],
    ['frames of 0 bytes', { blockBytes: 0 }],
    ['samples of 0 bits', { bits: 0, blockBytes: 4 }],
    ['ADPCM blocks that are smaller than their header', { tag: 2, bits: 4, blockBytes: 13 }],
  ])('are unreadable: %s', async (_name, shape) => {
    expect(await faultOf(probe(wavFile(shape, DATA)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('are unreadable: no format, no data, or a format that is cut short', async () => {
    for (const chunks of [
      [chunk('data', DATA)],
      [fmtChunk()],
      [chunk('fmt ', new Uint8Array(8)), chunk('data', DATA)],
    ]) {
      expect(await faultOf(probe(riffWave(...chunks)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    }
  });

  it('are unreadable during decoding: an invalid ADPCM block', async () => {
    const ima = new Uint8Array(1024);
    ima[512 + 2] = 89;
    const microsoft = new Uint8Array(1024);
    microsoft[512] = 7;
    const damaged: [WavShape, Uint8Array][] = [
      [{ tag: 0x11, bits: 4, blockBytes: 512 }, ima],
      [{ tag: 2, bits: 4, blockBytes: 512 }, microsoft],
    ];
    for (const [shape, data] of damaged) {
      expect(await faultOf(decodeAll(wav, wavFile(shape, data)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    }
  });

  it('another signature is refused as another format', async () => {
    for (const bytes of [text('RIFF'), text('RIFF\0\0\0\0AVI LIST'), text('ID3\x04'), new Uint8Array(100)]) {
      expect(await faultOf(probe(bytes))).toMatchObject({ code: 'INVALID_FILE_FORMAT' });
    }
  });
});

describe('arbitrary bytes', () => {
  it('a million tiny chunks are refused after reading at most 256 KiB', async () => {
    const tiny = Array.from({ length: 1000 }, () => chunk('tiny', new Uint8Array(0)));
    const many = Array.from({ length: 1000 }, () => concat(...tiny));
    const { source, read } = watchedSource(riffWave(...many));
    expect(await faultOf(wav.probe(source))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    expect(read.bytes).toBeLessThanOrEqual(256 * 1024);
  });

  it('thousands of chunks that are far apart are refused after fewer than 300 reads', async () => {
    const sparse = Array.from({ length: 3000 }, () => chunk('far ', new Uint8Array(2000)));
    const { source, read } = watchedSource(riffWave(...sparse));
    expect(await faultOf(wav.probe(source))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    expect(read.times).toBeLessThan(300);
  });

  const shapes = fc.record(
    {
      tag: fc.constantFrom(1, 2, 3, 6, 7, 0x11, 0x31, 0xfffe),
      channels: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 0xffff })),
      sampleRate: fc.oneof(fc.constantFrom(8000, 44_100), fc.nat(0xffff_ffff)),
      bits: fc.constantFrom(0, 4, 8, 12, 16, 24, 32, 64, 255),
      blockBytes: fc.oneof(fc.integer({ min: 0, max: 64 }), fc.nat(0xffff)),
      extension: fc.oneof(fc.constantFrom(extensible(1, 16), extensible(3, 32)), fc.uint8Array({ maxLength: 80 })),
    },
    { requiredKeys: [] },
  );
  const sizes = fc.option(fc.oneof(fc.nat(2000), fc.constantFrom(0, 0xffff_ffff, 0x7fff_ffff)), { nil: undefined });
  const contents = fc.uint8Array({ maxLength: 1500 });
  const ids = fc.constantFrom('LIST', 'fact', 'ds64', 'JUNK', 'abcd', '\0\0\0\0');
  const chunks = fc.oneof(
    shapes.map((shape) => fmtChunk(shape)),
    fc
      .tuple(contents, sizes, fc.boolean())
      .map(([content, sizeBytes, padded]) => chunk('data', content, { sizeBytes, padded })),
    fc
      .tuple(ids, contents, sizes, fc.boolean())
      .map(([id, content, sizeBytes, padded]) => chunk(id, content, { sizeBytes, padded })),
    fc.uint8Array({ maxLength: 20 }),
  );
  const kinds = fc.constantFrom('RIFF', 'RIFX', 'RF64', 'BW64');

  it('keep the contract of a container: probing and decoding agree, or fail with a Fault', async () => {
    await fc.assert(
      fc.asyncProperty(
        kinds,
        fc.array(chunks, { maxLength: 6 }),
        fc.integer({ min: 1, max: 700 }),
        async (kind, all, piece) => {
          await expectContainerContract(wav, concat(text(kind), u32(0), text('WAVE'), ...all), piece);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('a damaged or cut-off file keeps the contract of a container', async () => {
    const file = riffWave(
      fmtChunk({ tag: 2, bits: 4, blockBytes: 70, extension: u16(32) }),
      chunk('fact', u32(500)),
      chunk('data', DATA),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), fc.nat(255), fc.nat(file.length), async (at, value, length) => {
        const changed = file.slice(0, length);
        if (at < length) changed[at] = value;
        await expectContainerContract(wav, changed);
      }),
      { numRuns: 400 },
    );
  });
});
