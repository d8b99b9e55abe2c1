import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const mostMs = 3_600_000;

describe('a Retry-After of', () => {
  it.each([
    ['7', 7_000],
    [' 120 ', 120_000],
    ['0.5', 500],
    ['2026', 2_026_000],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sunday, 01-Mar-26 12:01:00 GMT', 60_000],
    ['Sun Mar  1 12:00:30 2026 GMT', 30_000],
    ['2026-03-01T12:00:30Z', 30_000],
    ['0.0001', 1],
    ['3601', mostMs],
    ['99999999999999999999', mostMs],
    ['9'.repeat(400), mostMs],
    ['Sun, 01 Mar 2426 12:00:30 GMT', mostMs],
    ['0', null],
    ['0.0', null],
    ['-5', null],
    ['+5', null],
    ['1e3', null],
    ['Infinity', null],
    ['NaN', null],
    ['', null],
    [null, null],
    [undefined, null],
    ['soon', null],
    ['March 2', null],
    ['Sun, 01 Mar 2026 11:00:00 GMT', null],
    ['Sun, 99 Mar 2026 99:00:00 GMT', null],
    ['Sun, 01 Mar 999999999 12:00:30 GMT', null],
  ])('%s is a pause of %s ms, of one hour at most', (header, ms) => {
    expect(retryAfterMs(header, { mostMs, now })).toBe(ms);
  });

  it('another unit is that of its header', () => {
    expect(retryAfterMs('1500', { mostMs, unitMs: 1 })).toBe(1_500);
  });
});
