import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { areEqual, loudnessActivity, voice } from '../test/voices.ts';
import { type Segment, Segmenter } from './segmenter.ts';

type Times = readonly (readonly [from: number, to: number])[];

function cut(seconds: number, left: Times, right: Times, maxSegmentSeconds = 20, blockSamples = 4000): Segment[] {
  const sounds = [voice(seconds, 1, left), voice(seconds, 2, right)] as const;
  const segmenter = new Segmenter(loudnessActivity, maxSegmentSeconds);
  const segments: Segment[] = [];
  for (let at = 0; at < sounds[0].length; at += blockSamples) {
    segments.push(...segmenter.push(sounds[0].slice(at, at + blockSamples), sounds[1].slice(at, at + blockSamples)));
  }
  return [...segments, ...segmenter.flush()];
}

const times = (segments: readonly Segment[], side: string) =>
  segments
    .filter((segment) => segment.side === side)
    .map(({ start, end }) => [start, end].map((time) => Math.round(time * 5) / 5));

describe('segments', () => {
  it('contain the speech of each party, one after the other', () => {
    const segments = cut(
      12,
      [
        [1, 3],
        [7, 9],
      ],
      [
        [4, 6],
        [10, 11.4],
      ],
    );
    expect(times(segments, 'left')).toEqual([
      [1, 3],
      [7, 9],
    ]);
    expect(times(segments, 'right')).toEqual([
      [4, 6],
      [10, 11.4],
    ]);
  });

  it('span a short pause unless the other party speaks during it', () => {
    const segments = cut(
      8,
      [
        [1, 2.4],
        [3, 4],
      ],
      [
        [5, 6.4],
        [7, 7.4],
      ],
    );
    expect(times(segments, 'left')).toEqual([[1, 4]]);
    expect(times(segments, 'right')).toEqual([[5, 7.4]]);
    expect(
      times(
        cut(
          8,
          [
            [1, 2.4],
            [3, 4],
          ],
          [[2.45, 2.9]],
        ),
        'left',
      ),
    ).toEqual([
      [1, 2.4],
      [3, 4],
    ]);
  });

  it('are not cut from digital silence', () => {
    expect(cut(30, [], [])).toEqual([]);
    expect(cut(0.01, [], [])).toEqual([]);
  });

  it('include padding around the speech and state where they begin', () => {
    const [segment] = cut(4, [[1, 2]], []);
    expect(segment!.from).toBeCloseTo(segment!.start - 0.25, 1);
    expect(segment!.samples.length / SAMPLE_RATE_HZ).toBeCloseTo(segment!.end - segment!.start + 0.5, 1);
    const sound = voice(4, 1, [[1, 2]]);
    const from = Math.round(segment!.from * SAMPLE_RATE_HZ);
    expect(areEqual(segment!.samples, sound.slice(from, from + segment!.samples.length))).toBe(true);
  });

  it('begin and end with the sound, also where the detector finds it late or loses it early, and contain it', () => {
    // Quiet first and last sounds, 16 dB under the rest, which the detector misses.
    const sound = voice(4, 1, [[1, 2.5]]).map((sample, at) =>
      at < 1.35 * SAMPLE_RATE_HZ || at >= 2.1 * SAMPLE_RATE_HZ ? 0.15 * sample : sample,
    );
    const deaf = () => {
      const { accept, ...other } = loudnessActivity();
      return {
        ...other,
        accept: (window: Float32Array) => accept(window.map((sample) => (Math.abs(sample) < 0.03 ? 0 : sample))),
      };
    };
    const segmenter = new Segmenter(deaf, 20);
    const [segment] = [...segmenter.push(sound, new Float32Array(sound.length)), ...segmenter.flush()];
    expect(Math.abs(segment!.start - 1)).toBeLessThan(0.02);
    expect(Math.abs(segment!.end - 2.5)).toBeLessThan(0.02);
    expect(segment!.from).toBeLessThan(0.95);
    expect(segment!.from + segment!.samples.length / SAMPLE_RATE_HZ).toBeGreaterThan(2.55);
  });

  it('are never longer than the engine accepts and together contain all the speech', () => {
    const segments = cut(50, [[1, 45]], [], 5);
    expect(segments.length).toBeGreaterThan(8);
    for (const [index, segment] of segments.entries()) {
      expect(segment.samples.length).toBeLessThanOrEqual(5 * SAMPLE_RATE_HZ);
      if (index > 0) expect(segment.start).toBe(segments[index - 1]!.end);
    }
    expect(segments[0]!.start).toBeCloseTo(1, 1);
    expect(segments.at(-1)!.end).toBeCloseTo(45, 0);
  });

  it.each([20, 60])('of at most %d s are never cut within a word, however long someone speaks', (longest) => {
    const words = Array.from({ length: 250 }, (_, index) => [0.53 * index + 0.5, 0.53 * index + 0.93] as const);
    const segments = cut(134, words, [], longest);
    const cuts = segments.slice(1).map(({ start }, index) => {
      expect(segments[index]!.end).toBe(start);
      return start;
    });
    expect(cuts.length).toBeGreaterThanOrEqual(2);
    expect(cuts.filter((at) => words.some(([from, to]) => at > from && at < to))).toEqual([]);
  });

  it('come in order, do not overlap, lie within the recording and contain all the speech, whoever speaks when', () => {
    const spoken = fc
      .array(fc.tuple(fc.integer({ min: 0, max: 25 }), fc.integer({ min: 5, max: 80 })), { maxLength: 4 })
      .map((parts) => {
        let at = 0;
        return parts.map(([pause, length]) => {
          const from = at + pause / 10;
          at = from + length / 10;
          return [from, at] as const;
        });
      });
    // Speech longer than a segment that has ended by the time it is pushed, after a word that still waits.
    const ENDED_AT_ONCE: [number, number][] = [
      [0, 0.5],
      [0.9, 4.4],
      [4.8, 5.3],
    ];
    fc.assert(
      fc.property(
        spoken,
        spoken,
        fc.integer({ min: 3, max: 10 }),
        fc.integer({ min: 300, max: 20_000 }),
        (left, right, longest, block) => {
          const seconds = Math.min(Math.max(left.at(-1)?.[1] ?? 0, right.at(-1)?.[1] ?? 0, 1), 15);
          const segments = cut(seconds, left, right, longest, block);
          for (const [side, said] of [
            ['left', left],
            ['right', right],
          ] as const) {
            const own = segments.filter((segment) => segment.side === side);
            for (const [index, segment] of own.entries()) {
              expect(segment.samples.length).toBeLessThanOrEqual(longest * SAMPLE_RATE_HZ);
              expect(segment.end).toBeGreaterThan(segment.start);
              expect(segment.end).toBeLessThanOrEqual(seconds + 0.001);
              if (index > 0) expect(segment.start).toBeGreaterThanOrEqual(own[index - 1]!.end);
            }
            for (const [from, to] of said) {
              const middle = (from + to) / 2;
              if (middle < seconds - 0.2)
                expect(own.some((segment) => segment.start <= middle && segment.end >= middle)).toBe(true);
            }
          }
        },
      ),
      { numRuns: 12, examples: [[ENDED_AT_ONCE, [], 4, 15_156]] },
    );
  });
});
