import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { chunk, concat, encodeSamples, type SampleKind, sampleValue, text, u32 } from '../test/bytes.ts';
import { decodeAll, expectContainerContract, faultOf, watchedSource } from '../test/containers.ts';
import { aiffFile, type AiffShape, commChunk, extendedFloat, iffForm, ssndChunk } from '../test/wav-aiff-au-files.ts';
import { aiff, readExtendedFloat } from './aiff.ts';

const probe = (bytes: Uint8Array): ReturnType<typeof aiff.probe> => aiff.probe(sourceOfBytes(bytes));
const ints = Array.from({ length: 200 }, (_, i) => Math.round(30_000 * Math.sin(i / 7)));
const DATA = encodeSamples('s16', ints, false);
const LEFT = ints.filter((_, i) => i % 2 === 0).map((value) => sampleValue('s16', value));
const RIGHT = ints.filter((_, i) => i % 2 === 1).map((value) => sampleValue('s16', value));

async function expectAllSamples(bytes: Uint8Array): Promise<void> {
  expect(await probe(bytes)).toMatchObject({ codec: 'pcm_s16be', channels: 2, sampleRate: 8000, frames: 100 });
  expect((await decodeAll(aiff, bytes)).channels).toEqual([LEFT, RIGHT]);
}

describe('samples', () => {
  const s8 = [-128, -1, 0, 1, 100, 127];
  const s16 = [-32_768, -1, 0, 1, 12_345, 32_767];
  const s24 = [-8_388_608, -1, 0, 1, 1_234_567, 8_388_607];
  const s32 = [-2_147_483_648, -1, 0, 1, 12_345_678, 2_147_483_647];
  const floats = [-1, -0.5, 0, 0.25, 0.75, 1];
  it.each<[string, AiffShape, SampleKind, boolean, number[]]>([
    ['pcm_s8', { bits: 8 }, 's8', false, s8],
    ['pcm_s16be', { bits: 16 }, 's16', false, s16],
    ['pcm_s16be', { bits: 12 }, 's16', false, s16],
    ['pcm_s24be', { bits: 24 }, 's24', false, s24],
    ['pcm_s24be', { bits: 20, compression: 'NONE' }, 's24', false, s24],
    ['pcm_s32be', { bits: 32, compression: 'NONE' }, 's32', false, s32],
    ['pcm_s16be', { bits: 16, compression: 'twos' }, 's16', false, s16],
    ['pcm_s16le', { bits: 16, compression: 'sowt' }, 's16', true, s16],
    ['pcm_s24le', { bits: 24, compression: 'sowt' }, 's24', true, s24],
    ['pcm_s24be', { bits: 16, compression: 'in24' }, 's24', false, s24],
    ['pcm_s32be', { bits: 16, compression: 'in32' }, 's32', false, s32],
    ['pcm_s24le', { bits: 24, compression: '42ni' }, 's24', true, s24],
    ['pcm_s32le', { bits: 32, compression: '23ni' }, 's32', true, s32],
    ['pcm_u8', { bits: 8, compression: 'raw ' }, 'u8', false, [0, 1, 127, 128, 200, 255]],
    ['pcm_f32be', { bits: 32, compression: 'fl32' }, 'f32', false, floats],
    ['pcm_f32be', { bits: 32, compression: 'FL32' }, 'f32', false, floats],
    ['pcm_f64be', { bits: 64, compression: 'fl64' }, 'f64', false, floats],
    ['pcm_f64be', { bits: 64, compression: 'FL64' }, 'f64', false, floats],
  ])('are decoded as %s from %j', async (codec, shape, kind, littleEndian, values) => {
    const bytes = aiffFile(shape, encodeSamples(kind, values, littleEndian));
    expect(await probe(bytes)).toMatchObject({ format: 'aiff', codec, frames: 3 });
    const expected = values.map((value) => sampleValue(kind, value));
    const { channels } = await decodeAll(aiff, bytes);
    expect(channels).toEqual([expected.filter((_, i) => i % 2 === 0), expected.filter((_, i) => i % 2 === 1)]);
  });

  it.each([
    ['alaw', 'pcm_alaw', 50],
    ['ALAW', 'pcm_alaw', 50],
    ['ulaw', 'pcm_mulaw', 50],
    ['ULAW', 'pcm_mulaw', 50],
    ['ima4', 'adpcm_ima_qt', 64],
  ])(
    'of compression type %s have the codec %s and the expected number of frames',
    async (compression, codec, frames) => {
      expect(await probe(aiffFile({ compression }, new Uint8Array(100)))).toMatchObject({ codec, frames });
    },
  );
});

describe('sample rates', () => {
  it('are read exactly from 80-bit floating-point numbers', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e9, noNaN: true }), (rate) => {
        expect(readExtendedFloat(new DataView(extendedFloat(rate).buffer), 0)).toBe(rate);
      }),
    );
  });

  it('with a fraction, as old machines had, are rounded to whole hertz', async () => {
    expect(await probe(aiffFile({ sampleRate: 22_254.545_454 }, DATA))).toMatchObject({ sampleRate: 22_255 });
  });

  it.each([0, 0.2, 1e6, 1e300])('of %d Hz are refused as unreadable', async (sampleRate) => {
    expect(await faultOf(probe(aiffFile({ sampleRate }, DATA)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('that are negative or not numbers are refused as unreadable', async () => {
    for (const first of ['7fff', 'ffff', 'c00b']) {
      const file = aiffFile({}, DATA);
      file.set(Buffer.from(first, 'hex'), 28);
      expect(await faultOf(probe(file))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    }
  });
});

describe('chunks', () => {
  const big = { littleEndian: false };
  it.each<[string, Uint8Array[]]>([
    ['other chunks before the format', [chunk('FVER', u32(0xa280_5140, false), big), commChunk({}), ssndChunk(DATA)]],
    ['the samples before the format', [ssndChunk(DATA), chunk('ANNO', text('odd'), big), commChunk({})]],
    [
      'a chunk without padding',
      [chunk('NAME', text('odd'), { ...big, padded: false }), commChunk({}), ssndChunk(DATA)],
    ],
    ['other chunks after the samples', [commChunk({}), ssndChunk(DATA), chunk('(c) ', text('us'), big)]],
    ['an offset before the samples', [commChunk({}), ssndChunk(DATA, { offset: 504 })]],
  ])('%s: all samples are found', async (_name, chunks) => {
    await expectAllSamples(iffForm('AIFF', ...chunks));
  });
});

describe('sizes', () => {
  it.each([0, 8, 0xffff_ffff, 0x7fff_ffff, DATA.length + 108])(
    'of %d for the samples mean up to the end of the file',
    async (sizeBytes) => {
      await expectAllSamples(iffForm('AIFF', commChunk({}), ssndChunk(DATA, { sizeBytes })));
    },
  );

  it.each([
    ['with the offset field', ssndChunk(new Uint8Array(0))],
    ['without the offset field', chunk('SSND', new Uint8Array(0))],
  ])('of 0 before another chunk mean an empty recording, %s', async (_name, empty) => {
    const file = iffForm('AIFF', commChunk({}), empty, chunk('ANNO', text('none'), { littleEndian: false }));
    expect(await faultOf(probe(file))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    expect(await faultOf(probe(iffForm('AIFF', commChunk({}), empty)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('that reach beyond a cut-off file leave the remaining samples', async () => {
    expect(await probe(aiffFile({}, DATA).subarray(0, -7))).toMatchObject({ frames: 98 });
  });

  it('do not depend on the number of frames in the format chunk', async () => {
    await expectAllSamples(aiffFile({ frames: 7 }, DATA));
    await expectAllSamples(aiffFile({ frames: 0xffff_ffff }, DATA));
  });
});

describe('a file that is not supported', () => {
  it.each([
    ['MAC3', 'MACE 3-to-1'],
    ['alac', 'Apple Lossless'],
    ['GSM ', 'GSM 6.10'],
    ['xyzw', 'the codec "xyzw"'],
    ['\0\0\0\x01', 'a codec without a name'],
  ])('is refused by the name of its codec: %j', async (compression, name) => {
    const { code, message } = await faultOf(probe(aiffFile({ compression }, DATA)));
    expect(code).toBe('INVALID_FILE_FORMAT');
    expect(message).toContain(name);
  });

  it('is refused by the width of its samples', async () => {
    expect((await faultOf(probe(aiffFile({ bits: 64 }, DATA)))).message).toContain('integers of 64 bits');
    const raw = aiffFile({ bits: 16, compression: 'raw ' }, DATA);
    expect((await faultOf(probe(raw))).message).toContain('unsigned integers of 16 bits');
  });

  it('is refused as another format', async () => {
    for (const bytes of [text('FORM'), text('FORM\0\0\0\x248SVXVHDR'), new Uint8Array(100)]) {
      expect(await faultOf(probe(bytes))).toMatchObject({ code: 'INVALID_FILE_FORMAT' });
    }
  });

  it('is unreadable with values that no recorder writes', async () => {
    const broken = [
      aiffFile({ channels: 0 }, DATA),
      aiffFile({ bits: 0 }, DATA),
      iffForm('AIFF', commChunk({})),
      iffForm('AIFF', ssndChunk(DATA)),
      iffForm('AIFC', commChunk({}), ssndChunk(DATA)),
    ];
    for (const bytes of broken) expect(await faultOf(probe(bytes))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });
});

describe('arbitrary bytes', () => {
  it('a million tiny chunks are refused after reading at most 256 KiB', async () => {
    const tiny = Array.from({ length: 1000 }, () => chunk('tiny', new Uint8Array(0)));
    const { source, read } = watchedSource(iffForm('AIFF', ...Array.from({ length: 1000 }, () => concat(...tiny))));
    expect(await faultOf(aiff.probe(source))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    expect(read.bytes).toBeLessThanOrEqual(256 * 1024);
  });

  const shapes = fc.record(
    {
      channels: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.nat(0xffff)),
      sampleRate: fc.oneof(fc.constantFrom(8000, 44_100), fc.double({ min: 0, max: 1e12, noNaN: true })),
      bits: fc.oneof(fc.constantFrom(8, 16, 24, 32), fc.nat(0xffff)),
      frames: fc.nat(0xffff_ffff),
      compression: fc.constantFrom('NONE', 'sowt', 'ima4', 'fl64', 'ALAW', 'in24', 'MAC6'),
    },
    { requiredKeys: [] },
  );
  const sizes = fc.oneof(fc.nat(2000), fc.constantFrom(0, 8, 0xffff_ffff));
  const options = fc.record({ offset: fc.nat(200), sizeBytes: sizes, padded: fc.boolean() }, { requiredKeys: [] });
  const contents = fc.uint8Array({ maxLength: 1500 });
  const chunks = fc.oneof(
    shapes.map((shape) => commChunk(shape)),
    fc.tuple(contents, options).map(([content, how]) => ssndChunk(content, how)),
    fc.tuple(contents, sizes).map(([content, sizeBytes]) => chunk('APPL', content, { littleEndian: false, sizeBytes })),
    fc.uint8Array({ maxLength: 30 }),
  );

  it('keep the contract of a container: probing and decoding agree, or fail with a Fault', async () => {
    const kinds = fc.constantFrom('AIFF' as const, 'AIFC' as const);
    await fc.assert(
      fc.asyncProperty(
        kinds,
        fc.array(chunks, { maxLength: 6 }),
        fc.integer({ min: 1, max: 700 }),
        async (kind, all, piece) => {
          await expectContainerContract(aiff, iffForm(kind, ...all), piece);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('a damaged or cut-off file keeps the contract of a container', async () => {
    const file = aiffFile({ compression: 'ima4' }, DATA);
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), fc.nat(255), fc.nat(file.length), async (at, value, length) => {
        const changed = file.slice(0, length);
        if (at < length) changed[at] = value;
        await expectContainerContract(aiff, changed);
      }),
      { numRuns: 400 },
    );
  });
});
