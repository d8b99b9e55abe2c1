import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { dayIn, endOfDay, instantOf, isDay, isZone, localInput, startOfDay } from './days.ts';

const ZONES = ['UTC', 'Asia/Tashkent', 'Asia/Kathmandu', 'America/New_York', 'Pacific/Apia'];

describe('a time as it is typed', () => {
  it('is that of the zone, not of the browser', () => {
    expect(instantOf('2026-11-22T14:05', 'Asia/Tashkent')).toBe('2026-11-22T09:05:00.000Z');
    expect(localInput(Date.parse('2026-11-22T09:05:00Z'), 'Asia/Tashkent')).toBe('2026-11-22T14:05');
    // The first of two.
    expect(instantOf('2026-11-01T01:30', 'America/New_York')).toBe('2026-11-01T05:30:00.000Z');
    // Skipped: half an hour after the change.
    expect(instantOf('2026-03-08T02:30', 'America/New_York')).toBe('2026-03-08T07:30:00.000Z');
  });

  it('comes back as it was typed, in any zone', () => {
    const minutes = fc.integer({ min: Date.parse('2020-01-01') / 60_000, max: Date.parse('2035-01-01') / 60_000 });
    fc.assert(
      fc.property(minutes, fc.constantFrom(...ZONES), (minute, zone) => {
        const typed = localInput(minute * 60_000, zone);
        expect(localInput(Date.parse(instantOf(typed, zone)), zone)).toBe(typed);
      }),
    );
  });
});

it('a day begins at midnight of its zone, and unknown zones are none', () => {
  expect(startOfDay('2026-11-22', 'Asia/Tashkent')).toBe('2026-11-21T19:00:00.000Z');
  expect(endOfDay('2026-11-22', 'Asia/Tashkent')).toBe('2026-11-22T18:59:00.000Z');
  // Clocks are put forward from 22:00 GMT-2 of the 28th to 0:00 of the 29th.
  expect(endOfDay('2026-03-28', 'America/Nuuk')).toBe('2026-03-29T00:59:00.000Z');
  expect(dayIn(new Date('2026-11-21T19:00:00Z'), 'Asia/Tashkent')).toBe('2026-11-22');
  expect([isZone('Asia/Tashkent'), isZone('Mars/Olympus')]).toEqual([true, false]);
});

it('a day whose year is being typed is none', () => {
  expect(['2026-10-03', '1970-01-01', '2099-12-31'].filter(isDay)).toHaveLength(3);
  expect(['0002-10-03', '0202-10-03', '20260-10-03', '9999-12-31', '2026-13-45', 'x', ''].filter(isDay)).toEqual([]);
});
