import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { joined, text } from '../test/bytes.ts';
import { amplitudeOf, counted, digestOf, fixture, flipped, outcomeOf, sparse } from '../test/fixtures.ts';
import { changed, granuleOf, page, pagesIn } from '../test/ogg.ts';
import { heardIn, processorMs } from '../test/reading.ts';
import { ogg } from './index.ts';

const VORBIS = fixture('ogg/vorbis-stereo.ogg');
const OPUS = fixture('ogg/opus-stereo.ogg');
const OPUS_MONO = fixture('ogg/opus-mono-60ms.ogg');
const FLAC = fixture('ogg/flac-stereo.ogg');
const SPEEX = fixture('ogg/speex-stereo.ogg');
const BESIDE = fixture('ogg/theora-and-vorbis.ogg');
const ALL = [VORBIS, OPUS, OPUS_MONO, FLAC, SPEEX, BESIDE];

/** Opus with a page for each half second and a third for what is left, so that there is a middle. */
const OPUS_PAGES = halved(OPUS);
const LONGER = joined(...OPUS_PAGES);

const probe = (bytes: Uint8Array) => ogg.probe(sourceOfBytes(bytes));

/** The first page of sound as two pages of 25 packets each. */
function halved(bytes: Uint8Array): Uint8Array[] {
  const [head, tags, whole, ...rest] = pagesIn(bytes);
  if (head === undefined || tags === undefined || whole === undefined) throw new Error('the fixture has too few pages');
  const lacing = [...whole.subarray(27, 27 + (whole[26] ?? 0))];
  const body = whole.subarray(27 + lacing.length);
  const ends = [...lacing.keys()].filter((index) => (lacing[index] ?? 0) < 255);
  const pieces = (ends[24] ?? 0) + 1;
  const bodyBytes = lacing.slice(0, pieces).reduce((sum, length) => sum + length, 0);
  const serial = new DataView(whole.buffer).getUint32(14, true);
  return [
    head,
    tags,
    page(serial, 0, 24_000n, lacing.slice(0, pieces), body.subarray(0, bodyBytes)),
    page(serial, 0, granuleOf(whole), lacing.slice(pieces), body.subarray(bodyBytes)),
    ...rest,
  ];
}

describe('an Ogg', () => {
  it.each([
    ['Vorbis', VORBIS, { codec: 'vorbis', channels: 2, sampleRate: 8_000, frames: 8_000 }],
    [
      'Vorbis beside a skeleton',
      fixture('ogg/vorbis-mono-skeleton.ogg'),
      { codec: 'vorbis', channels: 1, sampleRate: 22_050, frames: 22_050 },
    ],
    ['Vorbis beside a video', BESIDE, { codec: 'vorbis', channels: 2, sampleRate: 8_000, frames: 8_000 }],
    ['Opus', OPUS, { codec: 'opus', channels: 2, sampleRate: 48_000, frames: 48_000 }],
    ['Opus on more pages', LONGER, { codec: 'opus', channels: 2, sampleRate: 48_000, frames: 48_000 }],
    ['Opus of long packets', OPUS_MONO, { codec: 'opus', channels: 1, sampleRate: 48_000, frames: 48_000 }],
    ['FLAC', FLAC, { codec: 'flac', channels: 2, sampleRate: 8_000, frames: 8_000 }],
    ['Speex', SPEEX, { codec: 'speex', channels: 2, sampleRate: 8_000, frames: 8_000 }],
  ])('is probed as it decodes: %s', async (_, bytes, expected) => {
    const info = await probe(bytes);
    expect(info).toEqual({ format: 'ogg', ...expected, duration: 1 });
    const { channels, sampleRate } = await heardIn(ogg, bytes);
    expect(sampleRate).toBe(expected.sampleRate);
    expect(channels.map(({ length }) => length)).toEqual(Array<number>(expected.channels).fill(expected.frames));
    // Speex has but one voice and says how loud it is on each side.
    if (expected.codec === 'speex') return;
    for (const [index, samples] of channels.entries()) {
      expect(amplitudeOf([440, 1000][index] ?? 0, samples, sampleRate)).toBeGreaterThan(0.3);
      expect(amplitudeOf([1000, 440][index] ?? 0, samples, sampleRate)).toBeLessThan(0.05);
    }
  });

  it('sounds the same however its packets lie on pages', async () => {
    expect(digestOf((await heardIn(ogg, LONGER)).channels)).toBe(digestOf((await heardIn(ogg, OPUS)).channels));
  });

  it.each([
    ['of one codec', joined(OPUS, LONGER), 96_000],
    ['with the same serial number', joined(VORBIS, VORBIS), 16_000],
    ['cut at the end of the first', joined(FLAC, FLAC.subarray(0, FLAC.length - 10), FLAC), null],
  ])('of several recordings in a row is heard to the end: %s', async (_, bytes, frames) => {
    const outcome = await outcomeOf(ogg, bytes);
    if (frames === null) expect(outcome.frames).toBeNull();
    else expect(outcome).toMatchObject({ info: { frames }, frames });
  });

  it('that changes its shape from one recording to the next is unreadable', async () => {
    const refusal = {
      code: 'AUDIO_UNREADABLE',
      message: expect.stringMatching(/changes from 2 channel\(s\) at 48000 Hz to 1/),
    };
    await expect(probe(joined(OPUS, OPUS_MONO))).rejects.toMatchObject(refusal);
    await expect(heardIn(ogg, joined(OPUS, OPUS_MONO))).rejects.toMatchObject(refusal);
  });

  it('that was cut out of a longer one begins where it begins', async () => {
    const later = OPUS_PAGES.map((each) =>
      granuleOf(each) > 0n ? changed(each, { granule: granuleOf(each) + 480_000n }) : each,
    );
    expect(await outcomeOf(ogg, joined(...later))).toMatchObject({ info: { frames: 48_000 }, frames: 48_000 });
  });

  it('whose clock jumps is silent meanwhile', async () => {
    const jumped = OPUS_PAGES.map((each, at) =>
      at < 3 ? each : changed(each, { granule: granuleOf(each) + 24_000n }),
    );
    const bytes = joined(...jumped);
    expect((await probe(bytes)).frames).toBe(72_000);
    const [left = []] = (await heardIn(ogg, bytes)).channels;
    const [without = []] = (await heardIn(ogg, LONGER)).channels;
    const half = 24_000 - 312;
    const expected = [...without.slice(0, half), ...Array<number>(24_000).fill(0), ...without.slice(half)];
    expect(digestOf([left])).toBe(digestOf([expected]));
  });

  it('whose clock stands far ahead is unreadable, not hours of silence', async () => {
    const last = OPUS_PAGES.at(-1) ?? new Uint8Array(0);
    for (const hours of [2n, 30n, 1_000_000_000n]) {
      const bytes = joined(...OPUS_PAGES.slice(0, -1), changed(last, { granule: hours * 3_600n * 48_000n }));
      expect((await outcomeOf(ogg, bytes)).frames).toBeNull();
    }
  });

  it.each([
    [
      'a broken page',
      flipped(LONGER, [8 * (OPUS_PAGES.slice(0, 2).reduce((sum, { length }) => sum + length, 0) + 200)]),
      /middle/,
    ],
    ['bytes between its pages', joined(...OPUS_PAGES.slice(0, 2), text('oops'), ...OPUS_PAGES.slice(2)), /middle/],
    [
      'a clock that runs backwards',
      joined(...OPUS_PAGES, changed(OPUS_PAGES.at(-1) ?? new Uint8Array(0), { granule: 9_600n })),
      /backwards/,
    ],
    ['no headers', joined(...OPUS_PAGES.slice(2)), /beginning of the Ogg is missing/],
    ['headers alone', joined(...OPUS_PAGES.slice(0, 2)), /not one/],
  ])('is unreadable with %s', async (_, bytes, message) => {
    await expect(heardIn(ogg, bytes)).rejects.toMatchObject({
      code: 'AUDIO_UNREADABLE',
      message: expect.stringMatching(message),
    });
  });

  it('with a broken page or other things at its end is heard as far as it goes', async () => {
    const whole = 48_000 - 312;
    const broken = flipped(LONGER, [8 * (LONGER.length - 9)]);
    expect(await outcomeOf(ogg, broken)).toMatchObject({ info: { frames: whole }, frames: whole });
    expect(await outcomeOf(ogg, joined(LONGER, new Uint8Array(400_000)))).toMatchObject({
      info: { frames: 48_000 },
      frames: 48_000,
    });
  });

  it('is probed from 256 KiB however large its comments are', async () => {
    const [first = new Uint8Array(0), , ...rest] = OPUS_PAGES;
    const serial = new DataView(first.buffer).getUint32(14, true);
    const full = page(serial, 1, -1n, Array<number>(255).fill(255), new Uint8Array(255 * 255));
    const pictures = Array.from({ length: 20 }, () => full);
    const end = page(serial, 1, 0n, [9], new Uint8Array(9));
    const start = page(
      serial,
      0,
      -1n,
      Array<number>(255).fill(255),
      joined(text('OpusTags'), new Uint8Array(255 * 255 - 8)),
    );
    const bytes = joined(first, start, ...pictures, end, ...rest);
    const source = counted(sparse(bytes.length, [{ at: 0, bytes }]));
    expect((await ogg.probe(source)).frames).toBe(48_000);
    expect(source.readBytes).toBeLessThan(262_144);
    expect((await heardIn(ogg, bytes)).channels[0]).toHaveLength(48_000);
  });

  it('of Opus is as loud as its header says', async () => {
    const [head = new Uint8Array(0), ...rest] = pagesIn(OPUS);
    const louder = head.slice();
    // 6.02 dB in 256ths.
    new DataView(louder.buffer).setInt16(28 + 16, 1541, true);
    const [left = []] = (await heardIn(ogg, OPUS)).channels;
    const [twice = []] = (await heardIn(ogg, joined(changed(louder), ...rest))).channels;
    expect(amplitudeOf(440, twice, 48_000) / amplitudeOf(440, left, 48_000)).toBeCloseTo(2, 2);
  });

  it.each([
    ['Theora', fixture('ogg/theora.ogg'), /Theora video/],
    ['CELT', page(1, 2, 0n, [80], joined(text('CELT    '), new Uint8Array(72))), /CELT/],
    ['something unknown', page(1, 2, 0n, [80], new Uint8Array(80).fill(65)), /unknown codec/],
    ['another format', fixture('flac/mono-8bit.flac'), /not Ogg/],
  ])('is refused by name when it holds %s', async (_, bytes, message) => {
    const refusal = { code: 'INVALID_FILE_FORMAT', message: expect.stringMatching(message) };
    await expect(probe(bytes)).rejects.toMatchObject(refusal);
    await expect(heardIn(ogg, bytes)).rejects.toMatchObject(refusal);
  });

  it('that is full of what looks like pages is refused in bounded time', async () => {
    const bait = joined(text('OggS\0\0'), new Uint8Array(20), Uint8Array.of(255), new Uint8Array(255).fill(255));
    const baits = joined(...Array.from({ length: 20_000 }, () => bait));
    const tookMs = await processorMs(async () => {
      expect((await outcomeOf(ogg, joined(...OPUS_PAGES.slice(0, 3), baits))).frames).toBeNull();
      expect((await outcomeOf(ogg, baits)).info).toBeNull();
    });
    expect(tookMs).toBeLessThan(5_000);
  });

  it('cut anywhere gives whole pages or a Fault, and probing agrees with decoding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ALL, LONGER), fc.nat(18_000), async (bytes, at) => {
        const { info, frames } = await outcomeOf(ogg, bytes.subarray(0, at));
        expect(info?.frames ?? null).toBe(frames);
      }),
      { numRuns: 40 },
    );
  });

  it('with bits flipped anywhere is right or refused', async () => {
    const bits = fc.array(fc.nat(8 * 18_000), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ALL, LONGER), bits, async (bytes, flips) => {
        const { info, frames } = await outcomeOf(ogg, flipped(bytes, flips));
        if (info !== null && frames !== null) expect(frames).toBe(info.frames);
      }),
      { numRuns: 40 },
    );
  });

  it('of random bytes behind its word is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        expect(await outcomeOf(ogg, joined(text('OggS'), bytes))).toEqual({ info: null, frames: null });
      }),
    );
  });
});

describe('an Ogg that was made to do harm, its checksums right', () => {
  // The Opus library tells the console of every packet that it refuses.
  beforeEach(() => {
    jest.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('gives an answer or a Fault whatever its headers, packets and clocks say', async () => {
    const flips = fc.array(fc.record({ page: fc.nat(8), bit: fc.nat(8 * 4_000) }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ALL, LONGER), flips, async (bytes, changes) => {
        const pages = pagesIn(bytes);
        for (const { page: index, bit } of changes) {
          const at = index % pages.length;
          const before = pages[at] ?? new Uint8Array(0);
          const after = flipped(before, [bit]);
          // What frames the pages stays, so that the damage gets to the codecs.
          after.set(before.subarray(0, 6), 0);
          after.set(before.subarray(14, 27 + (before[26] ?? 0)), 14);
          pages[at] = changed(after);
        }
        await outcomeOf(ogg, joined(...pages));
      }),
      { numRuns: 40 },
    );
  });
});
