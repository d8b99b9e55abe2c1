import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { timeLeft } from './time-left.ts';

describe('the time left', () => {
  it('is all there until somebody asks, then runs for whoever asks, and never ends below what he needs at least', async () => {
    const left = timeLeft(40);
    await pause(60);
    expect(left()).toBeCloseTo(40);
    await pause(60);
    expect([left(), left(15)]).toEqual([0, 15]);
  });
});
