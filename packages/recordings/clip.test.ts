import { expect, it } from '@jest/globals';
import { clip } from './clip.ts';

it('clipping leaves no sample beyond -1 and 1, and none that is no number', () => {
  const samples = Float32Array.of(-7, -1, -0.5, 0, 0.5, 1, 1.25, Infinity, -Infinity, NaN);
  clip([samples]);
  expect([...samples]).toEqual([-1, -1, -0.5, 0, 0.5, 1, 1, 1, -1, 0]);
});
