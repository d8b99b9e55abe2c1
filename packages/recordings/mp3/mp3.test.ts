import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { concat, text, u32 } from '../test/bytes.ts';
import { decodeAll } from '../test/containers.ts';
import {
  amplitudeOf,
  countingSource,
  digestOf,
  fixture,
  outcomeOf,
  sparseSource,
  withFlippedBits,
} from '../test/fixture-files.ts';
import { frameHeader } from './frame-header.ts';
import { mp3 } from './mp3.ts';

const TAGGED = fixture('mp3/joint-vbr-tags.mp3');
const UNTAGGED = fixture('mp3/mono-22k-untagged.mp3');
const LOW = fixture('mp3/stereo-8k.mp3');
const DUAL = fixture('mp3/dual-checksums.mp3');

const probe = (bytes: Uint8Array) => mp3.probe(sourceOfBytes(bytes));

/** An ID3v2 tag with a body of this size. */
function id3v2(bytes: number, { footer = false, unsynchronised = false } = {}): Uint8Array {
  const size = [21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f);
  const flags = (footer ? 0x10 : 0) | (unsynchronised ? 0x80 : 0);
  const head = (id: string) => concat(text(id), Uint8Array.of(4, 0, flags, ...size));
  // Frames inside a tag must not be taken for audio.
  const body = new Uint8Array(bytes);
  body.set(UNTAGGED.subarray(0, Math.min(bytes, 2_000)));
  return concat(head('ID3'), body, footer ? head('3DI') : new Uint8Array(0));
}

function ape(bytes: number): Uint8Array {
  const mark = (isHeader: boolean) =>
    concat(
      text('APETAGEX'),
      u32(2000),
      u32(bytes + 32),
      u32(0),
      u32((0x8000_0000 | (isHeader ? 0x2000_0000 : 0)) >>> 0),
      new Uint8Array(8),
    );
  return concat(mark(true), new Uint8Array(bytes).fill(65), mark(false));
}

const id3v1 = concat(text('TAG'), new Uint8Array(125).fill(32));
const lyrics = concat(text('LYRICSBEGIN'), text('IND0000200'), text('000021'), text('LYRICS200'));

describe('an MP3 file', () => {
  it.each([
    ['joint stereo with a variable bit rate', TAGGED, { channels: 2, sampleRate: 32_000, frames: 32_000 }],
    ['mono without an encoder tag', UNTAGGED, { channels: 1, sampleRate: 22_050, frames: 23_616 }],
    ['MPEG-2.5', LOW, { channels: 2, sampleRate: 8_000, frames: 9_216 }],
    ['dual channel with checksums', DUAL, { channels: 2, sampleRate: 24_000, frames: 24_000 }],
  ])('is probed with the properties that decoding gives: %s', async (_, bytes, expected) => {
    const info = await probe(bytes);
    expect(info).toEqual({ format: 'mp3', codec: 'mp3', ...expected, duration: expected.frames / expected.sampleRate });
    const { channels, sampleRate } = await decodeAll(mp3, bytes);
    expect(sampleRate).toBe(expected.sampleRate);
    expect(channels.map(({ length }) => length)).toEqual(Array<number>(expected.channels).fill(expected.frames));
    for (const [index, samples] of channels.entries()) {
      expect(amplitudeOf([440, 1000][index] ?? 0, samples, sampleRate)).toBeGreaterThan(0.4);
      expect(amplitudeOf([1000, 440][index] ?? 0, samples, sampleRate)).toBeLessThan(0.02);
    }
  });

  it.each([
    ['a large ID3v2 tag', concat(id3v2(3_000_000), UNTAGGED)],
    [
      'several ID3v2 tags, one with a footer',
      concat(id3v2(5), id3v2(300, { footer: true }), id3v2(40, { unsynchronised: true }), UNTAGGED),
    ],
    ['ID3v1', concat(UNTAGGED, id3v1)],
    ['APE and ID3v1', concat(UNTAGGED, ape(700), id3v1)],
    ['APE at the beginning', concat(ape(90), UNTAGGED)],
    ['lyrics and ID3v1', concat(UNTAGGED, lyrics, id3v1)],
    ['lyrics in version 1', concat(UNTAGGED, text('LYRICSBEGIN la la LYRICSEND'), id3v1)],
    ['ID3v2 at the end', concat(UNTAGGED, id3v2(300, { footer: true }))],
    ['padding before and after', concat(new Uint8Array(9_000), UNTAGGED, new Uint8Array(70_000))],
    [
      'a tag between frames',
      concat(UNTAGGED.subarray(0, firstFrames(20)), id3v2(100_000), UNTAGGED.subarray(firstFrames(20))),
    ],
    [
      'a few bytes that are not frames between frames',
      concat(UNTAGGED.subarray(0, firstFrames(20)), new Uint8Array(999).fill(0xff), UNTAGGED.subarray(firstFrames(20))),
    ],
  ])('is decoded completely with other data around it: %s', async (_, bytes) => {
    const info = await probe(bytes);
    expect(info.frames).toBe(23_616);
    expect(digestOf((await decodeAll(mp3, bytes)).channels)).toBe(digestOf((await decodeAll(mp3, UNTAGGED)).channels));
  });

  it('inside RIFF, as some recorders write it, is decoded', async () => {
    const wave = concat(
      text('RIFF'),
      u32(9),
      text('WAVEfmt '),
      u32(30),
      Uint8Array.of(0x55, 0, 1, 0),
      new Uint8Array(26),
      text('data'),
      u32(9),
    );
    expect((await probe(concat(wave, UNTAGGED))).frames).toBe(23_616);
  });

  it('that was cut off is decoded to its end, ignoring the padding in its tag', async () => {
    const cut = TAGGED.subarray(0, TAGGED.length - 1_500);
    const { info, frames } = await outcomeOf(mp3, cut);
    expect(info?.frames).toBe(frames);
    expect(frames).toBeLessThan(32_000);
    expect(((frames ?? 0) + 576 + 529) % 1152).toBe(0);
  });

  it('of two concatenated files is decoded to the end', async () => {
    const { info, frames } = await outcomeOf(mp3, concat(TAGGED, TAGGED));
    expect(info?.frames).toBe(frames);
    expect(frames).toBeGreaterThan(64_000);
  });

  it('with an encoder tag is probed by reading less than 256 KiB', async () => {
    const source = countingSource(
      sparseSource(TAGGED.length + 3_000_010, [{ at: 0, bytes: concat(id3v2(3_000_000), TAGGED) }]),
    );
    expect((await mp3.probe(source)).frames).toBe(32_000);
    expect(source.readBytes).toBeLessThan(262_144);
  });

  it.each([
    [
      'a change of the number of channels',
      concat(DUAL, fixture('mp3/mono-22k-untagged.mp3')),
      /changes from 2 channel\(s\) at 24000 Hz to 1 channel\(s\) at 22050 Hz/,
    ],
    [
      'many bytes that are not frames in the middle',
      concat(UNTAGGED.subarray(0, 2_000), new Uint8Array(20_000).fill(0x55), UNTAGGED.subarray(2_000)),
      /damaged in the middle/,
    ],
    ['half a frame and no more', UNTAGGED.subarray(0, 60), /no complete frame/],
    ['a tag and no frame', id3v2(500), /no complete frame/],
  ])('is unreadable with %s', async (_, bytes, message) => {
    const refusal = { code: 'AUDIO_UNREADABLE', message: expect.stringMatching(message) };
    await expect(probe(bytes)).rejects.toMatchObject(refusal);
    await expect(decodeAll(mp3, bytes)).rejects.toMatchObject(refusal);
  });

  it.each([
    ['mp3/layer2.mp3', /layer II \(MP2\)/],
    ['mp3/free-format.mp3', /free-format/],
    ['mp3/aac.mp3', /AAC/],
    ['flac/mono-8bit.flac', /not MP3/],
    ['ogg/opus-stereo.ogg', /not MP3/],
  ])('is refused by the name of what it holds: %s', async (path, message) => {
    await expect(probe(fixture(path))).rejects.toMatchObject({
      code: 'INVALID_FILE_FORMAT',
      message: expect.stringMatching(message),
    });
  });

  it('cut anywhere gives the remaining frames or a Fault, and probing agrees with decoding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(TAGGED, UNTAGGED, LOW, DUAL), fc.nat(10_000), async (bytes, at) => {
        const { info, frames } = await outcomeOf(mp3, bytes.subarray(0, at));
        expect(info?.frames ?? null).toBe(frames);
      }),
      { numRuns: 40 },
    );
  });

  it('with bits flipped anywhere gives a result or a Fault', async () => {
    const bits = fc.array(fc.nat(8 * 9_000), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(TAGGED, UNTAGGED, LOW, DUAL), bits, async (bytes, flips) => {
        await outcomeOf(mp3, withFlippedBits(bytes, flips));
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
    ['of free format, alternating between two streams', [0xff, 0xfb, 0x00, 0x00, 0xff, 0xf3, 0x00, 0x00]],
    ['of the largest frames', [0xff, 0xfb, 0xea, 0x00]],
    ['of AAC', [0xff, 0xf1, 0x00, 0x00, 0x01, 0x00]],
  ])('of nothing but frame headers is refused in bounded time: %s', async (_, beginning) => {
    const bytes = Uint8Array.from({ length: 2_000_000 }, (_unused, at) => beginning[at % beginning.length] ?? 0);
    // Comparing each header with all others would take longer than the test may.
    expect((await outcomeOf(mp3, bytes)).frames).toBeNull();
  });
});

/** The size of the first `count` frames of the untagged recording. */
function firstFrames(count: number): number {
  let at = 0;
  for (let index = 0; index < count; index++) at += frameHeader(UNTAGGED, at)?.sizeBytes ?? 0;
  return at;
}
