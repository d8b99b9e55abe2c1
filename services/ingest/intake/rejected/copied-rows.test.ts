import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { readCsv, type RawRecord } from '../csv/reader.ts';
import { transcriptColumns } from '../rows/call-fields.ts';
import { checkTranscriptRow } from '../rows/check-row.ts';
import { rowFault } from '../rows/row-fault.ts';
import { rejectedHeader, rejectedLine } from './copied-rows.ts';

const LIMITS = { maxBytes: 1e9, maxRows: 1e6, maxTextBytes: 10_000 };
const rules = { segmentTypes: new Set(['support']), maxTextBytes: 10_000, maxValueChars: 255 };

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function read(text: string) {
  const file = await readCsv(bytesOf(text), transcriptColumns, LIMITS);
  const records: RawRecord[] = [];
  for await (const batch of file.batches) records.push(...batch);
  return { file, records };
}

/** The CSV of rejected rows that a file results in, and the faults. */
async function rejectedOf(text: string) {
  const { file, records } = await read(text);
  const check = checkTranscriptRow(file, rules);
  let csv = rejectedHeader(file);
  const faults = [];
  for (const record of records) {
    const checked = check(record);
    if (checked.record !== null) continue;
    csv += rejectedLine(file, record, checked.faults);
    faults.push(...checked.faults.map(({ column, code }) => `${column} ${code}`));
  }
  return { csv, faults };
}

const HEADER = 'client_phone_number;operator_name;duration;anonymized_text;start_time;segment_type';

describe('the CSV of rejected rows', () => {
  it('has the columns as they came, followed by the reasons', async () => {
    const { csv } = await rejectedOf(`My Note;;${HEADER}\na;b;+998901234567; Anna ;x;"<client>Hi; ""you""";;support\n`);
    expect(csv).toBe(
      'My Note;;client_phone_number;operator_name;duration;anonymized_text;start_time;segment_type;reject_reason\r\n' +
        'a;b;+998901234567;" Anna ";x;"<client>Hi; ""you""";;support;' +
        '"INVALID_DURATION: duration must be whole seconds from 0 to 86400, digits only. ' +
        'Remove signs, units and separators.; REQUIRED: start_time is empty. Fill it in."\r\n',
    );
  });

  it.each([
    ['', ';'],
    ['\ufeff', ';'],
    ['\ufeff', ','],
    ['\ufeff', '\t'],
    ['sep=;\n', ';'],
    ['\ufeffsep=,\r\n', ','],
    ['SEP=\t\r\n', '\t'],
  ])(
    'begins like the uploaded file (%j) and has its separator (%j), so the program that wrote the file can open it',
    async (beginning, separator) => {
      const header = HEADER.split(';').join(separator);
      const row = ['12', 'A;n,n\ta', '60', '<client>Hi', '2026-01-01T10:00', 'support'].map((value) => `"${value}"`);
      const { csv, faults } = await rejectedOf(`${beginning}${header}\n${row.join(separator)}\n`);
      const declared = beginning.replace('SEP', 'sep').replace(/\r?\n/, '\r\n');
      const expected = `${declared}${header}${separator}reject_reason\r\n12${separator}"A;n,n\ta"${separator}60`;
      expect(csv.slice(0, expected.length)).toBe(expected);
      expect(await rejectedOf(csv)).toEqual({ csv, faults });
    },
  );

  it('has its own reject_reason instead of one that was uploaded', async () => {
    const row = 'old;1;A;1;<client>Hi;1700000000;support;older';
    const { csv } = await rejectedOf(`reject_reason;${HEADER}; Reject_Reason \n${row}\n`);
    const again = await read(csv);
    expect(again.file.names.filter((name) => name === 'reject_reason')).toHaveLength(1);
    expect(again.file.names.at(-1)).toBe('reject_reason');
    expect(again.file.ignoredColumns).toEqual([]);
    expect(csv).not.toContain('old');
  });

  it('is refused for the same reasons when it is uploaded unchanged, and accepted once corrected', async () => {
    const row = ['12', 'Анна', '60', '<оператор>Привет', '2026-01-01T10:00', 'support'].join(';');
    const { csv, faults } = await rejectedOf(`${HEADER}\n${row}\n`);
    const again = await rejectedOf(csv);
    expect(again.faults).toEqual(faults);
    expect(again.csv).toBe(csv);
    expect((await rejectedOf(csv.replace('12;', '+998901234567;'))).faults).toEqual([]);
  });

  it('contains the beginning of a value that was too long, notes that, and is refused again when uploaded unchanged', async () => {
    const long = (letter: string) => letter.repeat(50_000);
    const { csv, faults } = await rejectedOf(
      `${HEADER};memo\n+998901234567;${long('n')};1;<client>${long('t')};1700000000;support;${long('m')}\n`,
    );
    expect(faults).toEqual(['operator_name TOO_LONG', 'anonymized_text TOO_LONG']);
    expect(csv).toContain('CUT: memo was too long to be kept; these are its first 32767 characters');
    expect(csv.length).toBeLessThan(55_000);
    expect((await rejectedOf(csv)).faults).toEqual(faults);
  });

  it('returns any row exactly as it came', async () => {
    const field = fc.string({
      unit: fc.constantFrom('a', ' ', '"', ',', ';', '\t', '\n', '\r', '=', '+', 'я', '😀', '\u00a0', '\ufeff'),
      maxLength: 8,
    });
    const form = fc.record({
      separator: fc.constantFrom(',' as const, ';' as const, '\t' as const),
      hasMark: fc.boolean(),
      isDeclared: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(field, { maxLength: 8 }), form, async (fields, written) => {
        fc.pre(fields.some((value) => value.trim() !== ''));
        const names = [...transcriptColumns.slice(0, 6).map(({ name }) => name), 'a,"b"', ''];
        const columns = { ...written, names, rejectReasons: [] };
        const fault = rowFault(2, 'duration', '', 'REQUIRED', 'say, "what"');
        const line = rejectedLine(columns, { fields, cut: null }, [fault]);
        const { file, records } = await read(rejectedHeader(columns) + line);
        expect(file.names).toEqual([...names, 'reject_reason']);
        expect(file).toMatchObject(written);
        const padded = [...fields, ...Array.from({ length: names.length - fields.length }, () => '')];
        expect(records[0]?.fields).toEqual([...padded, 'REQUIRED: say, "what"']);
      }),
    );
  });
});
