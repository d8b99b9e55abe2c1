import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { concat, text } from '../test/bytes.ts';
import { decodeAll } from '../test/containers.ts';
import { countingSource, digestOf, fixture, outcomeOf, sparseSource, withFlippedBits } from '../test/fixture-files.ts';
import { flac } from './flac.ts';
import { streamInfo } from './frame-header.ts';
import { readFrame } from './frame.ts';

const STEREO = fixture('flac/stereo-16bit.flac');
const MONO = fixture('flac/mono-8bit.flac');
const UNKNOWN = fixture('flac/unknown-length.flac');
const HEADER_BYTES = 4 + 4 + 34;

const probe = (bytes: Uint8Array) => flac.probe(sourceOfBytes(bytes));

/** The checksum that the encoder stores: of little-endian, byte-aligned, interleaved samples. */
function md5Of(channels: readonly number[][], bits: number): string {
  const width = Math.ceil(bits / 8);
  const bytes = Buffer.alloc((channels[0]?.length ?? 0) * channels.length * width);
  let at = 0;
  for (let frame = 0; frame < (channels[0]?.length ?? 0); frame++) {
    for (const channel of channels) {
      bytes.writeIntLE(Math.round((channel[frame] ?? 0) * 2 ** (bits - 1)), at, width);
      at += width;
    }
  }
  return createHash('md5').update(bytes).digest('hex');
}

/** The file with another block after STREAMINFO. */
function withBlock(bytes: Uint8Array, type: number, content: Uint8Array): Uint8Array {
  const size = [16, 8, 0].map((shift) => (content.length >> shift) & 0xff);
  const block = concat(Uint8Array.of(type, ...size), content);
  return concat(bytes.subarray(0, HEADER_BYTES), block, bytes.subarray(HEADER_BYTES));
}

const FIRST_FRAME = Buffer.from(STEREO).indexOf(Buffer.of(0xff, 0xf8));
/** Offsets of all frames, and of the end of the last one. */
const FRAMES = [FIRST_FRAME];
for (const info = streamInfo(STEREO.subarray(8)); ;) {
  const at = FRAMES.at(-1) ?? 0;
  const frame = readFrame(STEREO, at, info);
  if (typeof frame === 'string') break;
  FRAMES.push(at + frame.sizeBytes);
}

describe('a FLAC file', () => {
  it.each([
    ['mono-8bit', 8, 1, 4_000],
    ['stereo-12bit', 12, 2, 2_000],
    ['stereo-16bit', 16, 2, 8_000],
    ['stereo-20bit', 20, 2, 2_000],
    ['stereo-24bit', 24, 2, 4_000],
  ])('decodes bit for bit: %s', async (name, bits, channels, frames) => {
    const bytes = fixture(`flac/${name}.flac`);
    const expected = { format: 'flac', codec: 'flac', channels, sampleRate: 8_000, frames, duration: frames / 8_000 };
    expect(await probe(bytes)).toEqual(expected);
    const decoded = await decodeAll(flac, bytes);
    expect(md5Of(decoded.channels, bits)).toBe(
      Buffer.from(bytes.subarray(HEADER_BYTES - 16, HEADER_BYTES)).toString('hex'),
    );
  });

  it('of 32 bits decodes as exactly as floats allow', async () => {
    const decoded = await decodeAll(flac, fixture('flac/stereo-32bit.flac'));
    const furthest = decoded.channels.flatMap((samples, channel) =>
      samples.map((sample, index) => Math.abs(sample - Math.sin((index * (channel + 1)) / 9) * 0.5)),
    );
    expect(furthest).toHaveLength(4_000);
    expect(Math.max(...furthest)).toBeLessThan(1e-7);
  });

  it('without a length in its header is as long as its frames', async () => {
    expect((await probe(UNKNOWN)).frames).toBe(8_000);
    expect(digestOf((await decodeAll(flac, UNKNOWN)).channels)).toBe(
      digestOf((await decodeAll(flac, STEREO)).channels),
    );
  });

  it('with pictures of many megabytes is probed without reading them', async () => {
    const size = 16_000_000;
    const block = Uint8Array.of(6, (size >> 16) & 255, (size >> 8) & 255, size & 255);
    const source = countingSource(
      sparseSource(STEREO.length + 4 + size, [
        { at: 0, bytes: concat(STEREO.subarray(0, HEADER_BYTES), block) },
        { at: HEADER_BYTES + 4 + size, bytes: STEREO.subarray(HEADER_BYTES) },
      ]),
    );
    expect((await flac.probe(source)).frames).toBe(8_000);
    expect(source.readBytes).toBeLessThan(262_144);
  });

  it.each([
    ['an ID3v2 tag before it', concat(text('ID3'), Uint8Array.of(4, 0, 0, 0, 0, 1, 0), new Uint8Array(128), STEREO)],
    ['an ID3v1 tag after it', concat(STEREO, text('TAG'), new Uint8Array(125).fill(32))],
    ['other blocks in its header', withBlock(withBlock(STEREO, 4, text('comments')), 1, new Uint8Array(5_000))],
    ['other bytes after it', concat(STEREO, new Uint8Array(300_000).fill(7))],
  ])('is decoded completely with %s', async (_, bytes) => {
    expect((await probe(bytes)).frames).toBe(8_000);
    expect((await decodeAll(flac, bytes)).channels[1]).toHaveLength(8_000);
  });

  it.each([
    ['a flipped bit', withFlippedBits(STEREO, [8 * ((FRAMES[2] ?? 0) + 300)])],
    ['a missing frame', concat(STEREO.subarray(0, FRAMES[2]), STEREO.subarray(FRAMES[3]))],
    ['a repeated frame', concat(STEREO.subarray(0, FRAMES[3]), STEREO.subarray(FRAMES[2]))],
    ['extra bytes', concat(STEREO.subarray(0, FRAMES[2]), text('oops'), STEREO.subarray(FRAMES[2]))],
  ])('is unreadable with damage in the middle: %s', async (_, bytes) => {
    const refusal = { code: 'AUDIO_UNREADABLE', message: expect.stringMatching(/middle/) };
    await expect(decodeAll(flac, bytes)).rejects.toMatchObject(refusal);
  });

  it('that was cut off is decoded up to its last complete frame', async () => {
    expect(FRAMES).toHaveLength(9);
    expect(await outcomeOf(flac, STEREO.subarray(0, (FRAMES[5] ?? 0) - 1))).toMatchObject({
      info: { frames: 4_096 },
      frames: 4_096,
    });
    const began = concat(STEREO.subarray(0, FIRST_FRAME), STEREO.subarray(FRAMES[3]));
    expect(await outcomeOf(flac, began)).toMatchObject({ info: { frames: 4_928 }, frames: 4_928 });
  });

  it.each([
    ['nothing but its signature', text('fLaC')],
    ['a header that is cut off', STEREO.subarray(0, 30)],
    ['no frame', STEREO.subarray(0, FIRST_FRAME)],
    ['half a frame', STEREO.subarray(0, FIRST_FRAME + 200)],
    ['blocks without end', concat(STEREO.subarray(0, HEADER_BYTES), new Uint8Array(100_000))],
  ])('is unreadable with %s', async (_, bytes) => {
    await expect(probe(bytes)).rejects.toMatchObject({ code: 'AUDIO_UNREADABLE' });
    await expect(decodeAll(flac, bytes)).rejects.toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('is refused when the content is another format', async () => {
    await expect(probe(fixture('ogg/flac-stereo.ogg'))).rejects.toMatchObject({ code: 'INVALID_FILE_FORMAT' });
  });

  it('cut anywhere gives complete frames or a Fault, and probing agrees with decoding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(STEREO, MONO, UNKNOWN), fc.nat(18_000), async (bytes, at) => {
        const { info, frames } = await outcomeOf(flac, bytes.subarray(0, at));
        expect(info?.frames ?? null).toBe(frames);
      }),
      { numRuns: 60 },
    );
  });

  it('with bits flipped anywhere decodes to the probed length or is refused', async () => {
    const bits = fc.array(fc.nat(8 * 18_000), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(STEREO, MONO, UNKNOWN), bits, async (bytes, flips) => {
        const { info, frames } = await outcomeOf(flac, withFlippedBits(bytes, flips));
        if (info !== null && frames !== null) expect(frames).toBe(info.frames);
      }),
      { numRuns: 80 },
    );
  });

  it('of random bytes after its signature is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        expect(await outcomeOf(flac, concat(text('fLaC'), bytes))).toEqual({ info: null, frames: null });
        expect(await outcomeOf(flac, concat(STEREO.subarray(0, HEADER_BYTES), bytes))).toEqual({
          info: null,
          frames: null,
        });
      }),
    );
  });
});
