import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { timeLeft } from './closing.ts';

describe('the time left', () => {
  it('starts with the first call, is shared by all callers, and is never less than the minimum of the caller', async () => {
    const left = timeLeft(40);
    await pause(60);
    expect(left()).toBeCloseTo(40);
    await pause(60);
    expect([left(), left(15)]).toEqual([0, 15]);
  });
});
