import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Samples } from '../recording.ts';
import { collect, faultOf } from '../test/containers.ts';
import { openResampler, resample } from './resample.ts';

const RATES = [6000, 8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000];

function sine(hertz: number, rate: number, seconds = 0.5): Float32Array {
  return Float32Array.from(
    { length: Math.round(rate * seconds) },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * hertz * i) / rate),
  );
}

async function* pieces(
  sampleRate: number,
  channels: Float32Array[],
  lengths: readonly number[],
): AsyncGenerator<Samples> {
  const whole = channels[0]!.length;
  for (let at = 0, turn = 0; at < whole; turn++) {
    const length = lengths[turn % lengths.length]!;
    yield { sampleRate, channels: channels.map((each) => each.subarray(at, at + length)) };
    at += length;
  }
}

async function resampled(samples: Float32Array, from: number, to: number, lengths = [4096]): Promise<number[]> {
  const { channels } = await collect(resample(pieces(from, [samples], lengths), to));
  return channels[0]!;
}

/** The level relative to a sine of amplitude 0.5, in decibels, without the ends. */
function level(samples: readonly number[]): number {
  const middle = samples.slice(500, -500);
  const power = middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length;
  return 10 * Math.log10(power / 0.125);
}

describe('resampling to 16 kHz', () => {
  it.each(RATES)('a tone at %d Hz keeps its phase and duration, sample by sample', async (rate) => {
    const tone = sine(1000, rate);
    const samples = await resampled(tone, rate, 16_000);
    expect(samples).toHaveLength(Math.round((tone.length * 16_000) / rate));
    const expected = sine(1000, 16_000);
    const apart = samples.slice(200, 7800).map((sample, i) => Math.abs(sample - expected[i + 200]!));
    expect(Math.max(...apart)).toBeLessThan(0.0005);
  });

  it.each([24_000, 32_000, 44_100, 48_000, 96_000])(
    'a tone above 8 kHz at %d Hz is not aliased to another frequency',
    async (rate) => {
      for (const hertz of [8200, 9000, 10_000, 11_900]) {
        expect(level(await resampled(sine(hertz, rate), rate, 16_000))).toBeLessThan(-80);
      }
    },
  );

  it('speech at 8 kHz is not mirrored above 4 kHz', async () => {
    const samples = await resampled(sine(3000, 8000), 8000, 16_000);
    const expected = sine(3000, 16_000);
    expect(level(samples.map((sample, i) => sample - expected[i]!))).toBeLessThan(-60);
  });

  it('speech at 48 kHz keeps its level up to 7 kHz', async () => {
    for (const hertz of [100, 3000, 7000]) {
      expect(Math.abs(level(await resampled(sine(hertz, 48_000), 48_000, 16_000)))).toBeLessThan(0.1);
    }
  });
});

describe('resampling in pieces', () => {
  it('gives the same samples for pieces of any length', async () => {
    const noise = Float32Array.from({ length: 5000 }, (_, i) => Math.sin(i * i));
    const whole = (await resampled(noise, 44_100, 16_000, [5000])).join();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 10 }),
        async (lengths) => {
          expect((await resampled(noise, 44_100, 16_000, lengths)).join()).toBe(whole);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('gives the expected number of samples to within one', async () => {
    const rates = fc.oneof(fc.constantFrom(...RATES), fc.integer({ min: 6000, max: 100_000 }));
    await fc.assert(
      fc.asyncProperty(
        rates,
        fc.constantFrom(8000, 16_000),
        fc.integer({ min: 1, max: 3000 }),
        async (from, to, count) => {
          const expected = Math.round((count * to) / from);
          const { channels } = await collect(resample(pieces(from, [new Float32Array(count)], [700]), to));
          expect(Math.abs((channels[0]?.length ?? 0) - expected)).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('resamples each channel independently', async () => {
    const left = sine(500, 8000);
    const right = sine(1500, 8000);
    const { channels, sampleRate } = await collect(resample(pieces(8000, [left, right], [777]), 16_000));
    expect(sampleRate).toBe(16_000);
    expect(channels[0]).toEqual(await resampled(left, 8000, 16_000));
    expect(channels[1]).toEqual(await resampled(right, 8000, 16_000));
  });

  it('passes samples at the target rate through unchanged', async () => {
    const samples = sine(500, 16_000, 0.01);
    expect(await resampled(samples, 16_000, 16_000, [7])).toEqual(Array.from(samples));
  });
});

it('releases memory even when the consumer stops before the end', async () => {
  const samples = new Float32Array(300);
  // Without a release, this many pairs of resamplers would need more than the module's limit of 2 GiB.
  for (let turn = 0; turn < 17_500; turn++) {
    for await (const piece of resample(pieces(16_000, [samples, samples], [150]), 8000)) {
      if (piece.channels.length === 2) break;
    }
  }
  expect(await resampled(samples, 16_000, 8000)).toHaveLength(150);
});

it('a change of the sample rate is AUDIO_UNREADABLE', async () => {
  async function* changing(): AsyncGenerator<Samples> {
    yield* pieces(8000, [new Float32Array(10)], [10]);
    yield* pieces(11_025, [new Float32Array(10)], [10]);
  }
  expect(await faultOf(collect(resample(changing(), 16_000)))).toMatchObject({ code: 'AUDIO_UNREADABLE' });
});

it('a closed resampler throws on push', async () => {
  const resampler = await openResampler(8000, 16_000);
  resampler.close();
  expect(() => resampler.push(new Float32Array(1))).toThrow('closed');
});
