import { expect, it } from '@jest/globals';
import type { CallDetail } from '../use-call.ts';
import { silencesOf } from './silences.ts';

function callOf(duration: number, ...spoken: readonly (readonly [number | null, number | null])[]) {
  const utterances = spoken.map(([start, end]) => ({ start, end }));
  return { audio: { duration }, transcript: { utterances } } as unknown as CallDetail;
}

it('the silences of a recording are where neither side speaks for longer than a pause', () => {
  // The second utterance begins within the first one, and ends after the third one.
  expect(silencesOf(callOf(30, [2, 5], [4, 12], [6, 7], [13, 14], [20, 28.9]))).toEqual([
    { start: 0.3, end: 1.7 },
    { start: 14.3, end: 19.7 },
  ]);
});

it('there are none to skip where the transcript has no times, or the call no recording', () => {
  expect(silencesOf(callOf(30, [null, null]))).toEqual([]);
  expect(silencesOf({ ...callOf(30, [5, 6]), audio: null })).toEqual([]);
});
