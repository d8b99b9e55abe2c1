import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { CsvScanner, type RawRecord } from './scanner.ts';

function scan(pieces: readonly string[], separator: ',' | ';' | '\t' = ','): RawRecord[] | string {
  const scanner = new CsvScanner({
    separator,
    width: 3,
    keep: [5, 8],
    keepIgnored: 4,
    keepIgnoredOfRecord: 6,
    maxRows: 5,
    batchRows: 2,
  });
  const records: RawRecord[] = [];
  try {
    for (const piece of pieces) {
      scanner.push(piece);
      for (let batch = scanner.next(); batch !== null; batch = scanner.next()) records.push(...batch);
    }
    records.push(...(scanner.end() ?? []));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.message;
  }
  return records;
}

describe('the scanner', () => {
  it('returns the same records, cuts and faults however the text is divided into pieces', () => {
    const units = [
      'a',
      'bcd',
      '"',
      '""',
      ',',
      ';',
      '\t',
      '\n',
      '\r\n',
      '\r',
      ' ',
      '\ufeff',
      '"e,f"',
      '"longer than kept"',
      ',,',
    ];
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...units), maxLength: 40 }),
        fc.constantFrom<',' | ';' | '\t'>(',', ';', '\t'),
        fc.array(fc.nat(4), { maxLength: 60 }),
        (text, separator, sizes) => {
          const pieces: string[] = [];
          let from = 0;
          for (const size of sizes) pieces.push(text.slice(from, (from += size)));
          pieces.push(text.slice(from));
          expect(scan(pieces, separator)).toEqual(scan([text], separator));
          expect(scan(Array.from(text), separator)).toEqual(scan([text], separator));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each(['\ufeff', '\u00a0', '\u000b', '\u000c', '\u3000', '\u2028', ' \ufeff\t'])(
    'removes %j around a quoted field, as it is trimmed of an unquoted one',
    (white) => {
      const expected = [{ row: 1, fields: ['a,b', 'c'], cut: null }];
      const text = `${white}"a,b"${white},${white}"c"\n`;
      expect(scan([text])).toEqual(expected);
      expect(scan(Array.from(text))).toEqual(expected);
    },
  );

  it('keeps no more of a record than its layout allows', () => {
    expect(scan(['123456,12345678,12345\n'])).toEqual([{ row: 1, fields: ['12345', '12345678', '1234'], cut: [0, 2] }]);
  });
});
