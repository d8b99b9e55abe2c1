import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { chunk, joined, meaning, type SampleKind, samplesAs, text, u32 } from '../test/bytes.ts';
import { aiffFile, type AiffShape, commonChunk, extendedFloat, form, soundChunk } from '../test/files.ts';
import { faultOf, heardIn, keepsPromises, watched } from '../test/reading.ts';
import { readExtendedFloat } from './extended-float.ts';
import { aiff } from './index.ts';

const probe = (bytes: Uint8Array): ReturnType<typeof aiff.probe> => aiff.probe(sourceOfBytes(bytes));
const ints = Array.from({ length: 200 }, (_, i) => Math.round(30_000 * Math.sin(i / 7)));
const DATA = samplesAs('s16', ints, false);
const LEFT = ints.filter((_, i) => i % 2 === 0).map((value) => meaning('s16', value));
const RIGHT = ints.filter((_, i) => i % 2 === 1).map((value) => meaning('s16', value));

async function expectWhole(bytes: Uint8Array): Promise<void> {
  expect(await probe(bytes)).toMatchObject({ codec: 'pcm_s16be', channels: 2, sampleRate: 8000, frames: 100 });
  expect((await heardIn(aiff, bytes)).channels).toEqual([LEFT, RIGHT]);
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
  ])('are read as %s from %j', async (codec, shape, kind, littleEndian, values) => {
    const bytes = aiffFile(shape, samplesAs(kind, values, littleEndian));
    expect(await probe(bytes)).toMatchObject({ format: 'aiff', codec, frames: 3 });
    const expected = values.map((value) => meaning(kind, value));
    const { channels } = await heardIn(aiff, bytes);
    expect(channels).toEqual([expected.filter((_, i) => i % 2 === 0), expected.filter((_, i) => i % 2 === 1)]);
  });

  it.each([
    ['alaw', 'pcm_alaw', 50],
    ['ALAW', 'pcm_alaw', 50],
    ['ulaw', 'pcm_mulaw', 50],
    ['ULAW', 'pcm_mulaw', 50],
    ['ima4', 'adpcm_ima_qt', 64],
  ])('of %s are %s', async (compression, codec, frames) => {
    expect(await probe(aiffFile({ compression }, new Uint8Array(100)))).toMatchObject({ codec, frames });
  });
});

describe('rates', () => {
  it('are 80 bits long', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e9, noNaN: true }), (rate) => {
        expect(readExtendedFloat(new DataView(extendedFloat(rate).buffer), 0)).toBe(rate);
      }),
    );
  });

  it('are rounded to whole hertz, as old machines had odd ones', async () => {
    expect(await probe(aiffFile({ sampleRate: 22_254.545_454 }, DATA))).toMatchObject({ sampleRate: 22_255 });
  });

  it.each([0, 0.2, 1e6, 1e300])('of %d Hz are unreadable', async (sampleRate) => {
    expect(await faultOf(probe(aiffFile({ sampleRate }, DATA)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('that are no numbers or negative are unreadable', async () => {
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
    ['before the format', [chunk('FVER', u32(0xa280_5140, false), big), commonChunk({}), soundChunk(DATA)]],
    ['in the wrong order', [soundChunk(DATA), chunk('ANNO', text('odd'), big), commonChunk({})]],
    ['without padding', [chunk('NAME', text('odd'), { ...big, padded: false }), commonChunk({}), soundChunk(DATA)]],
    ['behind the samples', [commonChunk({}), soundChunk(DATA), chunk('(c) ', text('us'), big)]],
    ['with an offset before the samples', [commonChunk({}), soundChunk(DATA, { offset: 504 })]],
  ])('%s do no harm', async (_name, chunks) => {
    await expectWhole(form('AIFF', ...chunks));
  });
});

describe('sizes', () => {
  it.each([0, 8, 0xffff_ffff, 0x7fff_ffff, DATA.length + 108])(
    'of %d for the samples mean up to the end',
    async (sizeBytes) => {
      await expectWhole(form('AIFF', commonChunk({}), soundChunk(DATA, { sizeBytes })));
    },
  );

  it.each([
    ['with their offset', soundChunk(new Uint8Array(0))],
    ['with nothing at all', chunk('SSND', new Uint8Array(0))],
  ])('of 0 before another chunk are an empty recording, %s', async (_name, empty) => {
    const file = form('AIFF', commonChunk({}), empty, chunk('ANNO', text('none'), { littleEndian: false }));
    expect(await faultOf(probe(file))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
    expect(await faultOf(probe(form('AIFF', commonChunk({}), empty)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('that reach beyond a cut file leave what is there', async () => {
    expect(await probe(aiffFile({}, DATA).subarray(0, -7))).toMatchObject({ frames: 98 });
  });

  it('of frames are not asked of the format', async () => {
    await expectWhole(aiffFile({ frames: 7 }, DATA));
    await expectWhole(aiffFile({ frames: 0xffff_ffff }, DATA));
  });
});

describe('what is not supported', () => {
  it.each([
    ['MAC3', 'MACE 3-to-1'],
    ['alac', 'Apple Lossless'],
    ['GSM ', 'GSM 6.10'],
    ['xyzw', 'the codec "xyzw"'],
    ['\0\0\0\x01', 'a codec without a name'],
  ])('is refused by name: %j', async (compression, name) => {
    const { code, message } = await faultOf(probe(aiffFile({ compression }, DATA)));
    expect(code).toBe('INVALID_FILE_FORMAT');
    expect(message).toContain(name);
  });

  it('is refused by name: samples that are too wide', async () => {
    expect((await faultOf(probe(aiffFile({ bits: 64 }, DATA)))).message).toContain('integers of 64 bits');
    const raw = aiffFile({ bits: 16, compression: 'raw ' }, DATA);
    expect((await faultOf(probe(raw))).message).toContain('unsigned integers of 16 bits');
  });

  it('is other content', async () => {
    for (const bytes of [text('FORM'), text('FORM\0\0\0\x248SVXVHDR'), new Uint8Array(100)]) {
      expect(await faultOf(probe(bytes))).toMatchObject({ code: 'INVALID_FILE_FORMAT' });
    }
  });

  it('is what no recorder writes', async () => {
    const broken = [
      aiffFile({ channels: 0 }, DATA),
      aiffFile({ channels: 33 }, DATA),
      aiffFile({ bits: 0 }, DATA),
      form('AIFF', commonChunk({})),
      form('AIFF', soundChunk(DATA)),
      form('AIFC', commonChunk({}), soundChunk(DATA)),
    ];
    for (const bytes of broken) expect(await faultOf(probe(bytes))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });
});

describe('whatever the bytes say', () => {
  it('a million tiny chunks end soon', async () => {
    const tiny = Array.from({ length: 1000 }, () => chunk('tiny', new Uint8Array(0)));
    const { source, read } = watched(form('AIFF', ...Array.from({ length: 1000 }, () => joined(...tiny))));
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
    shapes.map((shape) => commonChunk(shape)),
    fc.tuple(contents, options).map(([content, how]) => soundChunk(content, how)),
    fc.tuple(contents, sizes).map(([content, sizeBytes]) => chunk('APPL', content, { littleEndian: false, sizeBytes })),
    fc.uint8Array({ maxLength: 30 }),
  );

  it('probing and decoding agree, and fail with a fault alone', async () => {
    const kinds = fc.constantFrom('AIFF' as const, 'AIFC' as const);
    await fc.assert(
      fc.asyncProperty(
        kinds,
        fc.array(chunks, { maxLength: 6 }),
        fc.integer({ min: 1, max: 700 }),
        async (kind, all, piece) => {
          await keepsPromises(aiff, form(kind, ...all), piece);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('a changed or cut file is answered sanely', async () => {
    const file = aiffFile({ compression: 'ima4' }, DATA);
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), fc.nat(255), fc.nat(file.length), async (at, value, length) => {
        const changed = file.slice(0, length);
        if (at < length) changed[at] = value;
        await keepsPromises(aiff, changed);
      }),
      { numRuns: 400 },
    );
  });
});
