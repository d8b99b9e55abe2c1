import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { HEARING_RATE } from '../engine.ts';
import { type CutPiece, PieceCutter } from './piece-cutter.ts';
import { areEqual, loudness, voice } from './test/voices.ts';

type Times = readonly (readonly [from: number, to: number])[];

function cut(seconds: number, left: Times, right: Times, maxPieceSeconds = 20, blockSamples = 4000): CutPiece[] {
  const sounds = [voice(seconds, 1, left), voice(seconds, 2, right)] as const;
  const cutter = new PieceCutter(loudness, maxPieceSeconds);
  const pieces: CutPiece[] = [];
  for (let at = 0; at < sounds[0].length; at += blockSamples) {
    pieces.push(...cutter.push(sounds[0].slice(at, at + blockSamples), sounds[1].slice(at, at + blockSamples)));
  }
  return [...pieces, ...cutter.flush()];
}

const times = (pieces: readonly CutPiece[], side: string) =>
  pieces
    .filter((piece) => piece.side === side)
    .map(({ start, end }) => [start, end].map((time) => Math.round(time * 5) / 5));

describe('pieces', () => {
  it('are what each party says, one after the other', () => {
    const pieces = cut(
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
    expect(times(pieces, 'left')).toEqual([
      [1, 3],
      [7, 9],
    ]);
    expect(times(pieces, 'right')).toEqual([
      [4, 6],
      [10, 11.4],
    ]);
  });

  it('go over a short pause, unless the other party speaks in it', () => {
    const pieces = cut(
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
    expect(times(pieces, 'left')).toEqual([[1, 4]]);
    expect(times(pieces, 'right')).toEqual([[5, 7.4]]);
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

  it('of digital silence are none', () => {
    expect(cut(30, [], [])).toEqual([]);
    expect(cut(0.01, [], [])).toEqual([]);
  });

  it('have something around what is said, and say where they begin', () => {
    const [piece] = cut(4, [[1, 2]], []);
    expect(piece!.from).toBeCloseTo(piece!.start - 0.25, 2);
    expect(piece!.samples.length / HEARING_RATE).toBeCloseTo(piece!.end - piece!.start + 0.5, 2);
    const sound = voice(4, 1, [[1, 2]]);
    const from = Math.round(piece!.from * HEARING_RATE);
    expect(areEqual(piece!.samples, sound.slice(from, from + piece!.samples.length))).toBe(true);
  });

  it('are never longer than the engine wants, and together are all that was said', () => {
    const pieces = cut(50, [[1, 45]], [], 5);
    expect(pieces.length).toBeGreaterThan(8);
    for (const [index, piece] of pieces.entries()) {
      expect(piece.samples.length).toBeLessThanOrEqual(5 * HEARING_RATE);
      if (index > 0) expect(piece.start).toBe(pieces[index - 1]!.end);
    }
    expect(pieces[0]!.start).toBeCloseTo(1, 1);
    expect(pieces.at(-1)!.end).toBeCloseTo(45, 0);
  });

  it('come in order, apart, within the recording and with all the sound there is, whoever speaks when', () => {
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
    fc.assert(
      fc.property(
        spoken,
        spoken,
        fc.integer({ min: 3, max: 10 }),
        fc.integer({ min: 300, max: 20_000 }),
        (left, right, longest, block) => {
          const seconds = Math.min(Math.max(left.at(-1)?.[1] ?? 0, right.at(-1)?.[1] ?? 0, 1), 15);
          const pieces = cut(seconds, left, right, longest, block);
          for (const [side, said] of [
            ['left', left],
            ['right', right],
          ] as const) {
            const mine = pieces.filter((piece) => piece.side === side);
            for (const [index, piece] of mine.entries()) {
              expect(piece.samples.length).toBeLessThanOrEqual(longest * HEARING_RATE);
              expect(piece.end).toBeGreaterThan(piece.start);
              expect(piece.end).toBeLessThanOrEqual(seconds + 0.001);
              if (index > 0) expect(piece.start).toBeGreaterThanOrEqual(mine[index - 1]!.end);
            }
            for (const [from, to] of said) {
              const middle = (from + to) / 2;
              if (middle < seconds - 0.2)
                expect(mine.some((piece) => piece.start <= middle && piece.end >= middle)).toBe(true);
            }
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});
