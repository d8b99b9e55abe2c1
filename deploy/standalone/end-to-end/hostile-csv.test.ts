import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../test/client/new-firm.ts';
import { type Problem, problemOf } from '../test/client/problem.ts';
import { eventually, fetchWhenAvailable } from '../test/client/retry.ts';
import { header, row } from '../test/client/valid-uploads.ts';
import { growthMiB } from '../test/system/memory.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

interface Fault {
  row: number | null;
  column: string | null;
  value: string | null;
  code: string;
  message: string;
}
type Accepted = Batch & { message: string; ignored_columns: string[] };

let made = 0;

/** A row that is valid except for `values`. By default it has no quotes, and no commas in its fields. */
function record(values: Parameters<typeof row>[0] = {}): string {
  return row({ anonymized_text: '<operator>Good morning<client>Hello', partner_call_id: `csv-${made++}`, ...values });
}

let service: SystemUnderTest;
let client: Client;
beforeAll(async () => {
  service = await startSystemUnderTest();
  client = await newFirm(service);
});
afterAll(async () => {
  await service.stop();
});

function processing(key: string): Promise<Response> {
  return fetchWhenAvailable(`${service.url}/api/v1/calls/process-upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata_key: key }),
  });
}

async function accepted(csv: string | Uint8Array<ArrayBuffer>): Promise<Accepted> {
  const response = await processing(await client.upload(csv));
  const { data } = (await response.json()) as { data: Accepted };
  expect(response.status).toBe(200);
  return data;
}

async function refused(csv: string | Uint8Array<ArrayBuffer>): Promise<Problem & { faults: Fault[] }> {
  const response = await processing(await client.upload(csv));
  expect(response.status).toBe(400);
  const problem = await problemOf(response);
  return { ...problem, faults: (problem.details?.['faults'] ?? []) as Fault[] };
}

/** Uploads a file with its length, which an S3 store requires. Returns its key. */
async function uploadStream(parts: () => Generator<Uint8Array>): Promise<string> {
  const { data } = await client.call<{ data: { metadata_upload_url: string; metadata_key: string } }>(
    'POST',
    '/api/v1/calls/upload',
    { metadata_filename: 'large.csv' },
  );
  // Most parts are the same buffer, so this needs little memory.
  const pieces = [...parts()];
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const sending = request(data.metadata_upload_url, { method: 'PUT', headers: { 'content-length': length } });
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(pieces), sending);
  const [answer] = await answered;
  answer.resume();
  expect(answer.statusCode).toBe(200);
  return data.metadata_key;
}

// First, while the process has done and does nothing else.
describe('an upload with one huge value', () => {
  const MIB = 1024 * 1024;
  const CELL_MIB = 800;
  // Buffers that are not collected yet take between 50 and 150 MiB, for a cell of 100 MiB as for this one; on a busy machine 260.
  const FLAT_MIB = CELL_MIB / 2;

  function* hugeCell(): Generator<Uint8Array> {
    const [before, after] = record({ anonymized_text: '"<operator>|"' }).split('|');
    yield Buffer.from(header + record() + before);
    const chunk = Buffer.alloc(MIB, 'word ');
    for (let mib = 0; mib < CELL_MIB; mib++) yield chunk;
    yield Buffer.from(after! + record());
  }

  it('has a fault in its row, and is read in constant memory', async () => {
    let key = '';
    const uploading = await growthMiB(service.pids, async () => {
      key = await uploadStream(hugeCell);
    });
    expect(uploading).toBeLessThan(FLAT_MIB);
    let problem: Problem | undefined;
    const checking = await growthMiB(service.pids, async () => {
      const response = await processing(key);
      expect(response.status).toBe(400);
      problem = await problemOf(response);
    });
    expect(checking).toBeLessThan(FLAT_MIB);
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', details: { rows: 3, valid: 2, invalid: 1 } });
    const [fault, ...more] = problem!.details!['faults'] as Fault[];
    expect([fault, more]).toMatchObject([{ row: 3, column: 'anonymized_text', code: 'TOO_LONG' }, []]);
    expect(fault!.value!.length).toBeLessThan(10_000);
  });
});

describe('a CSV as real programs write it', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ['with a BOM', `\uFEFF${header}${record()}`],
    ['with CRLF', (header + record()).replaceAll('\n', '\r\n')],
    ['without a last line end', (header + record()).trimEnd()],
    ['with semicolons', (header + record()).replaceAll(',', ';')],
    ['with tabs', (header + record()).replaceAll(',', '\t')],
    ['that begins with sep=;', `sep=;\n${(header + record()).replaceAll(',', ';')}`],
    ['that begins with a BOM and sep=,', `\uFEFFsep=,\r\n${header}${record()}`],
    ['with capitals and spaces in its header', header.toUpperCase().replaceAll(',', ' , ') + record()],
    ['with every field in quotes', (header + record()).replaceAll(/[^,\n]+/g, '"$&"')],
    [
      'with line ends and quotes in a text',
      header + record({ anonymized_text: '"<operator>Say ""yes""\r\nor no<client>Yes, yes"' }),
    ],
    ['with empty lines and empty records', `${header}\n,,,,,,\n${record()}\n\n`],
    ['with Unix seconds', header + record({ start_time: '1790845200' })],
    [
      'with tags and names of other scripts',
      header + record({ operator_name: '🎧 Айгүл', anonymized_text: '<ОПЕРАТОР>Салом<Кардар>Саламатсызбы' }),
    ],
  ])('%s is taken', async (_, csv) => {
    expect(await accepted(csv)).toMatchObject({ accepted: 1, duplicates: 0, rejected: 0, ignored_columns: [] });
  });

  it('may have ten thousand unknown columns, which are reported as ignored', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `extra ${index}`);
    const csv = `${header.trimEnd()},${names.join(',')}\n${record().trimEnd()}${','.repeat(10_000)}\n`;
    const { ignored_columns } = await accepted(csv);
    expect(ignored_columns.slice(0, 2)).toEqual(['extra 0', 'extra 1']);
    expect(ignored_columns.length).toBeGreaterThanOrEqual(100);
  });
});

describe('a CSV that cannot be read', () => {
  const cyrillic = Uint8Array.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
  it.each<[string, () => string | Uint8Array<ArrayBuffer>, string, RegExp]>([
    ['that is empty', () => '', 'EMPTY_FILE', /./],
    ['that is a BOM', () => '\uFEFF', 'EMPTY_FILE', /./],
    ['of empty lines', () => '\n\r\n\n', 'EMPTY_FILE', /./],
    ['of a header alone', () => header, 'EMPTY_FILE', /./],
    ['in UTF-16 with a BOM', () => Buffer.from(`\uFEFF${header}${record()}`, 'utf16le'), 'INVALID_ENCODING', /UTF-16/],
    ['in UTF-16 without one', () => Buffer.from(header + record(), 'utf16le'), 'INVALID_ENCODING', /UTF-16/],
    [
      'in UTF-16, big end first',
      () => Buffer.from(`\uFEFF${header}${record()}`, 'utf16le').swap16(),
      'INVALID_ENCODING',
      /UTF-16/,
    ],
    [
      'in Windows-1251',
      () => Buffer.concat([Buffer.from(header), cyrillic, Buffer.from(record())]),
      'INVALID_ENCODING',
      /Windows-1251/,
    ],
    ['with a NUL', () => header + record({ operator_name: 'A\0n' }), 'INVALID_CSV', /NUL/],
    ['with an unclosed quote', () => `${header}"${record()}`, 'INVALID_CSV', /quote/],
    [
      'with more fields than the header',
      () => header + record() + record().replace('\n', ',x\n'),
      'INVALID_CSV',
      /Row 3/,
    ],
    [
      'without two of the columns',
      () => `client_phone_number,duration,start_time,segment_type\n1`,
      'MISSING_COLUMN',
      /operator_name.*anonymized_text/,
    ],
    ['with a column twice', () => `${header.trimEnd()}, Duration \n`, 'DUPLICATE_COLUMN', /duration/i],
    ['with __proto__ for a header', () => `__proto__,constructor\n1,2\n`, 'MISSING_COLUMN', /client_phone_number/],
    [
      'that is a workbook',
      () => Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(2_000, 0x9f)]),
      'INVALID_ENCODING',
      /./,
    ],
  ])('%s is refused with its code', async (_, csv, code, message) => {
    const problem = await refused(csv());
    expect([problem.code, problem.message]).toEqual([code, expect.stringMatching(message)]);
  });

  it('whose lines end with CR alone is refused with the reason, not read as one line', async () => {
    const problem = await refused((header + record() + record()).replaceAll('\n', '\r'));
    expect(problem.code).toMatch(/^(INVALID_CSV|MISSING_COLUMN|EMPTY_FILE)$/);
    expect(problem.message).toMatch(/CR\b|carriage return|line end/i);
  });
});

describe('invalid rows', () => {
  it.each([
    ['an Excel day number', '45931.375', /Excel/],
    ['an Excel day', '45931', /Excel/],
    ['milliseconds', '1790845200000', /milliseconds/i],
    ['a date run together', '20261001', /./],
    ['a date of a spreadsheet', '01.10.2026 09:00', /./],
    ['the 30th of February', '2026-02-30T09:00:00', /./],
  ])(
    'with %s as start time are refused, and the message says what the value looks like',
    async (_, start_time, message) => {
      const { code, faults } = await refused(header + record({ start_time }));
      expect(code).toBe('VALIDATION_FAILED');
      expect(faults).toEqual([
        {
          row: 2,
          column: 'start_time',
          value: start_time,
          code: 'INVALID_DATETIME',
          message: expect.stringMatching(message),
        },
      ]);
    },
  );

  it('are reported up to a hundred in the response, and all of them in the file to correct', async () => {
    const csv =
      header +
      record() +
      record({ client_phone_number: '12' })
        .repeat(101)
        .replaceAll(/csv-\d+/g, () => `csv-${made++}`);
    const { details, faults } = await refused(csv);
    expect(details).toMatchObject({ rows: 102, valid: 1, invalid: 101, faults_truncated: true });
    expect(faults.map(({ row }) => row)).toEqual(Array.from({ length: 100 }, (_, index) => index + 3));
    const file = await fetchWhenAvailable(details!['rejected_csv_url'] as string, {
      headers: { authorization: `Bearer ${client.token}` },
    });
    expect((await file.text()).trim().split('\n')).toHaveLength(102);
  });

  it('are reported with all their faults, and the corrected file is accepted', async () => {
    const bad = {
      client_phone_number: '+99 890',
      operator_name: ' ',
      duration: '1.5',
      anonymized_text: '<operator><client>x',
      start_time: 'now',
      segment_type: 'unknown',
    };
    const { faults } = await refused(header + record(bad));
    expect(new Set(faults.map(({ code }) => code))).toEqual(
      new Set([
        'INVALID_PHONE_NUMBER',
        'REQUIRED',
        'INVALID_DURATION',
        'EMPTY_UTTERANCE',
        'INVALID_DATETIME',
        'UNKNOWN_SEGMENT_TYPE',
      ]),
    );
    expect(faults.find(({ code }) => code === 'UNKNOWN_SEGMENT_TYPE')!.message).toContain('support');
    expect((await accepted(header + record())).accepted).toBe(1);
  });
});

describe('an upload at its limits', () => {
  it('with values one character over their limit is refused with TOO_LONG, and accepted at the limit', async () => {
    const { faults } = await refused(
      header + record({ operator_name: '🎧'.repeat(256), partner_call_id: 'x'.repeat(256) }),
    );
    expect(faults.map(({ column, code }) => [column, code])).toEqual([
      ['operator_name', 'TOO_LONG'],
      ['partner_call_id', 'TOO_LONG'],
    ]);
    expect((await accepted(header + record({ operator_name: '🎧'.repeat(255) }))).accepted).toBe(1);
  });

  it('with a transcript of nearly 4 MiB is accepted and analyzed', async () => {
    const text = `<operator>${'word '.repeat(800_000)}<client>Thank you`;
    const { batch_id } = await accepted(header + record({ anonymized_text: text }));
    await eventually(
      async () => (await client.call<Batch>('GET', `/api/v1/calls/batches/${batch_id}`)).finished_at !== null,
    );
    const batch = await client.call<Batch>('GET', `/api/v1/calls/batches/${batch_id}`);
    expect(batch.by_status).toEqual({ completed: 1 });
    const { items } = await client.listCalls<{ uuid: string }>(`batch=${batch_id}`);
    const call = await client.call<{ transcript: { utterances: { text: string }[] } }>(
      'GET',
      `/api/v1/calls/${items[0]!.uuid}`,
    );
    expect(call.transcript.utterances[0]!.text.length).toBeGreaterThan(3_900_000);
  });

  it('leaves the service ready and its log without errors', async () => {
    expect((await fetchWhenAvailable(`${service.url}/readyz`)).status).toBe(200);
    expect(service.stderr()).toBe('');
  });
});
