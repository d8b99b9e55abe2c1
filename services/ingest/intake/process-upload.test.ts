import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type BodyOf, CallsAccepted, type Event, TranscriptReady } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { tries, waitUntil } from '@call-analysis/testing';
import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import type { Batch } from '../batches/batch-store.ts';
import { audioCsvOf, type CsvRow, csvOf, rowsOf } from '../test/csv.ts';
import { faultOf, objectsBut } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { CHUNK_ROWS, type RowOutcome } from './copy/chunk.ts';
import { CallCopy } from './copy/copy-store.ts';
import { transcriptTables } from './copy/tables.ts';
import type { TranscriptRecord } from './rows/call-fields.ts';
import type { CheckedRow } from './rows/check-row.ts';
import type { RowFault } from './rows/row-fault.ts';
import type { Owner } from './upload-store.ts';

const service = new IngestUnderTest();

const nothing = { calls: 0, recordings: 0, batches: 0, rejected_files: 0, objects: 0 };
/** A row whose only fault is its operator_name. */
const bad: CsvRow = { operator_name: '' };
const tooLong = 'x'.repeat(256);

interface Refused {
  rows: number;
  valid: number;
  invalid: number;
  faults: RowFault[];
  faults_truncated: boolean;
  rejected_uuid: string;
}

async function refusalOf(promise: Promise<unknown>): Promise<Refused> {
  const fault = await faultOf(promise);
  expect(fault).toMatchObject({ kind: 'invalid', code: 'VALIDATION_FAILED' });
  return fault.details as unknown as Refused;
}

async function rejectedCsv(owner: Owner, uuid: string): Promise<string> {
  const key = await service.deps.rejectedFiles.keyOf(owner.firmUuid, uuid, new Date());
  return text(await service.deps.objects.open(key));
}

/** The row and code of each fault. */
function codesOf({ faults }: Refused): [number | null, string][] {
  return faults.map(({ row, code }) => [row, code]);
}

describe('an upload that cannot be processed', () => {
  it('is refused for an unclosed quote in its last line before most of its rows are stored', async () => {
    const owner = service.newOwner();
    const rows = Array.from({ length: 5 * CHUNK_ROWS }, (_, index) => ({ partner_call_id: `row-${index}` }));
    const inserted = jest.spyOn(CallCopy.prototype, 'insert');
    const fault = await faultOf(service.upload(owner, `${csvOf(rows)}"never closed`));
    expect(fault).toMatchObject({ code: 'INVALID_CSV', details: { row: rows.length + 2 } });
    expect(inserted.mock.calls.length).toBeLessThanOrEqual(1);
    inserted.mockRestore();
  });

  it('is not found when its file is missing or no session of the user has its key', async () => {
    const owner = service.newOwner();
    const { metadata_key: metadataKey } = await service.openUpload(owner);
    expect(await faultOf(service.process(owner, metadataKey))).toMatchObject({
      kind: 'invalid',
      code: 'UPLOAD_NOT_FOUND',
    });
    const unknown = metadataKey.replace('calls.csv', 'others.csv');
    await service.putAt(unknown, csvOf([{}]));
    expect(await faultOf(service.process(owner, unknown))).toMatchObject({ kind: 'invalid', code: 'UPLOAD_NOT_FOUND' });
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });

  it('is forbidden with a key of another user or firm, whether or not there is a file', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf([{}]));
    const colleague = { ...owner, userUuid: randomUUID() };
    for (const [user, otherKey] of [
      [colleague, key],
      [service.newOwner(), key],
      [owner, `frozen/${owner.firmUuid}/x.csv`],
      [owner, key.replace('UZ/', 'KG/')],
    ] as const) {
      expect(await faultOf(service.process(user, otherKey))).toMatchObject({ kind: 'forbidden', code: 'FORBIDDEN' });
    }
    const audiosKey = key.replace(owner.userUuid, colleague.userUuid);
    expect(await faultOf(service.process(owner, key, { audiosKey }))).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('expires an hour after its session was opened, unless it was accepted before', async () => {
    const owner = service.newOwner();
    const late = await service.put(owner, csvOf([{}]), 'late.csv');
    const done = await service.put(owner, csvOf([{}]), 'done.csv');
    const batch = await service.process(owner, done);
    await service.expire(late);
    await service.expire(done);
    expect(await faultOf(service.process(owner, late))).toMatchObject({ kind: 'invalid', code: 'UPLOAD_EXPIRED' });
    expect(await service.process(owner, done)).toEqual(batch);
    expect(await service.tracesOf(owner)).toMatchObject({ calls: 1, batches: 1 });
  });

  it('has the wrong kind when audios_key is sent for transcripts or missing for recordings', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf([{}]));
    const prefix = key.slice(0, key.lastIndexOf('/') + 1);
    const audiosKey = `${prefix}calls.zip`;
    expect(await faultOf(service.process(owner, key, { audiosKey }))).toMatchObject({ code: 'UPLOAD_KIND_MISMATCH' });
    const files = {
      prefix,
      metadata: 'batch.csv',
      audios: 'calls.zip',
      campaignUuid: null,
    };
    const session = await service.deps.uploads.open(owner, files, 60);
    expect(await faultOf(service.process(owner, session.metadataKey))).toMatchObject({ code: 'UPLOAD_KIND_MISMATCH' });
  });

  it('does not find the file that an earlier upload of the same name left', async () => {
    const owner = service.newOwner();
    const first = await service.put(owner, csvOf([{ partner_call_id: 'old' }]));
    await service.expire(first);
    const { metadata_key: metadataKey } = await service.openUpload(owner);
    expect(metadataKey).toBe(first);
    expect(await faultOf(service.process(owner, metadataKey))).toMatchObject({ code: 'UPLOAD_NOT_FOUND' });
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });
});

describe('a file that is refused as such', () => {
  const header = csvOf([]).trim();
  const row = csvOf([{}]).split('\n')[1]!;

  const cases: [code: string, what: string, bytes: string | Buffer, details: object][] = [
    ['INVALID_ENCODING', 'UTF-16', Buffer.from(`\uFEFF${csvOf([{}])}`, 'utf16le'), { looks_like: 'UTF-16 LE' }],
    [
      'INVALID_ENCODING',
      'Windows-1251',
      Buffer.concat([Buffer.from(`${header}\n,+998901234567,`), Buffer.from('c0e7e8e7e020cae0f0e8ecee', 'hex')]),
      { looks_like: 'Windows-1251', row: 2 },
    ],
    ['INVALID_CSV', 'an unclosed quote', `${header}\n${row}\n"${row}`, { row: 3 }],
    ['INVALID_CSV', 'a record with more fields than the header', `${header}\n${row}\n${row},more\n`, { row: 3 }],
    ['INVALID_CSV', 'a NUL', `${header}\n${row}\n${row}\0\n`, { row: 3 }],
    [
      'MISSING_COLUMN',
      'columns missing',
      csvOf([{}]).replace('duration', 'length').replace('operator_name', 'who'),
      { columns: ['operator_name', 'duration'] },
    ],
    [
      'DUPLICATE_COLUMN',
      'columns twice',
      `${header},Duration,SEGMENT_TYPE\n${row},60,support\n`,
      { columns: ['duration', 'segment_type'] },
    ],
    ['EMPTY_FILE', 'no records', `${header}\n,,,\n`, {}],
    ['EMPTY_FILE', 'no bytes', '', {}],
  ];

  it.each(cases)('is refused with %s for %s and leaves nothing', async (code, _, bytes, details) => {
    const owner = service.newOwner();
    const key = await service.put(owner, bytes);
    for (const onError of ['reject', 'skip'] as const) {
      const fault = await faultOf(service.process(owner, key, { onError }));
      expect(fault).toMatchObject({ kind: 'invalid', code });
      expect(fault.details ?? {}).toMatchObject(details);
    }
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });

  it('is refused with FILE_TOO_LARGE one byte over the limit, and accepted at the limit', async () => {
    const owner = service.newOwner();
    const csv = csvOf([{}]);
    const key = await service.put(owner, csv);
    const under = (csvBytes: number) =>
      service.process(owner, key, {}, { limits: { ...service.deps.limits, csvBytes } });
    expect(await faultOf(under(csv.length - 1))).toMatchObject({
      kind: 'invalid',
      code: 'FILE_TOO_LARGE',
      details: { size_bytes: csv.length, limit_bytes: csv.length - 1 },
    });
    expect(await service.tracesOf(owner)).toEqual(nothing);
    expect(await under(csv.length)).toMatchObject({ accepted: 1 });
  });

  it('is not copied when it is too large, and is refused when it grows while it is copied', async () => {
    const owner = service.newOwner();
    const csv = csvOf([{}]);
    const key = await service.put(owner, csv);
    const limits = { ...service.deps.limits, csvBytes: csv.length };
    const { objects } = service.deps;
    let copies = 0;
    const growing = objectsBut(objects, {
      async copy(from, to) {
        copies += 1;
        await service.putAt(key, Buffer.concat([Buffer.from(csv), Buffer.from(csv)]));
        await objects.copy(from, to);
      },
    });
    const tooLarge = { code: 'FILE_TOO_LARGE', details: { size_bytes: 2 * csv.length } };
    expect(await faultOf(service.process(owner, key, {}, { limits, objects: growing }))).toMatchObject(tooLarge);
    expect(await faultOf(service.process(owner, key, {}, { limits, objects: growing }))).toMatchObject(tooLarge);
    expect(copies).toBe(1);
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });

  it('is refused with TOO_MANY_ROWS one row over the limit, and accepted at the limit', async () => {
    const owner = service.newOwner();
    const limits = { ...service.deps.limits, csvRows: 3 };
    const over = await service.put(owner, csvOf([bad, ...rowsOf(3)]));
    expect(await faultOf(service.process(owner, over, {}, { limits }))).toMatchObject({
      kind: 'invalid',
      code: 'TOO_MANY_ROWS',
    });
    expect(await service.tracesOf(owner)).toEqual(nothing);
    const exact = await service.put(owner, csvOf(rowsOf(3)));
    expect(await service.process(owner, exact, {}, { limits })).toMatchObject({ accepted: 3 });
  });

  it('is refused for a fault in its last line, before any fault of its rows, and leaves nothing', async () => {
    const owner = service.newOwner();
    const rows = [bad, ...rowsOf(CHUNK_ROWS), { segment_type: 'unknown' }, ...rowsOf(CHUNK_ROWS)];
    const key = await service.put(owner, `${csvOf(rows)}"`);
    for (const onError of ['reject', 'skip'] as const) {
      expect(await faultOf(service.process(owner, key, { onError }))).toMatchObject({ code: 'INVALID_CSV' });
      expect(await service.tracesOf(owner)).toEqual(nothing);
    }
  });
});

describe('rows with faults', () => {
  it('are all reported together, each with its row in the spreadsheet, and nothing is accepted', async () => {
    const owner = service.newOwner();
    const rows: CsvRow[] = [
      {},
      { client_phone_number: '12-34', duration: '1.5', segment_type: 'Support' },
      { start_time: '20260102', anonymized_text: 'Hello' },
      {},
      { anonymized_text: '<operator><client>Hi', partner_call_id: tooLong, operator_name: '' },
    ];
    const refused = await refusalOf(service.upload(owner, csvOf(rows)));
    expect(refused).toMatchObject({ rows: 5, valid: 2, invalid: 3, faults_truncated: false });
    expect(codesOf(refused)).toEqual([
      [3, 'INVALID_PHONE_NUMBER'],
      [3, 'INVALID_DURATION'],
      [3, 'UNKNOWN_SEGMENT_TYPE'],
      [4, 'MISSING_ROLE_TAG'],
      [4, 'INVALID_DATETIME'],
      [6, 'TOO_LONG'],
      [6, 'REQUIRED'],
      [6, 'EMPTY_UTTERANCE'],
    ]);
    expect(refused.faults[1]).toMatchObject({ column: 'duration', value: '1.5' });
    expect(refused.faults[2]?.message).toContain('support');
    expect(await service.tracesOf(owner)).toEqual({ ...nothing, rejected_files: 1, objects: 1 });
  });

  it('are reported with up to 100 faults, and the answer says when there are more', async () => {
    const owner = service.newOwner();
    const exact = await refusalOf(service.upload(owner, csvOf([...rowsOf(100, bad), {}])));
    expect(exact).toMatchObject({ rows: 101, invalid: 100, faults_truncated: false });
    expect(exact.faults).toHaveLength(100);
    const more = await refusalOf(service.upload(owner, csvOf(rowsOf(101, bad))));
    expect(more).toMatchObject({ valid: 0, invalid: 101, faults_truncated: true });
    expect(more.faults.map(({ row }) => row)).toEqual(exact.faults.map(({ row }) => row));
    expect((await rejectedCsv(owner, more.rejected_uuid)).trimEnd().split('\r\n')).toHaveLength(102);
  });

  it('are returned as they came in a CSV with reasons, which is accepted once corrected', async () => {
    const owner = service.newOwner();
    const csv =
      'Note;Client_Phone_Number;operator_name;duration;anonymized_text;start_time;segment_type;partner_call_id\n' +
      'keep; +998901234567 ;Aziza;60;"<operator>Hi, ""you""\n<client>Yes";2026-01-02 03:04;support;good\n' +
      'a,b; +998901234567 ;;1m;"<operator>Hi, ""you""\n<client>Yes";2026-01-02 03:04;support;bad\n';
    const { rejected_uuid } = await refusalOf(service.upload(owner, csv));
    const rejected = await rejectedCsv(owner, rejected_uuid);
    expect(rejected).toMatch(
      /^Note;Client_Phone_Number;.*;partner_call_id;reject_reason\r\n"a,b";" \+998901234567 ";;1m;"<operator>Hi, ""you""\n<client>Yes";/,
    );
    expect(rejected).toMatch(/REQUIRED: .*INVALID_DURATION: /);
    expect(rejected).not.toContain('good');
    const batch = await service.upload(owner, rejected.replace(';;1m;', ';Aziza;60;'));
    expect(batch).toMatchObject({ accepted: 1, rejected: 0, ignoredColumns: ['Note'], rejectedUuid: null });
    expect(await service.callsOf(owner)).toMatchObject([{ id: 'bad' }]);
  });

  it('are skipped with on_error "skip", counted, and stored in a CSV, and known calls are counted as duplicates', async () => {
    const owner = service.newOwner();
    await service.upload(owner, csvOf([{ partner_call_id: 'had' }]));
    const csv = csvOf([{ partner_call_id: 'had' }, bad, { partner_call_id: 'new' }, { partner_call_id: 'new' }, {}]);
    const batch = await service.upload(owner, csv, 'skip');
    expect(batch).toMatchObject({ accepted: 2, duplicates: 1, rejected: 2 });
    const rejected = await rejectedCsv(owner, batch.rejectedUuid!);
    expect(rejected.match(/REQUIRED|DUPLICATE_ROW/g)).toEqual(['REQUIRED', 'DUPLICATE_ROW']);
    expect(await service.tracesOf(owner)).toMatchObject({ calls: 3, batches: 2 });
  });

  it('may be anywhere in a chunk: the valid rows after them are accepted', async () => {
    const owner = service.newOwner();
    const rows = [...rowsOf(1_024), bad, ...rowsOf(1_023), bad, {}];
    expect(await service.upload(owner, csvOf(rows), 'skip')).toMatchObject({ accepted: 2_048, rejected: 2 });
  });

  it('can be all rows: with on_error "skip", the batch has no calls', async () => {
    const owner = service.newOwner();
    const batch = await service.upload(owner, csvOf([bad, bad]), 'skip');
    expect(batch).toMatchObject({ accepted: 0, duplicates: 0, rejected: 2, firstCall: null });
    const progress = await service.deps.batches.get(owner.firmUuid, batch.uuid);
    expect(progress).toMatchObject({ by_status: {}, finished_at: batch.createdAt });
  });

  it('do not settle the upload: the same key may be processed with on_error "skip" or with a new file', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf([{}, bad]));
    await refusalOf(service.process(owner, key));
    await refusalOf(service.process(owner, key));
    await service.putAt(key, csvOf([{}, {}, bad]));
    expect(await service.process(owner, key, { onError: 'skip' })).toMatchObject({ accepted: 2, rejected: 1 });
    const other = await service.put(owner, csvOf([bad]));
    await refusalOf(service.process(owner, other));
    await service.putAt(other, csvOf([{}]));
    expect(await service.process(owner, other)).toMatchObject({ accepted: 1, rejected: 0, rejectedUuid: null });
  });
});

describe('a header that lacks columns', () => {
  it('of a CSV of recordings is recognized, and the answer says how to upload it', async () => {
    const owner = service.newOwner();
    expect(await faultOf(service.upload(owner, audioCsvOf([{ audio_file_name: 'a.wav' }])))).toMatchObject({
      code: 'MISSING_COLUMN',
      message: expect.stringMatching(
        /^The header lacks these columns: duration, anonymized_text\. Split by commas it has: .*\. This looks like the CSV of recordings: start a new upload with audios_filename\.$/,
      ),
      details: { columns: ['duration', 'anonymized_text'] },
    });
  });

  it('of no known kind is to be completed', async () => {
    const owner = service.newOwner();
    const { message } = await faultOf(service.upload(owner, 'operator_name,duration\nAziza,60\n'));
    expect(message).toMatch(/Add the missing columns to the first row\.$/);
  });
});

describe('a partner_call_id twice in one file', () => {
  const first = {
    accepted: { partner_call_id: 'twice' },
    'a duplicate': { partner_call_id: 'had' },
    invalid: { partner_call_id: 'twice', ...bad },
  };
  const places = { chunk: 0, file: CHUNK_ROWS };

  describe.each(['accepted', 'a duplicate', 'invalid'] as const)('whose first row is %s', (outcome) => {
    it.each(['chunk', 'file'] as const)('is a fault of every later row of the %s', async (place) => {
      const owner = service.newOwner();
      await service.upload(owner, csvOf([{ partner_call_id: 'had' }]));
      const { partner_call_id } = first[outcome];
      const rows = [
        first[outcome],
        ...rowsOf(places[place]),
        { partner_call_id },
        { partner_call_id, ...bad },
        { partner_call_id },
      ];
      const key = await service.put(owner, csvOf(rows));
      const at = 3 + places[place];
      const own: [number, string][] = outcome === 'invalid' ? [[2, 'REQUIRED']] : [];
      expect(codesOf(await refusalOf(service.process(owner, key)))).toEqual([
        ...own,
        [at, 'DUPLICATE_ROW'],
        [at + 1, 'REQUIRED'],
        [at + 1, 'DUPLICATE_ROW'],
        [at + 2, 'DUPLICATE_ROW'],
      ]);
      expect(await service.tracesOf(owner)).toMatchObject({ calls: 1, batches: 1 });
      const accepted = places[place] + (outcome === 'accepted' ? 1 : 0);
      const duplicates = outcome === 'a duplicate' ? 1 : 0;
      const rejected = outcome === 'invalid' ? 4 : 3;
      expect(await service.process(owner, key, { onError: 'skip' })).toMatchObject({ accepted, duplicates, rejected });
    });
  });

  it('is found however the rows are divided into chunks', async () => {
    const owner = service.newOwner();
    await service.upload(owner, csvOf([{ partner_call_id: 'a' }, { partner_call_id: 'b' }]));
    const had = new Set(['a', 'b']);
    const row = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', null), good: fc.boolean() });
    const files = fc.array(fc.array(row, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(files, async (file) => {
        const seen = new Set<string>();
        const expected = file.flat().map(({ id, good }) => {
          if (id !== null && seen.has(id)) return 'repeated';
          if (id !== null) seen.add(id);
          if (!good) return 'invalid';
          return id !== null && had.has(id) ? 'duplicate' : 'accepted';
        });
        const outcomes = await outcomesOf(
          owner,
          file.map((rows) => rows.map(checkedRow)),
        );
        expect(outcomes).toEqual(expected);
      }),
      { numRuns: tries(150) },
    );
  });
});

const record: TranscriptRecord = {
  partnerCallId: null,
  clientPhoneNumber: '+998901234567',
  operatorName: 'Aziza',
  operatorId: null,
  operatorGroupName: null,
  direction: null,
  segmentType: 'support',
  startedMs: Date.UTC(2026, 0, 2, 3, 4, 5),
  duration: 60,
  disconnectReason: null,
  anonymizedText: '<operator>Hello',
};

type Row = CheckedRow<TranscriptRecord>;
const NO_ROW = { row: 0, fields: [], cut: null };

function checkedRow({ id, good }: { id: string | null; good: boolean }): Row {
  return { partnerCallId: id, record: good ? { ...record, partnerCallId: id } : null, faults: [] };
}

/** The outcomes of rows that are inserted in these chunks. The transaction is rolled back. */
async function outcomesOf({ firmUuid }: Owner, chunks: readonly Row[][]): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  const undo = new Error('nothing is kept');
  const target = {
    batchUuid: randomUUID(),
    firmUuid,
    campaignUuid: null,
    tables: transcriptTables,
    cipher: null,
  };
  const inserting = service.db.transaction(async (tx) => {
    const copy = await CallCopy.begin(tx, target);
    for (const rows of chunks) {
      const chunk = copy.newChunk();
      for (const row of rows) chunk.add(NO_ROW, row, 0);
      outcomes.push(...(await copy.insert(chunk)));
    }
    throw undo;
  });
  await expect(inserting).rejects.toBe(undo);
  return outcomes;
}

describe('a partner_call_id that the firm already has', () => {
  it('is a duplicate and not a fault, in any chunk, and its call is unchanged', async () => {
    const owner = service.newOwner();
    const before = await service.upload(owner, csvOf([{ partner_call_id: 'x' }, { partner_call_id: 'y' }]));
    const again = { operator_name: 'Bekzod' };
    const rows = [{ partner_call_id: 'x', ...again }, ...rowsOf(CHUNK_ROWS), { partner_call_id: 'y', ...again }];
    expect(await service.upload(owner, csvOf(rows))).toMatchObject({
      accepted: CHUNK_ROWS,
      duplicates: 2,
      rejected: 0,
    });
    const known = (await service.callsOf(owner)).filter(({ id }) => id !== null);
    expect(known).toMatchObject([
      { id: 'x', operator: 'Aziza', batch: before.uuid },
      { id: 'y', operator: 'Aziza', batch: before.uuid },
    ]);
  });

  it('makes a file that is uploaded twice a batch of duplicates only', async () => {
    const owner = service.newOwner();
    const csv = csvOf(Array.from({ length: 50 }, (_, index) => ({ partner_call_id: `call ${index}` })));
    expect(await service.upload(owner, csv)).toMatchObject({ accepted: 50, duplicates: 0 });
    expect(await service.upload(owner, csv)).toMatchObject({ accepted: 0, duplicates: 50, rejected: 0 });
    expect(await service.tracesOf(owner)).toMatchObject({ calls: 50, batches: 2 });
  });

  it('does not affect another firm', async () => {
    const [one, other] = [service.newOwner(), service.newOwner()];
    const csv = csvOf([{ partner_call_id: 'x' }, { partner_call_id: 'y' }]);
    for (const owner of [one, other]) expect(await service.upload(owner, csv)).toMatchObject({ accepted: 2 });
    const [first, second] = [await service.callsOf(one), await service.callsOf(other)];
    expect(new Set([...first, ...second].map(({ uuid }) => uuid)).size).toBe(4);
  });

  it("stays one call when two uploads deadlock on each other's ids", async () => {
    const owner = service.newOwner();
    const { objects } = service.deps;
    const [x, y] = [{ partner_call_id: 'x' }, { partner_call_id: 'y' }];
    const rest = rowsOf(CHUNK_ROWS - 1);
    const keys = [
      await service.put(owner, csvOf([x, ...rest, y]), 'one.csv'),
      await service.put(owner, csvOf([y, ...rest, x]), 'other.csv'),
    ];
    const bothHoldOne = waitUntil(async () => {
      const holding = await service.db.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%SAVEPOINT chunk; COPY call %'`,
      );
      return holding.length === 2;
    });
    const opened: string[] = [];
    const slow = objectsBut(objects, {
      async open(key) {
        opened.push(key);
        // The first reader of a file stores its rows, and the second one looks ahead.
        if (opened.indexOf(key) < opened.length - 1) return objects.open(key);
        const csv = await text(await objects.open(key));
        const lastRow = csv.lastIndexOf('\n', csv.length - 2) + 1;
        return Readable.from(
          (async function* () {
            yield Buffer.from(csv.slice(0, lastRow));
            await bothHoldOne;
            yield Buffer.from(csv.slice(lastRow));
          })(),
        );
      },
    });
    const batches = await Promise.all(keys.map((key) => service.process(owner, key, {}, { objects: slow })));
    // Because of the deadlock, one of them was repeated. Each time the file is read twice.
    expect(opened).toHaveLength(6);
    expect(batches.map(({ accepted }) => accepted).toSorted((a, b) => a - b)).toEqual([CHUNK_ROWS - 1, CHUNK_ROWS + 1]);
    expect(batches.map(({ duplicates }) => duplicates).toSorted((a, b) => a - b)).toEqual([0, 2]);
    const calls = await service.callsOf(owner);
    expect(calls).toHaveLength(2 * CHUNK_ROWS);
    expect(calls.flatMap(({ id }) => id ?? []).toSorted()).toEqual(['x', 'y']);
  });

  it('stays one call when two concurrent uploads have it in opposite order', async () => {
    const owner = service.newOwner();
    const ids = Array.from({ length: 4_000 }, (_, index) => ({ partner_call_id: `call ${index}` }));
    const keys = [
      await service.put(owner, csvOf(ids), 'up.csv'),
      await service.put(owner, csvOf(ids.toReversed()), 'down.csv'),
    ];
    const batches = await Promise.all(keys.map((key) => service.process(owner, key)));
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
    expect(sum(batches.map(({ accepted }) => accepted))).toBe(4_000);
    expect(sum(batches.map(({ duplicates }) => duplicates))).toBe(4_000);
    expect(sum(batches.map(({ rejected }) => rejected))).toBe(0);
    const calls = await service.callsOf(owner);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(4_000);
    expect(calls).toHaveLength(4_000);
  });
});

describe('acceptance', () => {
  it('of one key by five concurrent requests results in one batch, the same for all', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf(rowsOf(500)));
    const batches = await Promise.all(Array.from({ length: 5 }, () => service.process(owner, key)));
    for (const batch of batches) expect(batch).toEqual(batches[0]);
    expect(await service.process(owner, key, { onError: 'skip' })).toEqual(batches[0]);
    expect(await service.tracesOf(owner)).toEqual({ ...nothing, calls: 500, batches: 1 });
  });

  it('repeated while it lasts, in this process and in another, keeps no other upload waiting, and copies the file once', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf([{}]));
    const { objects } = service.deps;
    let copies = 0;
    const counting = objectsBut(objects, {
      async copy(from, to) {
        copies += 1;
        await objects.copy(from, to);
      },
    });
    const repeated: Promise<Batch>[] = [];
    await service.db.transaction(async (tx) => {
      // Another process is processing it.
      await tx.query('SELECT 1 FROM upload_session WHERE metadata_key = $1 FOR UPDATE', [key]);
      for (let count = 0; count < 6; count += 1) repeated.push(service.process(owner, key, {}, { objects: counting }));
      const other = service.newOwner();
      await service.upload(other, csvOf([{}]));
    });
    const batches = await Promise.all(repeated);
    for (const batch of batches) expect(batch).toEqual(batches[0]);
    expect(copies).toBe(1);
  });

  it('gives its connection back when another process has taken the session meanwhile', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf([{}]));
    const { objects } = service.deps;
    const taken = Promise.withResolvers<void>();
    const copied = Promise.withResolvers<void>();
    const slow = objectsBut(objects, {
      async copy(from, to) {
        await objects.copy(from, to);
        copied.resolve();
        await taken.promise;
      },
    });
    const waiting = service.process(owner, key, {}, { objects: slow });
    await copied.promise;
    await service.db.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM upload_session WHERE metadata_key = $1 FOR UPDATE', [key]);
      taken.resolve();
      const others = Array.from({ length: 4 }, () => service.upload(service.newOwner(), csvOf([{}])));
      await Promise.all(others);
    });
    expect(await waiting).toMatchObject({ accepted: 1 });
  });

  it('gives every call a unique uuid in the order of the file, and announces each exactly once', async () => {
    const ranges = await service.collect(CallsAccepted);
    const ready = await service.collect(TranscriptReady);
    const owner = service.newOwner();
    const count = CHUNK_ROWS + 1_234;
    const rows = Array.from({ length: count }, (_, index) => ({ operator_name: `operator ${index}` }));
    const batch = await service.upload(owner, csvOf(rows));
    const calls = await service.callsOf(owner);
    expect(calls.map(({ operator }) => operator)).toEqual(rows.map((row) => row.operator_name));
    expect(new Set(calls.map(({ uuid }) => uuid)).size).toBe(count);
    expect([batch.firstCall, batch.lastCall]).toEqual([calls[0]?.uuid, calls.at(-1)?.uuid]);
    const own = () =>
      ranges.filter((event) => event.subject === batch.uuid).toSorted((a, b) => a.priority - b.priority);
    const covered = (events: Event<BodyOf<typeof CallsAccepted>>[]) =>
      events.flatMap(({ data: { first, last } }) => calls.filter(({ uuid }) => uuid >= first && uuid <= last));
    // The first 500 are announced when the batch is accepted, the others in ranges of 500.
    await waitUntil(() => covered(own()).length >= count - 500 && ready.length >= 500);
    const announced = new Set(ready.map(({ subject }) => subject));
    expect(calls.slice(0, 500).filter(({ uuid }) => announced.has(uuid))).toHaveLength(500);
    expect(covered(own())).toEqual(calls.slice(500));
    expect(own().map(({ priority }) => priority)).toEqual(own().map((_, index) => index + 1));
    expect(own().every(({ firmuuid }) => firmuuid === owner.firmUuid)).toBe(true);
  });

  it('is of the bytes that were validated, even when another file is put at the same key in the meantime', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf([{ operator_name: 'checked' }]));
    const { objects } = service.deps;
    const changed = objectsBut(objects, {
      async copy(from, to) {
        await objects.copy(from, to);
        await service.putAt(from, csvOf([{ operator_name: 'late' }, bad]));
      },
    });
    expect(await service.process(owner, key, {}, { objects: changed })).toMatchObject({ accepted: 1 });
    expect(await service.callsOf(owner)).toMatchObject([{ operator: 'checked' }]);
  });

  it('is all or nothing: when its events cannot be published, nothing is kept, and a repeated request succeeds', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf([{}, bad]));
    const broken = new Error('no publishing');
    const bus = { ...service.deps.bus, publish: () => Promise.reject(broken) };
    await expect(service.process(owner, key, { onError: 'skip' }, { bus })).rejects.toBe(broken);
    expect(await service.tracesOf(owner)).toEqual(nothing);
    expect(await service.process(owner, key, { onError: 'skip' })).toMatchObject({ accepted: 1, rejected: 1 });
  });

  it('fails completely when the rejected rows cannot be stored, however many there are', async () => {
    const owner = service.newOwner();
    const key = await service.put(owner, csvOf(rowsOf(CHUNK_ROWS + 1, bad)));
    const full = new Fault('unavailable', 'INSUFFICIENT_STORAGE', 'The disk is full.');
    const objects = objectsBut(service.deps.objects, {
      async put(_, bytes) {
        bytes.destroy();
        throw full;
      },
    });
    await expect(service.process(owner, key, { onError: 'skip' }, { objects })).rejects.toBe(full);
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });
});
