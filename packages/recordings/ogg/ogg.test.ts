import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { concat, text } from '../test/bytes.ts';
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
import { granuleOf, oggPage, pagesIn, withPageFields } from '../test/ogg-pages.ts';
import { ogg } from './ogg.ts';

const VORBIS = fixture('ogg/vorbis-stereo.ogg');
const OPUS = fixture('ogg/opus-stereo.ogg');
const OPUS_MONO = fixture('ogg/opus-mono-60ms.ogg');
const FLAC = fixture('ogg/flac-stereo.ogg');
const BESIDE = fixture('ogg/theora-and-vorbis.ogg');
const ALL = [VORBIS, OPUS, OPUS_MONO, FLAC, BESIDE];

/** Opus with one page per half second and a third for the rest, so that there is a middle. */
const OPUS_PAGES = withSplitPage(OPUS);
const LONGER = concat(...OPUS_PAGES);

const probe = (bytes: Uint8Array) => ogg.probe(sourceOfBytes(bytes));

/** Splits the first audio page into two pages of 25 packets each. */
function withSplitPage(bytes: Uint8Array): Uint8Array[] {
  const [head, tags, audioPage, ...rest] = pagesIn(bytes);
  if (head === undefined || tags === undefined || audioPage === undefined)
    throw new Error('the fixture has too few pages');
  const lacing = [...audioPage.subarray(27, 27 + (audioPage[26] ?? 0))];
  const body = audioPage.subarray(27 + lacing.length);
  const ends = [...lacing.keys()].filter((index) => (lacing[index] ?? 0) < 255);
  const pieces = (ends[24] ?? 0) + 1;
  const bodyBytes = lacing.slice(0, pieces).reduce((sum, length) => sum + length, 0);
  const serial = new DataView(audioPage.buffer).getUint32(14, true);
  return [
    head,
    tags,
    oggPage(serial, 0, 24_000n, lacing.slice(0, pieces), body.subarray(0, bodyBytes)),
    oggPage(serial, 0, granuleOf(audioPage), lacing.slice(pieces), body.subarray(bodyBytes)),
    ...rest,
  ];
}

describe('an Ogg file', () => {
  it.each([
    ['Vorbis', VORBIS, { codec: 'vorbis', channels: 2, sampleRate: 8_000, frames: 8_000 }],
    [
      'Vorbis with a skeleton',
      fixture('ogg/vorbis-mono-skeleton.ogg'),
      { codec: 'vorbis', channels: 1, sampleRate: 22_050, frames: 22_050 },
    ],
    ['Vorbis with a video', BESIDE, { codec: 'vorbis', channels: 2, sampleRate: 8_000, frames: 8_000 }],
    ['Opus', OPUS, { codec: 'opus', channels: 2, sampleRate: 48_000, frames: 48_000 }],
    ['Opus on more pages', LONGER, { codec: 'opus', channels: 2, sampleRate: 48_000, frames: 48_000 }],
    ['Opus of long packets', OPUS_MONO, { codec: 'opus', channels: 1, sampleRate: 48_000, frames: 48_000 }],
    ['FLAC', FLAC, { codec: 'flac', channels: 2, sampleRate: 8_000, frames: 8_000 }],
  ])('is probed with the properties that decoding gives: %s', async (_, bytes, expected) => {
    const info = await probe(bytes);
    expect(info).toEqual({ format: 'ogg', ...expected, duration: 1 });
    const { channels, sampleRate } = await decodeAll(ogg, bytes);
    expect(sampleRate).toBe(expected.sampleRate);
    expect(channels.map(({ length }) => length)).toEqual(Array<number>(expected.channels).fill(expected.frames));
    for (const [index, samples] of channels.entries()) {
      expect(amplitudeOf([440, 1000][index] ?? 0, samples, sampleRate)).toBeGreaterThan(0.3);
      expect(amplitudeOf([1000, 440][index] ?? 0, samples, sampleRate)).toBeLessThan(0.05);
    }
  });

  it('decodes to the same samples however its packets are divided into pages', async () => {
    expect(digestOf((await decodeAll(ogg, LONGER)).channels)).toBe(digestOf((await decodeAll(ogg, OPUS)).channels));
  });

  it.each([
    ['of one codec', concat(OPUS, LONGER), 96_000],
    ['with the same serial number', concat(VORBIS, VORBIS), 16_000],
    ['cut off at the end of the first', concat(FLAC, FLAC.subarray(0, FLAC.length - 10), FLAC), null],
  ])('of several concatenated recordings is decoded to the end or refused: %s', async (_, bytes, frames) => {
    const outcome = await outcomeOf(ogg, bytes);
    if (frames === null) expect(outcome.frames).toBeNull();
    else expect(outcome).toMatchObject({ info: { frames }, frames });
  });

  it('whose concatenated recordings differ in channels is unreadable', async () => {
    const refusal = {
      code: 'AUDIO_UNREADABLE',
      message: expect.stringMatching(/changes from 2 channel\(s\) at 48000 Hz to 1/),
    };
    await expect(probe(concat(OPUS, OPUS_MONO))).rejects.toMatchObject(refusal);
    await expect(decodeAll(ogg, concat(OPUS, OPUS_MONO))).rejects.toMatchObject(refusal);
  });

  it('that was cut out of a longer one begins with its first sample', async () => {
    const later = OPUS_PAGES.map((each) =>
      granuleOf(each) > 0n ? withPageFields(each, { granule: granuleOf(each) + 480_000n }) : each,
    );
    expect(await outcomeOf(ogg, concat(...later))).toMatchObject({ info: { frames: 48_000 }, frames: 48_000 });
  });

  it('whose granule position jumps has silence in the gap', async () => {
    const jumped = OPUS_PAGES.map((each, at) =>
      at < 3 ? each : withPageFields(each, { granule: granuleOf(each) + 24_000n }),
    );
    const bytes = concat(...jumped);
    expect((await probe(bytes)).frames).toBe(72_000);
    const [left = []] = (await decodeAll(ogg, bytes)).channels;
    const [without = []] = (await decodeAll(ogg, LONGER)).channels;
    const half = 24_000 - 312;
    const expected = [...without.slice(0, half), ...Array<number>(24_000).fill(0), ...without.slice(half)];
    expect(digestOf([left])).toBe(digestOf([expected]));
  });

  it('whose granule position is far too large is unreadable instead of hours of silence', async () => {
    const last = OPUS_PAGES.at(-1) ?? new Uint8Array(0);
    for (const hours of [2n, 30n, 1_000_000_000n]) {
      const bytes = concat(...OPUS_PAGES.slice(0, -1), withPageFields(last, { granule: hours * 3_600n * 48_000n }));
      expect((await outcomeOf(ogg, bytes)).frames).toBeNull();
    }
  });

  it.each([
    [
      'a damaged page',
      withFlippedBits(LONGER, [8 * (OPUS_PAGES.slice(0, 2).reduce((sum, { length }) => sum + length, 0) + 200)]),
      /middle/,
    ],
    ['bytes between its pages', concat(...OPUS_PAGES.slice(0, 2), text('oops'), ...OPUS_PAGES.slice(2)), /middle/],
    [
      'granule positions that run backwards',
      concat(...OPUS_PAGES, withPageFields(OPUS_PAGES.at(-1) ?? new Uint8Array(0), { granule: 9_600n })),
      /backwards/,
    ],
    ['no headers', concat(...OPUS_PAGES.slice(2)), /beginning of the Ogg file is missing/],
    ['headers only', concat(...OPUS_PAGES.slice(0, 2)), /no sample of audio/],
  ])('is unreadable with %s', async (_, bytes, message) => {
    await expect(decodeAll(ogg, bytes)).rejects.toMatchObject({
      code: 'AUDIO_UNREADABLE',
      message: expect.stringMatching(message),
    });
  });

  it('with a damaged page or other bytes at its end is decoded up to there', async () => {
    const frames = 48_000 - 312;
    const broken = withFlippedBits(LONGER, [8 * (LONGER.length - 9)]);
    expect(await outcomeOf(ogg, broken)).toMatchObject({ info: { frames }, frames });
    expect(await outcomeOf(ogg, concat(LONGER, new Uint8Array(400_000)))).toMatchObject({
      info: { frames: 48_000 },
      frames: 48_000,
    });
  });

  it('with large comments is probed by reading less than 256 KiB', async () => {
    const [first = new Uint8Array(0), , ...rest] = OPUS_PAGES;
    const serial = new DataView(first.buffer).getUint32(14, true);
    const full = oggPage(serial, 1, -1n, Array<number>(255).fill(255), new Uint8Array(255 * 255));
    const pictures = Array.from({ length: 20 }, () => full);
    const end = oggPage(serial, 1, 0n, [9], new Uint8Array(9));
    const start = oggPage(
      serial,
      0,
      -1n,
      Array<number>(255).fill(255),
      concat(text('OpusTags'), new Uint8Array(255 * 255 - 8)),
    );
    const bytes = concat(first, start, ...pictures, end, ...rest);
    const source = countingSource(sparseSource(bytes.length, [{ at: 0, bytes }]));
    expect((await ogg.probe(source)).frames).toBe(48_000);
    expect(source.readBytes).toBeLessThan(262_144);
    expect((await decodeAll(ogg, bytes)).channels[0]).toHaveLength(48_000);
  });

  it('of Opus has the gain of its header', async () => {
    const [head = new Uint8Array(0), ...rest] = pagesIn(OPUS);
    const louder = head.slice();
    // 6.02 dB in 256ths.
    new DataView(louder.buffer).setInt16(28 + 16, 1541, true);
    const [left = []] = (await decodeAll(ogg, OPUS)).channels;
    const [twice = []] = (await decodeAll(ogg, concat(withPageFields(louder), ...rest))).channels;
    expect(amplitudeOf(440, twice, 48_000) / amplitudeOf(440, left, 48_000)).toBeCloseTo(2, 2);
  });

  it.each([
    ['Theora', fixture('ogg/theora.ogg'), /Theora video/],
    ['Speex', oggPage(1, 2, 0n, [80], concat(text('Speex   1.2'), new Uint8Array(69))), /Ogg with Speex .*Convert/],
    ['CELT', oggPage(1, 2, 0n, [80], concat(text('CELT    '), new Uint8Array(72))), /CELT/],
    ['something unknown', oggPage(1, 2, 0n, [80], new Uint8Array(80).fill(65)), /unknown codec/],
    ['another format', fixture('flac/mono-8bit.flac'), /not Ogg/],
  ])('is refused by name when it holds %s', async (_, bytes, message) => {
    const refusal = { code: 'INVALID_FILE_FORMAT', message: expect.stringMatching(message) };
    await expect(probe(bytes)).rejects.toMatchObject(refusal);
    await expect(decodeAll(ogg, bytes)).rejects.toMatchObject(refusal);
  });

  it('full of false page headers is refused in bounded time', async () => {
    const falsePage = concat(text('OggS\0\0'), new Uint8Array(20), Uint8Array.of(255), new Uint8Array(255).fill(255));
    const baits = concat(...Array.from({ length: 20_000 }, () => falsePage));
    // Comparing each header with all others would take longer than the test may.
    expect((await outcomeOf(ogg, concat(...OPUS_PAGES.slice(0, 3), baits))).frames).toBeNull();
    expect((await outcomeOf(ogg, baits)).info).toBeNull();
  });

  it('cut anywhere gives complete pages or a Fault, and probing agrees with decoding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ALL, LONGER), fc.nat(18_000), async (bytes, at) => {
        const { info, frames } = await outcomeOf(ogg, bytes.subarray(0, at));
        expect(info?.frames ?? null).toBe(frames);
      }),
      { numRuns: 40 },
    );
  });

  it('with bits flipped anywhere decodes to the probed length or is refused', async () => {
    const bits = fc.array(fc.nat(8 * 18_000), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ALL, LONGER), bits, async (bytes, flips) => {
        const { info, frames } = await outcomeOf(ogg, withFlippedBits(bytes, flips));
        if (info !== null && frames !== null) expect(frames).toBe(info.frames);
      }),
      { numRuns: 40 },
    );
  });

  it('of random bytes after its signature is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        expect(await outcomeOf(ogg, concat(text('OggS'), bytes))).toEqual({ info: null, frames: null });
      }),
    );
  });
});

describe('a malicious Ogg file with correct checksums', () => {
  // The Opus library writes every refused packet to the console.
  beforeEach(() => {
    jest.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('gives a result or a Fault for any headers, packets and granule positions', async () => {
    const flips = fc.array(fc.record({ page: fc.nat(8), bit: fc.nat(8 * 4_000) }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ALL, LONGER), flips, async (bytes, changes) => {
        const pages = pagesIn(bytes);
        for (const { page: index, bit } of changes) {
          const at = index % pages.length;
          const before = pages[at] ?? new Uint8Array(0);
          const after = withFlippedBits(before, [bit]);
          // The page framing stays intact so that the damage reaches the codecs.
          after.set(before.subarray(0, 6), 0);
          after.set(before.subarray(14, 27 + (before[26] ?? 0)), 14);
          pages[at] = withPageFields(after);
        }
        await outcomeOf(ogg, concat(...pages));
      }),
      { numRuns: 40 },
    );
  });
});
