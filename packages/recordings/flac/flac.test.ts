import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { joined, text } from '../test/bytes.ts';
import { counted, digestOf, fixture, flipped, outcomeOf, sparse } from '../test/fixtures.ts';
import { heardIn } from '../test/reading.ts';
import { readFrame } from './frame.ts';
import { flac } from './index.ts';
import { streamInfo } from './stream-info.ts';

const STEREO = fixture('flac/stereo-16bit.flac');
const MONO = fixture('flac/mono-8bit.flac');
const UNKNOWN = fixture('flac/unknown-length.flac');
const HEADER_BYTES = 4 + 4 + 34;

const probe = (bytes: Uint8Array) => flac.probe(sourceOfBytes(bytes));

/** As the encoder took it: little-endian samples of whole bytes, frame by frame. */
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

/** The file with another block behind STREAMINFO. */
function withBlock(bytes: Uint8Array, type: number, content: Uint8Array): Uint8Array {
  const size = [16, 8, 0].map((shift) => (content.length >> shift) & 0xff);
  const block = joined(Uint8Array.of(type, ...size), content);
  return joined(bytes.subarray(0, HEADER_BYTES), block, bytes.subarray(HEADER_BYTES));
}

const FIRST_FRAME = Buffer.from(STEREO).indexOf(Buffer.of(0xff, 0xf8));
/** Where each frame begins, and the last ends. */
const FRAMES = [FIRST_FRAME];
for (const info = streamInfo(STEREO.subarray(8)); ;) {
  const at = FRAMES.at(-1) ?? 0;
  const frame = readFrame(STEREO, at, info);
  if (typeof frame === 'string') break;
  FRAMES.push(at + frame.sizeBytes);
}

describe('a FLAC', () => {
  it.each([
    ['mono-8bit', 8, 1, 4_000],
    ['stereo-12bit', 12, 2, 2_000],
    ['stereo-16bit', 16, 2, 8_000],
    ['stereo-20bit', 20, 2, 2_000],
    ['stereo-24bit', 24, 2, 4_000],
  ])('decodes to the bit: %s', async (name, bits, channels, frames) => {
    const bytes = fixture(`flac/${name}.flac`);
    const expected = { format: 'flac', codec: 'flac', channels, sampleRate: 8_000, frames, duration: frames / 8_000 };
    expect(await probe(bytes)).toEqual(expected);
    const heard = await heardIn(flac, bytes);
    expect(md5Of(heard.channels, bits)).toBe(
      Buffer.from(bytes.subarray(HEADER_BYTES - 16, HEADER_BYTES)).toString('hex'),
    );
  });

  it('of 32 bits decodes as near as floats allow', async () => {
    const heard = await heardIn(flac, fixture('flac/stereo-32bit.flac'));
    const furthest = heard.channels.flatMap((samples, channel) =>
      samples.map((sample, index) => Math.abs(sample - Math.sin((index * (channel + 1)) / 9) * 0.5)),
    );
    expect(furthest).toHaveLength(4_000);
    expect(Math.max(...furthest)).toBeLessThan(1e-7);
  });

  it('that does not say its length is as long as its frames', async () => {
    expect((await probe(UNKNOWN)).frames).toBe(8_000);
    expect(digestOf((await heardIn(flac, UNKNOWN)).channels)).toBe(digestOf((await heardIn(flac, STEREO)).channels));
  });

  it('is probed past pictures of many megabytes without reading them', async () => {
    const size = 16_000_000;
    const block = Uint8Array.of(6, (size >> 16) & 255, (size >> 8) & 255, size & 255);
    const source = counted(
      sparse(STEREO.length + 4 + size, [
        { at: 0, bytes: joined(STEREO.subarray(0, HEADER_BYTES), block) },
        { at: HEADER_BYTES + 4 + size, bytes: STEREO.subarray(HEADER_BYTES) },
      ]),
    );
    expect((await flac.probe(source)).frames).toBe(8_000);
    expect(source.readBytes).toBeLessThan(262_144);
  });

  it.each([
    ['an ID3v2 tag before it', joined(text('ID3'), Uint8Array.of(4, 0, 0, 0, 0, 1, 0), new Uint8Array(128), STEREO)],
    ['an ID3v1 tag behind it', joined(STEREO, text('TAG'), new Uint8Array(125).fill(32))],
    ['other blocks in its header', withBlock(withBlock(STEREO, 4, text('comments')), 1, new Uint8Array(5_000))],
    ['much behind it', joined(STEREO, new Uint8Array(300_000).fill(7))],
  ])('is heard whole with %s', async (_, bytes) => {
    expect((await probe(bytes)).frames).toBe(8_000);
    expect((await heardIn(flac, bytes)).channels[1]).toHaveLength(8_000);
  });

  it.each([
    ['a bit flipped', flipped(STEREO, [8 * ((FRAMES[2] ?? 0) + 300)])],
    ['a frame missing', joined(STEREO.subarray(0, FRAMES[2]), STEREO.subarray(FRAMES[3]))],
    ['a frame twice', joined(STEREO.subarray(0, FRAMES[3]), STEREO.subarray(FRAMES[2]))],
    ['some bytes too many', joined(STEREO.subarray(0, FRAMES[2]), text('oops'), STEREO.subarray(FRAMES[2]))],
  ])('is unreadable with damage in the middle: %s', async (_, bytes) => {
    const refusal = { code: 'AUDIO_UNREADABLE', message: expect.stringMatching(/middle/) };
    await expect(heardIn(flac, bytes)).rejects.toMatchObject(refusal);
  });

  it('that was cut is heard up to its last whole frame', async () => {
    expect(FRAMES).toHaveLength(9);
    expect(await outcomeOf(flac, STEREO.subarray(0, (FRAMES[5] ?? 0) - 1))).toMatchObject({
      info: { frames: 4_096 },
      frames: 4_096,
    });
    const began = joined(STEREO.subarray(0, FIRST_FRAME), STEREO.subarray(FRAMES[3]));
    expect(await outcomeOf(flac, began)).toMatchObject({ info: { frames: 4_928 }, frames: 4_928 });
  });

  it.each([
    ['nothing but the word', text('fLaC')],
    ['a header that is cut off', STEREO.subarray(0, 30)],
    ['no frame', STEREO.subarray(0, FIRST_FRAME)],
    ['half a frame', STEREO.subarray(0, FIRST_FRAME + 200)],
    ['blocks without end', joined(STEREO.subarray(0, HEADER_BYTES), new Uint8Array(100_000))],
  ])('is unreadable with %s', async (_, bytes) => {
    await expect(probe(bytes)).rejects.toMatchObject({ code: 'AUDIO_UNREADABLE' });
    await expect(heardIn(flac, bytes)).rejects.toMatchObject({ code: 'AUDIO_UNREADABLE' });
  });

  it('is refused when it is none', async () => {
    await expect(probe(fixture('ogg/flac-stereo.ogg'))).rejects.toMatchObject({ code: 'INVALID_FILE_FORMAT' });
  });

  it('cut anywhere gives whole frames or a Fault, and probing agrees with decoding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(STEREO, MONO, UNKNOWN), fc.nat(18_000), async (bytes, at) => {
        const { info, frames } = await outcomeOf(flac, bytes.subarray(0, at));
        expect(info?.frames ?? null).toBe(frames);
      }),
      { numRuns: 60 },
    );
  });

  it('with bits flipped anywhere is right or refused, never another sound', async () => {
    const bits = fc.array(fc.nat(8 * 18_000), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(STEREO, MONO, UNKNOWN), bits, async (bytes, flips) => {
        const { info, frames } = await outcomeOf(flac, flipped(bytes, flips));
        if (info !== null && frames !== null) expect(frames).toBe(info.frames);
      }),
      { numRuns: 80 },
    );
  });

  it('of random bytes behind its word is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        expect(await outcomeOf(flac, joined(text('fLaC'), bytes))).toEqual({ info: null, frames: null });
        expect(await outcomeOf(flac, joined(STEREO.subarray(0, HEADER_BYTES), bytes))).toEqual({
          info: null,
          frames: null,
        });
      }),
    );
  });
});
