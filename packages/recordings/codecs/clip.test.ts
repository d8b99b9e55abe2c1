import { expect, it } from '@jest/globals';
import { clip } from './channels.ts';

it('clipping limits every sample to -1 to 1 and turns NaN into silence', () => {
  const samples = Float32Array.of(-7, -1, -0.5, 0, 0.5, 1, 1.25, Infinity, -Infinity, NaN);
  clip([samples]);
  expect([...samples]).toEqual([-1, -1, -0.5, 0, 0.5, 1, 1, 1, -1, 0]);
});
