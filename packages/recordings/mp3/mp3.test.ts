import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { joined, text, u32 } from '../test/bytes.ts';
import { amplitudeOf, counted, digestOf, fixture, flipped, outcomeOf, sparse } from '../test/fixtures.ts';
import { heardIn, processorMs } from '../test/reading.ts';
import { frameHeader } from './header.ts';
import { mp3 } from './index.ts';

const TAGGED = fixture('mp3/joint-vbr-tags.mp3');
const UNTAGGED = fixture('mp3/mono-22k-untagged.mp3');
const LOW = fixture('mp3/stereo-8k.mp3');
const DUAL = fixture('mp3/dual-checksums.mp3');

const probe = (bytes: Uint8Array) => mp3.probe(sourceOfBytes(bytes));

/** An ID3v2 tag around so many zeros. */
function id3v2(bytes: number, { footer = false, unsynchronised = false } = {}): Uint8Array {
  const size = [21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f);
  const flags = (footer ? 0x10 : 0) | (unsynchronised ? 0x80 : 0);
  const head = (id: string) => joined(text(id), Uint8Array.of(4, 0, flags, ...size));
  // What looks like a frame in a tag is none.
  const body = new Uint8Array(bytes);
  body.set(UNTAGGED.subarray(0, Math.min(bytes, 2_000)));
  return joined(head('ID3'), body, footer ? head('3DI') : new Uint8Array(0));
}

function ape(bytes: number): Uint8Array {
  const mark = (isHeader: boolean) =>
    joined(
      text('APETAGEX'),
      u32(2000),
      u32(bytes + 32),
      u32(0),
      u32((0x8000_0000 | (isHeader ? 0x2000_0000 : 0)) >>> 0),
      new Uint8Array(8),
    );
  return joined(mark(true), new Uint8Array(bytes).fill(65), mark(false));
}

const id3v1 = joined(text('TAG'), new Uint8Array(125).fill(32));
const lyrics = joined(text('LYRICSBEGIN'), text('IND0000200'), text('000021'), text('LYRICS200'));

describe('an MP3', () => {
  it.each([
    ['joint stereo of varying bit rate', TAGGED, { channels: 2, sampleRate: 32_000, frames: 32_000 }],
    ['mono without the encoder’s tag', UNTAGGED, { channels: 1, sampleRate: 22_050, frames: 23_616 }],
    ['MPEG-2.5', LOW, { channels: 2, sampleRate: 8_000, frames: 9_216 }],
    ['dual channel with checksums', DUAL, { channels: 2, sampleRate: 24_000, frames: 24_000 }],
  ])('is probed as it decodes: %s', async (_, bytes, expected) => {
    const info = await probe(bytes);
    expect(info).toEqual({ format: 'mp3', codec: 'mp3', ...expected, duration: expected.frames / expected.sampleRate });
    const { channels, sampleRate } = await heardIn(mp3, bytes);
    expect(sampleRate).toBe(expected.sampleRate);
    expect(channels.map(({ length }) => length)).toEqual(Array<number>(expected.channels).fill(expected.frames));
    for (const [index, samples] of channels.entries()) {
      expect(amplitudeOf([440, 1000][index] ?? 0, samples, sampleRate)).toBeGreaterThan(0.4);
      expect(amplitudeOf([1000, 440][index] ?? 0, samples, sampleRate)).toBeLessThan(0.02);
    }
  });

  it.each([
    ['a large ID3v2 tag', joined(id3v2(3_000_000), UNTAGGED)],
    [
      'several, one with a footer',
      joined(id3v2(5), id3v2(300, { footer: true }), id3v2(40, { unsynchronised: true }), UNTAGGED),
    ],
    ['ID3v1', joined(UNTAGGED, id3v1)],
    ['APE and ID3v1', joined(UNTAGGED, ape(700), id3v1)],
    ['APE in front', joined(ape(90), UNTAGGED)],
    ['lyrics and ID3v1', joined(UNTAGGED, lyrics, id3v1)],
    ['lyrics of the first kind', joined(UNTAGGED, text('LYRICSBEGIN la la LYRICSEND'), id3v1)],
    ['ID3v2 at the end', joined(UNTAGGED, id3v2(300, { footer: true }))],
    ['padding before and after', joined(new Uint8Array(9_000), UNTAGGED, new Uint8Array(70_000))],
    [
      'a tag between frames',
      joined(UNTAGGED.subarray(0, firstFrames(20)), id3v2(100_000), UNTAGGED.subarray(firstFrames(20))),
    ],
    [
      'a little that is no frame between frames',
      joined(UNTAGGED.subarray(0, firstFrames(20)), new Uint8Array(999).fill(0xff), UNTAGGED.subarray(firstFrames(20))),
    ],
  ])('is heard whole whatever is put around it: %s', async (_, bytes) => {
    const info = await probe(bytes);
    expect(info.frames).toBe(23_616);
    expect(digestOf((await heardIn(mp3, bytes)).channels)).toBe(digestOf((await heardIn(mp3, UNTAGGED)).channels));
  });

  it('that a recorder put into RIFF is heard', async () => {
    const wave = joined(
      text('RIFF'),
      u32(9),
      text('WAVEfmt '),
      u32(30),
      Uint8Array.of(0x55, 0, 1, 0),
      new Uint8Array(26),
      text('data'),
      u32(9),
    );
    expect((await probe(joined(wave, UNTAGGED))).frames).toBe(23_616);
  });

  it('that was cut is heard as far as it goes, without the padding that its tag promised', async () => {
    const cut = TAGGED.subarray(0, TAGGED.length - 1_500);
    const { info, frames } = await outcomeOf(mp3, cut);
    expect(info?.frames).toBe(frames);
    expect(frames).toBeLessThan(32_000);
    expect(((frames ?? 0) + 576 + 529) % 1152).toBe(0);
  });

  it('of two files in one is heard to the end', async () => {
    const { info, frames } = await outcomeOf(mp3, joined(TAGGED, TAGGED));
    expect(info?.frames).toBe(frames);
    expect(frames).toBeGreaterThan(64_000);
  });

  it('is probed from 256 KiB where its encoder left a tag', async () => {
    const source = counted(sparse(TAGGED.length + 3_000_010, [{ at: 0, bytes: joined(id3v2(3_000_000), TAGGED) }]));
    expect((await mp3.probe(source)).frames).toBe(32_000);
    expect(source.readBytes).toBeLessThan(262_144);
  });

  it.each([
    [
      'another number of channels',
      joined(DUAL, fixture('mp3/mono-22k-untagged.mp3')),
      /changes from 2 channel\(s\) at 24000 Hz to 1 channel\(s\) at 22050 Hz/,
    ],
    [
      'much that is no frame in the middle',
      joined(UNTAGGED.subarray(0, 2_000), new Uint8Array(20_000).fill(0x55), UNTAGGED.subarray(2_000)),
      /broken in the middle/,
    ],
    ['half a frame and no more', UNTAGGED.subarray(0, 60), /not one whole frame/],
    ['a tag and no frame', id3v2(500), /not one whole frame/],
  ])('is unreadable with %s', async (_, bytes, message) => {
    const refusal = { code: 'AUDIO_UNREADABLE', message: expect.stringMatching(message) };
    await expect(probe(bytes)).rejects.toMatchObject(refusal);
    await expect(heardIn(mp3, bytes)).rejects.toMatchObject(refusal);
  });

  it.each([
    ['mp3/layer2.mp3', /layer II \(MP2\)/],
    ['mp3/free-format.mp3', /free format/],
    ['mp3/aac.mp3', /AAC/],
    ['flac/mono-8bit.flac', /not MP3/],
    ['ogg/opus-stereo.ogg', /not MP3/],
  ])('is refused by name when it is none: %s', async (path, message) => {
    await expect(probe(fixture(path))).rejects.toMatchObject({
      code: 'INVALID_FILE_FORMAT',
      message: expect.stringMatching(message),
    });
  });

  it('cut anywhere gives what was left or a Fault, and probing agrees with decoding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(TAGGED, UNTAGGED, LOW, DUAL), fc.nat(10_000), async (bytes, at) => {
        const { info, frames } = await outcomeOf(mp3, bytes.subarray(0, at));
        expect(info?.frames ?? null).toBe(frames);
      }),
      { numRuns: 40 },
    );
  });

  it('with bits flipped anywhere gives an answer or a Fault', async () => {
    const bits = fc.array(fc.nat(8 * 9_000), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(TAGGED, UNTAGGED, LOW, DUAL), bits, async (bytes, flips) => {
        await outcomeOf(mp3, flipped(bytes, flips));
      }),
      { numRuns: 40 },
    );
  });

  it('of random bytes is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        expect(await outcomeOf(mp3, bytes)).toEqual({ info: null, frames: null });
      }),
    );
  });

  it.each([
    ['of free format', [0xff, 0xfb, 0x00, 0x00]],
    ['of free format, every other of another stream', [0xff, 0xfb, 0x00, 0x00, 0xff, 0xf3, 0x00, 0x00]],
    ['of the largest frames', [0xff, 0xfb, 0xea, 0x00]],
    ['of AAC', [0xff, 0xf1, 0x00, 0x00, 0x01, 0x00]],
  ])('that is nothing but beginnings of frames ends in bounded time: %s', async (_, beginning) => {
    const bytes = Uint8Array.from({ length: 2_000_000 }, (_unused, at) => beginning[at % beginning.length] ?? 0);
    expect(await processorMs(() => outcomeOf(mp3, bytes))).toBeLessThan(5_000);
  });
});

/** Where the 20th frame and so on of the untagged recording ends. */
function firstFrames(count: number): number {
  let at = 0;
  for (let index = 0; index < count; index++) at += frameHeader(UNTAGGED, at)?.sizeBytes ?? 0;
  return at;
}
