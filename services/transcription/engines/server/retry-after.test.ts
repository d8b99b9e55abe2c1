import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './retry-after.ts';

describe('a Retry-After of', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');

  it.each([
    ['0', 0],
    ['7', 7000],
    [' 120 ', 120_000],
    ['0.5', 500],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sunday, 01-Mar-26 12:01:00 GMT', 60_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    [null, null],
    ['', null],
    ['soon', null],
    ['-5', null],
    ['1e3', null],
    ['2026', 2_026_000],
    ['March 2', null],
  ])('%s is %s ms', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms);
  });
});
