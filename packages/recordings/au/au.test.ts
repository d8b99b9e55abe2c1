import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { encodeSamples, type SampleKind, sampleValue, text } from '../test/bytes.ts';
import { decodeAll, expectContainerContract, faultOf } from '../test/containers.ts';
import { auFile } from '../test/wav-aiff-au-files.ts';
import { au } from './au.ts';

const probe = (bytes: Uint8Array): ReturnType<typeof au.probe> => au.probe(sourceOfBytes(bytes));
const DATA = encodeSamples('s16', [1, -1, 2, -2, 300, -300], false);

function patched(bytes: Uint8Array, at: number, value: number): Uint8Array {
  new DataView(bytes.buffer).setUint32(at, value);
  return bytes;
}

describe('samples', () => {
  const kinds: [number, string, SampleKind, number[]][] = [
    [2, 'pcm_s8', 's8', [-128, -1, 0, 1, 100, 127]],
    [3, 'pcm_s16', 's16', [-32_768, -1, 0, 1, 12_345, 32_767]],
    [4, 'pcm_s24', 's24', [-8_388_608, -1, 0, 1, 1_234_567, 8_388_607]],
    [5, 'pcm_s32', 's32', [-2_147_483_648, -1, 0, 1, 12_345_678, 2_147_483_647]],
    [6, 'pcm_f32', 'f32', [-1, -0.5, 0, 0.25, 0.75, 1]],
    [7, 'pcm_f64', 'f64', [-1, -0.5, 0, 0.25, 0.75, 1]],
  ];
  it.each(kinds)('of encoding %d are decoded as %s in either byte order', async (encoding, codec, kind, values) => {
    for (const littleEndian of [false, true]) {
      const bytes = auFile({ encoding, littleEndian }, encodeSamples(kind, values, littleEndian));
      const name = kind === 's8' ? codec : `${codec}${littleEndian ? 'le' : 'be'}`;
      expect(await probe(bytes)).toMatchObject({ format: 'au', codec: name, channels: 2, sampleRate: 8000, frames: 3 });
      const expected = values.map((value) => sampleValue(kind, value));
      const { channels } = await decodeAll(au, bytes);
      expect(channels).toEqual([expected.filter((_, i) => i % 2 === 0), expected.filter((_, i) => i % 2 === 1)]);
    }
  });

  it('of encodings 1 and 27 are decoded as mu-law and A-law', async () => {
    expect(await probe(auFile({ encoding: 1 }, DATA))).toMatchObject({ codec: 'pcm_mulaw', frames: 6 });
    expect(await probe(auFile({ encoding: 27 }, DATA))).toMatchObject({ codec: 'pcm_alaw', frames: 6 });
  });
});

describe('the header', () => {
  it.each([0, 0xffff_ffff, 1000])('with a size of %d means up to the end of the file', async (sizeBytes) => {
    expect(await probe(auFile({ sizeBytes }, DATA))).toMatchObject({ frames: 3 });
  });

  it('may be of any length', async () => {
    for (const headerBytes of [24, 25, 28, 5000]) {
      const bytes = auFile({ headerBytes }, DATA);
      expect(await probe(bytes)).toMatchObject({ frames: 3 });
      expect((await decodeAll(au, bytes)).channels[0]).toEqual([1, 2, 300].map((value) => sampleValue('s16', value)));
    }
  });

  it('bounds the samples by their size', async () => {
    expect(await probe(auFile({ sizeBytes: 8 }, DATA))).toMatchObject({ frames: 2 });
  });

  it.each([
    [23, 'G.721 ADPCM'],
    [24, 'G.722'],
    [25, 'G.723 ADPCM of 3 bits'],
    [99, 'the encoding 99'],
  ])('with encoding %d is refused by the name of the codec', async (encoding, name) => {
    const { code, message } = await faultOf(probe(auFile({ encoding }, DATA)));
    expect(code).toBe('INVALID_FILE_FORMAT');
    expect(message).toContain(name);
  });

  it('with values that no recorder writes is unreadable', async () => {
    const broken = [
      auFile({ channels: 0 }, DATA),
      auFile({ channels: 1000 }, DATA),
      auFile({ sampleRate: 0 }, DATA),
      auFile({ sampleRate: 800_000 }, DATA),
      auFile({ headerBytes: 8 }, DATA),
      auFile({}, new Uint8Array(0)),
      auFile({}, DATA).subarray(0, 20),
      patched(auFile({}, DATA), 4, 0xffff_ffff),
    ];
    for (const bytes of broken) expect(await faultOf(probe(bytes))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('may begin with the signatures of DEC', async () => {
    for (const [signature, littleEndian] of [
      ['.sd\0', false],
      ['\0ds.', true],
    ] as const) {
      const bytes = auFile({ littleEndian }, DATA);
      bytes.set(text(signature));
      expect(await probe(bytes)).toMatchObject({ codec: littleEndian ? 'pcm_s16le' : 'pcm_s16be', frames: 3 });
    }
  });

  it('with another signature is refused as another format', async () => {
    for (const bytes of [text('.sn'), text('.mid'), new Uint8Array(100)]) {
      expect(await faultOf(probe(bytes))).toMatchObject({ code: 'INVALID_FILE_FORMAT' });
    }
  });
});

it('arbitrary bytes keep the contract of a container: probing and decoding agree, or fail with a Fault', async () => {
  const any = fc.nat(0xffff_ffff);
  const shapes = fc.record(
    {
      encoding: fc.oneof(fc.integer({ min: 0, max: 28 }), any),
      channels: fc.oneof(fc.integer({ min: 0, max: 33 }), any),
      sampleRate: any,
      sizeBytes: fc.oneof(fc.nat(2000), any),
      littleEndian: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(shapes, fc.uint8Array({ maxLength: 2000 }), fc.nat(2024), async (shape, data, length) => {
      await expectContainerContract(au, auFile(shape, data).subarray(0, length), 1 + (length % 500));
    }),
    { numRuns: 400 },
  );
});
