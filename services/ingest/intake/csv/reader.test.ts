import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parseString } from 'fast-csv';
import { BATCH_ROWS, readCsv, type Column, type CsvLimits, type RawRecord } from './reader.ts';

const KNOWN: Column[] = [
  { name: 'id', required: true },
  { name: 'text', required: true, long: true },
  { name: 'note', required: false },
];
const LIMITS: CsvLimits = { maxBytes: 1e9, maxRows: 1e6, maxTextBytes: 4 * 1024 * 1024 };

async function* inChunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const size of sizes) {
    yield bytes.subarray(from, from + size);
    from += size;
  }
  yield bytes.subarray(from);
}

async function read(
  input: string | Uint8Array | AsyncIterable<Uint8Array>,
  { known = KNOWN, limits = LIMITS, sizes = [] as readonly number[] } = {},
) {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const file = await readCsv(bytes instanceof Uint8Array ? inChunks(bytes, sizes) : bytes, known, limits);
  const records: RawRecord[] = [];
  for await (const batch of file.batches) records.push(...batch);
  return { ...file, records };
}

async function faultOf(reading: Promise<unknown>): Promise<Fault> {
  const outcome = await reading.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Fault)) throw new Error('expected a Fault', { cause: outcome });
  return outcome;
}

const rows = (records: readonly RawRecord[]) => records.map(({ row, fields }) => [row, ...fields]);

describe('a CSV file', () => {
  it('is read with the row numbers of a spreadsheet, where the header is row 1', async () => {
    const file = await read('id,text\n1,one\n2,two\n');
    expect(rows(file.records)).toEqual([
      [2, '1', 'one'],
      [3, '2', 'two'],
    ]);
  });

  it('may mix LF and CRLF line ends, and end without one', async () => {
    expect(rows((await read('id,text\r\n1,one\n2,two\r\n3,three')).records)).toEqual([
      [2, '1', 'one'],
      [3, '2', 'two'],
      [4, '3', 'three'],
    ]);
  });

  it('keeps separators, line ends and doubled quotes of a quoted field, and numbers records rather than lines', async () => {
    const file = await read('id,text\n1,"a,b\r\nsaid ""no"""\n2,""\n');
    expect(rows(file.records)).toEqual([
      [2, '1', 'a,b\r\nsaid "no"'],
      [3, '2', ''],
    ]);
  });

  it('may have blanks around a quoted field, and quotes inside an unquoted field', async () => {
    const file = await read('id,text\n1 , "a,b" \n2,5" pipe\n');
    expect(rows(file.records)).toEqual([
      [2, '1 ', 'a,b'],
      [3, '2', '5" pipe'],
    ]);
  });

  it('may be joined from files that begin with a byte order mark', async () => {
    const mark = '\ufeff';
    const file = await read(`${mark}"id","text"\n1,"a,b"\n${mark}"2","c,d"\n`);
    expect(rows(file.records)).toEqual([
      [2, '1', 'a,b'],
      [3, '2', 'c,d'],
    ]);
  });

  it('has records of only empty fields skipped but counted for row numbers', async () => {
    const file = await read('id,text\n\n1,one\n , \n"",\r\n\r\n2,two\n\n');
    expect(rows(file.records)).toEqual([
      [3, '1', 'one'],
      [7, '2', 'two'],
    ]);
  });

  it('may have empty fields beyond the header, and records shorter than the header', async () => {
    const file = await read(`id,text\n1,one,, ,""\n2\n`);
    expect(rows(file.records)).toEqual([
      [2, '1', 'one'],
      [3, '2'],
    ]);
  });

  it.each([
    [',', 'id,"te;xt",text\n1;2,x,one\n'],
    [';', 'id;"te,xt";text\n1,2;x;one\n'],
    ['\t', 'id\tx;y,z\ttext\n1\t,;\tone\n'],
  ])('has its separator %j recognized from the header', async (separator, text) => {
    const file = await read(text);
    expect(file.separator).toBe(separator);
    expect(file.records[0]?.fields).toHaveLength(3);
    expect(file.records[0]?.fields[2]).toBe('one');
  });

  it.each([
    ['sep=;\r\nid;text\r\n1;one\r\n', ';'],
    ['\ufeff"sep=;"\r\nid;text\r\n1;one\r\n', ';'],
    ['SEP=,\nid,text\n1,one\n', ','],
    ['\ufeffsep=\t\nid\ttext\n1\tone\n', '\t'],
  ])('has the separator of its first line %j, which is not counted as a row', async (text, separator) => {
    const file = await read(text);
    expect(file.separator).toBe(separator);
    expect(rows(file.records)).toEqual([[2, '1', 'one']]);
  });

  it('has its declared separator even when the header suggests another', async () => {
    expect((await faultOf(read('sep=;\nid,text\n1,one\n'))).code).toBe('MISSING_COLUMN');
  });

  it('is read the same with and without a byte order mark', async () => {
    expect((await read('\ufeff"id",text\n1,one\n')).columns).toEqual((await read('id,text\n1,one\n')).columns);
  });

  it('may have column names in any case with white space around them, and each ignored name is reported once', async () => {
    const file = await read(' ID ,TexT,Extra,,extra,Extra, reject_reason,\n1,one,a,b,c,d,e,f\n');
    expect([...file.columns]).toEqual([
      ['id', 0],
      ['text', 1],
    ]);
    expect(file.ignoredColumns).toEqual(['Extra', 'column 4', 'column 8']);
    expect(file.records[0]?.fields).toEqual(['1', 'one', 'a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('with invisible characters in its header has them shown', async () => {
    const { message } = await faultOf(read('\u200bid,text\n1,one\n'));
    expect(message).toContain('The header lacks these columns: id. Split by commas it has: [U+200B]id, text.');
  });

  it('that was uploaded as part of a form is refused with the advice to put the file itself', async () => {
    const form = new FormData();
    form.append('file', new Blob(['id,text\n1,one\n']), 'a.csv');
    const { code, message } = await faultOf(read(new Uint8Array(await new Response(form).arrayBuffer())));
    expect([code, message]).toEqual(['MISSING_COLUMN', expect.stringMatching(/Put the bytes of the file itself/)]);
  });

  it('is returned in batches of limited size', async () => {
    const file = await readCsv(inChunks(Buffer.from(`id,text\n${'1,2\n'.repeat(2500)}`), []), KNOWN, LIMITS);
    const sizes: number[] = [];
    for await (const batch of file.batches) sizes.push(batch.length);
    expect(sizes).toEqual([BATCH_ROWS, BATCH_ROWS, 500]);
  });

  it('has its source closed when the reader stops early and when the header is refused', async () => {
    let closed = 0;
    async function* source(header: string) {
      try {
        yield Buffer.from(`${header}\n${'1,one\n'.repeat(50_000)}`);
        yield Buffer.from('2,two\n');
      } finally {
        closed++;
      }
    }
    for await (const batch of (await readCsv(source('id,text'), KNOWN, LIMITS)).batches) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    await faultOf(readCsv(source('a,b'), KNOWN, LIMITS));
    expect(closed).toBe(2);
  });
});

describe('a CSV is refused as a file', () => {
  it('with all missing and all duplicate columns named', async () => {
    const known = [...KNOWN, { name: 'date', required: true }];
    const fault = await faultOf(read('note,Note, ID\n1,2,3\n', { known }));
    expect(fault).toMatchObject({
      kind: 'invalid',
      code: 'MISSING_COLUMN',
      details: { columns: ['text', 'date'], duplicate_columns: ['note'] },
    });
    expect(fault.message).toContain('text, date');
    expect(await faultOf(read('note,id,text,Note,ID\n1,2,3,4,5\n'))).toMatchObject({
      code: 'DUPLICATE_COLUMN',
      details: { columns: ['note', 'id'] },
    });
  });

  const empty = ['', '\ufeff', '\n\r\n', 'sep=,\n', 'id,text\n', 'id,text', 'id,text\n\n,\n'];
  it.each(empty)('when it is %j', async (text) => {
    expect((await faultOf(read(text))).code).toBe('EMPTY_FILE');
  });

  it.each([
    ['an open quote, with the row where it opened', 'id,text\n1,one\n2,"two\n3,three\n', 3],
    ['text behind a closing quote', 'id,text\n1,"one"x\n', 2],
    ['more fields than the header', 'id,text\n1,one\n\n2,two,three\n', 4],
    ['a NUL', 'id,text\n1,one\n2,t\0wo\n', 3],
    ['lines that end in CR alone', 'id,text\r1,one\r2,two\r', 1],
    ['one line that ends in CR alone', 'id,text\r\n1,one\r\n2,two\r3,three\r\n', 3],
    ['CR behind a closing quote', 'id,text\n1,"one"\r2,two\n', 2],
    ['a CR as last character', 'id,text\n1,one\r', 2],
    ['an open quote in the header', 'id,"text\n1,one\n', 1],
  ])('for %s', async (_, text, row) => {
    expect(await faultOf(read(text))).toMatchObject({ code: 'INVALID_CSV', details: { row } });
  });

  it('for a header that never ends, and for more columns than a spreadsheet can have', async () => {
    expect((await faultOf(read('x'.repeat(3_000_000)))).code).toBe('INVALID_CSV');
    expect((await faultOf(read(`"${'x\n'.repeat(1_500_000)}`))).code).toBe('INVALID_CSV');
    const fault = await faultOf(read(`id,text${',x'.repeat(20_000)}\n1,one\n`));
    expect(fault).toMatchObject({ code: 'INVALID_CSV', message: expect.stringContaining('20002 columns') });
  });

  it('over the limits of bytes and of rows, not counting blank rows', async () => {
    const text = 'id,text\n1,one\n\n2,two\n\n';
    const size = Buffer.byteLength(text);
    await read(text, { limits: { ...LIMITS, maxBytes: size, maxRows: 2 } });
    expect((await faultOf(read(text, { limits: { ...LIMITS, maxBytes: size - 1 } }))).code).toBe('FILE_TOO_LARGE');
    expect((await faultOf(read(text, { limits: { ...LIMITS, maxRows: 1 } }))).code).toBe('TOO_MANY_ROWS');
  });

  const russian = 'id,text\n1,Добрый день, чем могу помочь?\n';
  it.each([
    ['UTF-16 LE', Buffer.from(`\ufeff${russian}`, 'utf16le')],
    ['UTF-16 LE', Buffer.from(russian, 'utf16le')],
    ['UTF-16 BE', Buffer.from(`\ufeff${russian}`, 'utf16le').swap16()],
    ['UTF-16 BE', Buffer.from(russian, 'utf16le').swap16()],
    ['Windows-1251', windows1251(russian)],
    ['Latin-1', Buffer.from('id,text\n1,¿Qué pasó mañana? Él está aquí\n', 'latin1')],
    [null, Buffer.concat([Buffer.from('id,text\n1,'), Buffer.from([0x80, 0x81, 0x85]), Buffer.from('\n')])],
  ])('in %s, with advice on how to save it', async (looksLike, bytes) => {
    const fault = await faultOf(read(bytes));
    expect(fault).toMatchObject({ code: 'INVALID_ENCODING', details: { looks_like: looksLike } });
    expect(fault.message).toContain(looksLike ?? 'could not be recognised');
    expect(fault.message).toContain('UTF-8');
  });

  it.each([
    ['an Excel workbook (.xlsx) or another ZIP', 'PK\x03\x04\x14\0\x06\0\x08\0'],
    ['an Excel workbook (.xls)', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0'],
    ['a file compressed by gzip', '\x1f\x8b\x08\0\0\0\0\0\0\x03'],
  ])('that is %s, with advice on how to save it', async (what, start) => {
    const fault = await faultOf(read(Buffer.from(start + 'x'.repeat(100), 'latin1')));
    expect(fault).toMatchObject({ code: 'INVALID_ENCODING', details: { looks_like: what, row: null } });
    expect(fault.message).toMatch(new RegExp('it looks like an? .*CSV UTF-8'));
  });

  it('with the row of the first bytes that are not UTF-8, anywhere in the file', async () => {
    const good = Buffer.from(`id,text\n${'1,Добрый день\n'.repeat(30_000)}`);
    const fault = await faultOf(read(Buffer.concat([good, windows1251('2,Добрый день\n')])));
    expect(fault).toMatchObject({ code: 'INVALID_ENCODING', details: { row: 30_002, looks_like: 'Windows-1251' } });
  });

  it('when it ends in the middle of a character', async () => {
    expect(await faultOf(read(Buffer.from('id,text\n1,я').subarray(0, -1)))).toMatchObject({
      code: 'INVALID_ENCODING',
      details: { row: 2 },
    });
  });

  it.each([
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point over U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a lone continuation byte', [0x80]],
  ])('for %s', async (_, bytes) => {
    const file = Buffer.concat([Buffer.from('id,text\n1,'), Buffer.from(bytes), Buffer.from('\n')]);
    expect((await faultOf(read(file))).code).toBe('INVALID_ENCODING');
  });
});

describe('memory is limited', () => {
  const limits = { ...LIMITS, maxTextBytes: 10_000 };

  it.each([
    ['unquoted', (text: string) => text],
    ['quoted', (text: string) => `"${text}"`],
    ['quoted with doubled quotes', (text: string) => `"${text.replaceAll('aa', '""')}"`],
  ])('by cutting and marking an %s field that is too long', async (_, write) => {
    const long = write('a'.repeat(300_000));
    const file = await read(`id,text,note,other\n1,${long},${long},${long}\n2,two,n,o\n`, { limits });
    const [first, second] = file.records;
    expect(first?.cut).toEqual([1, 2, 3]);
    expect(first?.fields.map((field) => field.length)).toEqual([1, 14_096, 4096, 32_767]);
    expect(second).toEqual({ row: 3, fields: ['2', 'two', 'n', 'o'], cut: null });
  });

  it('by keeping a fixed amount of all ignored columns of a record', async () => {
    const values = `,${'y'.repeat(32_000)}`.repeat(200);
    const file = await read(`id,text${',x'.repeat(200)}\n1,one${values}\n2,two\n`, { limits });
    const [first, second] = file.records;
    expect(first?.fields.join('').length).toBe(4 + 4 * 1024 * 1024);
    expect(first?.cut).toHaveLength(200 - Math.floor((4 * 1024 * 1024) / 32_000));
    expect(second?.cut).toBeNull();
  });

  it('by counting but not keeping empty fields beyond the header', async () => {
    const file = await read(`id,text\n1,one${','.repeat(500_000)}\n`);
    expect(file.records[0]?.fields).toEqual(['1', 'one']);
  });
});

const cell = fc.string({
  unit: fc.constantFrom('a', 'B', '7', ' ', '"', ',', ';', '\t', '\n', '\r', '\r\n', 'é', 'я', '€', '😀', '\u00a0'),
  maxLength: 12,
});
const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 12 });
const write = (field: string) => `"${field.replaceAll('"', '""')}"`;

describe('any table', () => {
  it('is read as it was written, with any separator and line end', async () => {
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        async (cells, separator, lineEnd, declared) => {
          const lines = [['id', 'text', 'note'], ...cells].map((line) => line.map(write).join(separator) + lineEnd);
          const wanted = cells
            .map((line, index) => [index + 2, ...line])
            .filter(([, ...line]) => line.some((field) => String(field).trim() !== ''));
          if (wanted.length === 0) return;
          const file = await read((declared ? `sep=${separator}${lineEnd}` : '') + lines.join(''));
          expect(rows(file.records)).toEqual(wanted);
        },
      ),
    );
  });

  it('gives the same records, or the same fault, however it is divided into chunks', async () => {
    const anyText = fc.string({
      unit: fc.constantFrom('a', '"', '""', ',', '\n', '\r\n', '\r', ' ', 'я', '😀', '"b,c"', ',\n'),
      maxLength: 40,
    });
    const outcome = (reading: ReturnType<typeof read>) =>
      reading.then(
        (file) => rows(file.records),
        (error: unknown) => (error instanceof Fault ? [error.code, error.message] : Promise.reject(error)),
      );
    await fc.assert(
      fc.asyncProperty(anyText, fc.array(fc.nat(5), { maxLength: 40 }), fc.nat(60), async (text, sizes, back) => {
        const bytes = Buffer.from(`id,text,note\n${text}`);
        expect(await outcome(read(bytes, { sizes }))).toEqual(await outcome(read(bytes)));
        // Small chunks are joined to pieces of 64 KiB. This one ends `back` bytes into the text.
        const padding = 'x'.repeat(64 * 1024 - Buffer.byteLength('id,text,note\n1,""\n') - back);
        const far = Buffer.from(`id,text,note\n1,"${padding}"\n${text}`);
        expect(await outcome(read(far, { sizes: [64 * 1024] }))).toEqual(await outcome(read(far)));
      }),
      { numRuns: 300 },
    );
  });

  it('is read as fast-csv reads it, when it is well-formed', async () => {
    const plain = fc.string({ unit: fc.constantFrom('a', 'я', '1', '.', '+'), minLength: 1, maxLength: 6 });
    const quoted = cell.map((text) => write(text.replaceAll('\r', '')));
    const field = fc.oneof(plain, plain.map(write), quoted, fc.constant(''));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(field, field, field), { minLength: 1, maxLength: 8 }),
        fc.constantFrom('\n', '\r\n'),
        async (cells, lineEnd) => {
          const text = ['id,text,note', ...cells.map((line) => line.join(','))].join(lineEnd) + lineEnd;
          const theirs = await new Promise<string[][]>((resolve, reject) => {
            const all: string[][] = [];
            parseString<string[], string[]>(text)
              .on('error', reject)
              .on('data', (line: string[]) => all.push(line))
              .on('end', () => resolve(all));
          });
          const wanted = theirs.slice(1).filter((line) => line.some((value) => value.trim() !== ''));
          if (wanted.length === 0) return;
          expect((await read(text)).records.map((record) => [...record.fields])).toEqual(wanted);
        },
      ),
    );
  });

  it('of random bytes results in records or in a Fault', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (tail) => {
        const bytes = Buffer.concat([Buffer.from('id,text\n'), tail]);
        await read(bytes).catch((error: unknown) => expect(error).toBeInstanceOf(Fault));
      }),
    );
  });
});

function windows1251(text: string): Buffer {
  return Buffer.from(
    Array.from(text, (letter) => {
      const code = letter.charCodeAt(0);
      return code < 128 ? code : code - 0x410 + 0xc0;
    }),
  );
}
