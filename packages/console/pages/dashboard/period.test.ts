import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { dayIn } from '../../i18n/zone/days.ts';
import { daysOf, periodOfDay, periods } from './period.ts';

const ZONES = ['UTC', 'Asia/Tashkent', 'Asia/Kathmandu', 'America/New_York', 'America/Santiago', 'Pacific/Apia'];

describe('the periods of the dashboard', () => {
  it.each([
    ['a common day', '2024-09-10', 'America/Santiago', '2024-09-10T03:00:00.000Z'],
    ['a day whose midnight is skipped', '2024-09-08', 'America/Santiago', '2024-09-08T04:00:00.000Z'],
    ['a day before which an hour is repeated', '2024-04-07', 'America/Santiago', '2024-04-07T04:00:00.000Z'],
    ['a day with two midnights', '2024-11-03', 'America/Havana', '2024-11-03T04:00:00.000Z'],
    ['a day in a zone of quarters of an hour', '2024-11-03', 'Asia/Kathmandu', '2024-11-02T18:15:00.000Z'],
  ])('begin %s with its first instant', (_, day, zone, instant) => {
    expect(periodOfDay(day, zone).started_from).toBe(instant);
  });

  it('have the requested number of consecutive days, in any time zone and across clock changes', () => {
    const instants = fc.date({ min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(instants, fc.constantFrom(...ZONES), fc.integer({ min: 1, max: 400 }), (now, zone, length) => {
        const period = periods(length, zone, dayIn(now, zone));
        const days = daysOf(period.now, zone);
        expect(days).toHaveLength(length);
        expect(new Set(days).size).toBe(length);
        expect(daysOf(period.before, zone).at(-1)! < days[0]!).toBe(true);
        const [first, last] = [periodOfDay(days[0]!, zone), periodOfDay(days.at(-1)!, zone)];
        expect([first.started_from, last.started_to]).toEqual([period.now.started_from, period.now.started_to]);
        expect(Date.parse(first.started_from) <= now.getTime() && now.getTime() < Date.parse(last.started_to)).toBe(
          true,
        );
      }),
    );
  });
});
