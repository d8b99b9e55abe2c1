import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parseStartTime, parseTranscriptionStartTime } from './start-time.ts';

const utc = (text: string) => new Date(text).getTime();
const two = (value: number) => String(value).padStart(2, '0');

/** The instant by the built-in calendar, which rolls over what does not exist; null for that. */
function calendar(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const same =
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    date.getUTCHours() === hour &&
    date.getUTCMinutes() === minute &&
    date.getUTCSeconds() === second;
  return same ? date.getTime() : null;
}

describe('a start_time in ISO 8601', () => {
  it.each([
    ['2026-01-31T09:30:05', '2026-01-31T09:30:05Z'],
    ['2026-01-31 09:30:05', '2026-01-31T09:30:05Z'],
    ['2026-01-31T09:30', '2026-01-31T09:30:00Z'],
    ['2026-01-31T09:30Z', '2026-01-31T09:30:00Z'],
    ['2026-01-31T09:30:05Z', '2026-01-31T09:30:05Z'],
    ['2026-01-31T09:30:05.1239', '2026-01-31T09:30:05.123Z'],
    ['2026-01-31T09:30:05,5+05:00', '2026-01-31T04:30:05.500Z'],
    ['2026-01-31T09:30:05+0530', '2026-01-31T04:00:05Z'],
    ['2026-01-31 09:30:05-05', '2026-01-31T14:30:05Z'],
    ['2026-01-31T09:30+05', '2026-01-31T04:30:00Z'],
    ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
    ['0001-01-01T00:00:00', '0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59', '9999-12-31T23:59:59Z'],
  ])('%s is %s', (text, wanted) => {
    expect(parseStartTime(text)).toBe(utc(wanted));
    expect(parseTranscriptionStartTime(text)).toBe(utc(wanted));
  });

  it.each([
    '',
    '2026-01-31',
    '2026-01-31T',
    '2026-01-31T09',
    '2026-02-29T09:30:05',
    '2100-02-29T09:30:05',
    '2026-04-31T09:30',
    '2026-13-01T09:30',
    '2026-00-01T09:30',
    '2026-01-00T09:30',
    '2026-01-31T24:00:00',
    '2026-01-31T09:60',
    '2026-01-31T23:59:60',
    '2026-01-31t09:30',
    '2026-01-31T09:30z',
    '2026-01-31T09:30:05.',
    '2026-01-31T09:30.5',
    '2026-01-31T09:30:05 Z',
    '2026-1-31T09:30',
    '2026-01-31T09:30:05+24:00',
    '2026-01-31T09:30:05+05:60',
    '2026-01-31T09:30:05+5',
    '2026-01-31T09:30:05+',
    '2026-01-31T09:30:05+05:',
    '2026-01-31T09:30:05+05:0',
    '2026-01-31T09:30:05Z+05',
    '2026-01-31T09:30:05ZZ',
    '2026-01-31  09:30',
    '20260131T093005',
    '31.01.2026 09:30',
    '2026/01/31 09:30',
    '+2026-01-31T09:30',
    '-026-01-31T09:30',
    '٢٠٢٦-01-31T09:30',
    '0000-01-01T00:00',
    '0001-01-01T00:00+01',
    '9999-12-31T23:00-01',
    '2026-01-31T09:30:5',
    '2026-01-31T09:30:',
    'now',
    '1700000000.5',
    '2026-W05-6T09:30',
    '2026-031T09:30:00Z',
  ])('%j is refused', (text) => {
    expect(parseStartTime(text)).toMatchObject({ fault: 'INVALID_DATETIME' });
    expect(parseTranscriptionStartTime(text)).toMatchObject({ fault: 'INVALID_DATETIME' });
  });

  it('the parser agrees with the calendar on any day and time, existing or not, with any offset', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 9998 }),
        fc.nat(13),
        fc.nat(32),
        fc.nat(25),
        fc.nat(61),
        fc.nat(61),
        fc.integer({ min: -1439, max: 1439 }),
        (year, month, day, hour, minute, second, offset) => {
          const sign = offset < 0 ? '-' : '+';
          const zone = `${sign}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
          const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
          const text = `${date}T${two(hour)}:${two(minute)}:${two(second)}${zone}`;
          const instant = calendar(year, month, day, hour, minute, second);
          if (instant === null) expect(parseStartTime(text)).toMatchObject({ fault: 'INVALID_DATETIME' });
          else expect(parseStartTime(text)).toBe(instant - offset * 60_000);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('a start_time in Unix seconds', () => {
  it.each(['946684800', '1700000000', '4102444799'])('%s is accepted only in transcriptions', (text) => {
    expect(parseTranscriptionStartTime(text)).toBe(Number(text) * 1000);
    expect(parseStartTime(text)).toMatchObject({ fault: 'INVALID_DATETIME' });
  });

  it.each([
    ['946684799', 'from 2000-01-01'],
    ['4102444800', 'before 2100-01-01'],
    ['0', 'from 2000-01-01'],
    ['45321', 'Excel'],
    ['45321.5', 'Excel'],
    ['20260102', 'YYYYMMDD'],
    ['20260102093005', 'YYYYMMDD'],
    ['1700000000000', 'milliseconds'],
    ['1700000000000000', 'microseconds'],
    ['1700000000000000000', 'nanoseconds'],
    ['1700000000.0', 'whole number'],
    ['-1700000000', 'no sign'],
    ['2026-01-31', 'time of day is missing'],
    ['31.01.2026 09:30', 'year first'],
    ['1/31/2026 9:30', 'year first'],
    ['2026-02-30 09:30:00', 'day exists'],
    ['9'.repeat(255), '2100-01-01'],
  ])('does not include %s, and the message says what it looks like', (text, advice) => {
    expect(parseTranscriptionStartTime(text)).toMatchObject({
      fault: 'INVALID_DATETIME',
      message: expect.stringContaining(advice),
    });
  });
});

describe('a start_time that is not a time', () => {
  it.each(['1767323045', '1767323045000'])(
    '%s is refused with a message that says where Unix seconds are accepted',
    (text) => {
      expect(parseStartTime(text)).toMatchObject({
        message: expect.stringContaining(
          'Unix seconds are accepted only in CSVs of transcripts. Write the date and time.',
        ),
      });
    },
  );

  it.each([
    ['20260102', 'YYYYMMDD'],
    ['45321', 'Excel'],
    ['7', 'hyphens'],
  ])(
    'in digits only (%s) is refused with a message that says what it looks like, in every kind of upload',
    (text, advice) => {
      expect(parseStartTime(text)).toMatchObject({ message: expect.stringContaining(advice) });
    },
  );

  it.each(['+25:00', '-24:00', '+05:60', '+9900', '+24', '-0560'])('for its offset %s has it named', (offset) => {
    for (const date of ['2026-01-31T09:30', '2026-01-31 09:30:15.250']) {
      const message = expect.stringContaining(`The offset ${offset} is out of range: hours go to 23, minutes to 59.`);
      expect(parseStartTime(date + offset)).toMatchObject({ message });
      expect(parseTranscriptionStartTime(date + offset)).toMatchObject({ message });
    }
  });

  it.each([' +0500', ' UTC', ' GMT+5'])('followed by %j is refused with a message that says what may follow', (end) => {
    const message = expect.stringContaining('only an offset follows, without a space: Z or +05:00.');
    expect(parseStartTime(`2026-01-31 09:30:00${end}`)).toMatchObject({ message });
  });

  it('with a day that does not exist is refused without a word on its offset', () => {
    expect(parseStartTime('2026-02-30T09:30+25:00')).toMatchObject({ message: expect.stringContaining('day exists') });
  });
});
