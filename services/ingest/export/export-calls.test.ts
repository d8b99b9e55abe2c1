import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseString } from 'fast-csv';
import { parquetReadObjects } from 'hyparquet';
import readXlsx from 'read-excel-file/node';
import { eraseCall } from '../erasure/erase-call.ts';
import { type CallFilter, NO_FILTER, type Sort } from '../listing/call-filter.ts';
import { CallListing, callOf, NEWEST, sampleCalls } from '../test/call-listing.ts';
import { analysis } from '../test/events.ts';
import { faultOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { type Export, exportCalls } from './export-calls.ts';

const service = new IngestUnderTest();
const listing = new CallListing(service);
const OPERATORS = [
  '=HYPERLINK("https://evil.example")',
  '+1',
  '-2+3',
  '@SUM(A1)',
  '\t=1',
  'Ann "the, boss"',
  "O'ktam\nюля 👍",
  'a_x000D_b & <c>',
];

let firmUuid: string;

type Change = Partial<Omit<Export, 'calls'> & { filter: CallFilter; sort: Sort; uuids: readonly string[] }>;

function ask({ filter = NO_FILTER, sort = NEWEST, uuids, ...change }: Change = {}, firm = firmUuid) {
  const actor = { firmUuid: firm, userUuid: randomUUID(), address: '192.0.2.1' };
  const none = { questions: [], scorecardUuid: null, hasTranscripts: false, headings: {}, timeZone: 'UTC' };
  const calls = uuids === undefined ? { filter, sort } : { uuids };
  return exportCalls(service.deps, actor, { format: 'csv', calls, ...none, ...change });
}

async function fileOf(change: Change = {}, firm = firmUuid): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of ask(change, firm)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function csvRows(change: Change = {}, firm = firmUuid): Promise<Record<string, string>[]> {
  const rows: Record<string, string>[] = [];
  const text = (await fileOf({ ...change, format: 'csv' }, firm)).toString();
  expect(text.startsWith('\ufeff')).toBe(true);
  await new Promise((resolve, reject) => {
    parseString<Record<string, string>, never>(text.slice(1), { headers: true })
      .on('data', (row) => rows.push(row))
      .on('error', reject)
      .on('end', resolve);
  });
  return rows;
}

async function jsonRows(change: Change = {}, firm = firmUuid): Promise<Record<string, unknown>[]> {
  const text = (await fileOf({ ...change, format: 'ndjson' }, firm)).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function parquetRows(change: Change = {}, firm = firmUuid): Promise<Record<string, unknown>[]> {
  const { buffer, byteOffset, byteLength } = await fileOf({ ...change, format: 'parquet' }, firm);
  return parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer });
}

async function sheetRows(change: Change = {}, firm = firmUuid): Promise<unknown[][]> {
  const sheet = (await readXlsx(await fileOf({ ...change, format: 'xlsx' }, firm))) as unknown as
    | { data: unknown[][] }[]
    | unknown[][];
  return ('data' in (sheet[0] as object) ? (sheet[0] as { data: unknown[][] }).data : sheet) as unknown[][];
}

beforeAll(async () => {
  firmUuid = randomUUID();
  await listing.add(firmUuid, sampleCalls(2_500, 5));
  await listing.add(
    firmUuid,
    OPERATORS.map((operator) => callOf({ operator, score: 71.4, segment: 'escapes' })),
  );
});

const escapes = { filter: { ...NO_FILTER, segment_type: ['escapes'] } };

describe('an export', () => {
  it('has every call of the firm once, in every format, with the same values as Get Calls', async () => {
    const { items } = await listing.ask(firmUuid, {}, { size: 100 });
    const json = await jsonRows();
    expect(json).toHaveLength(2_508);
    expect(new Set(json.map(({ uuid }) => uuid)).size).toBe(2_508);
    expect(json.slice(0, 100).map(({ uuid }) => uuid)).toEqual(items.map(({ uuid }) => uuid));
    expect(json[0]).toMatchObject({
      operator_name: items[0]!.operator_name,
      start_time: items[0]!.start_time.toISOString(),
      score: items[0]!.score,
      batch_id: null,
      failure: null,
      score_source: 'machine',
    });
    const uuids = json.map(({ uuid }) => uuid);
    expect((await csvRows()).map(({ uuid }) => uuid)).toEqual(uuids);
    expect((await parquetRows()).map(({ uuid }) => uuid)).toEqual(uuids);
    const rows = await sheetRows();
    expect(rows.slice(1).map(([uuid]) => uuid)).toEqual(uuids);
    expect(rows[0]).toEqual(Object.keys(json[0]!));
  });

  it('keeps numbers, times and text as what they are in XLSX and Parquet', async () => {
    const expected = await jsonRows(escapes);
    expect(expected.map(({ operator_name }) => operator_name).toSorted()).toEqual(OPERATORS.toSorted());
    for (const [index, row] of (await parquetRows(escapes)).entries()) {
      const { start_time, score, operator_name, duration } = expected[index]!;
      expect(row).toMatchObject({ start_time: new Date(start_time as string), score, operator_name, duration });
    }
    const rows = await sheetRows(escapes);
    const at = (name: string) => (rows[0] as string[]).indexOf(name);
    for (const [index, row] of rows.slice(1).entries()) {
      expect(row[at('score')]).toBe(71.4);
      expect(row[at('start_time')]).toEqual(new Date(expected[index]!['start_time'] as string));
      expect(row[at('operator_name')]).toBe((expected[index]!['operator_name'] as string).trim());
    }
  });

  it('in CSV has an apostrophe before text that would run as a formula, and before no other', async () => {
    const names = (await csvRows(escapes)).map(({ operator_name }) => operator_name);
    const guarded = OPERATORS.map((name) => (/^[=+\-@\t]/.test(name) ? `'${name}` : name));
    expect(names.toSorted()).toEqual(guarded.toSorted());
    const [row] = await csvRows(escapes);
    expect(row).toMatchObject({ client_phone_number: "'+998901234567", score: '71.4', outcome: 'scored' });
  });

  it('has the calls that are named, each once and in that order, and none of another firm', async () => {
    const all = (await jsonRows()).map(({ uuid }) => String(uuid));
    const other = randomUUID();
    await listing.add(other, sampleCalls(2, 6));
    const [foreign] = await jsonRows({}, other);
    const uuids = [all[7]!, all[3]!, String(foreign!['uuid']), all[7]!, randomUUID(), all[2_000]!];
    const expected = [all[7], all[3], all[2_000]];
    expect((await jsonRows({ uuids })).map(({ uuid }) => uuid)).toEqual(expected);
    expect((await csvRows({ uuids })).map(({ uuid }) => uuid)).toEqual(expected);
    expect(await jsonRows({ uuids: [randomUUID()] })).toEqual([]);
  });

  it('follows the filter and the sort', async () => {
    const filter: CallFilter = { ...NO_FILTER, status: ['completed'], score_min: 50 };
    const sort = { by: 'score', isDescending: false } as const;
    const expected = await listing.walk(firmUuid, filter, sort, 100);
    expect(expected.length).toBeGreaterThan(100);
    expect((await jsonRows({ filter, sort })).map(({ uuid }) => uuid)).toEqual(expected);
    const byId = { ...NO_FILTER, partner_call_id: 'none' };
    expect(await jsonRows({ filter: byId })).toEqual([]);
    expect(await csvRows({ filter: byId })).toEqual([]);
    expect(await parquetRows({ filter: byId })).toEqual([]);
  });

  it('has nothing of other firms', async () => {
    expect(await jsonRows({}, randomUUID())).toEqual([]);
  });

  it('leaves out a call that is erased while it is written', async () => {
    const firm = randomUUID();
    await listing.add(
      firm,
      Array.from({ length: 1_500 }, () => callOf()),
    );
    const pieces = ask({ format: 'ndjson' }, firm);
    const first = (await pieces.next()).value as Buffer;
    const last = (await listing.ask(firm, {}, { sort: { by: 'created_at', isDescending: false }, size: 1 })).items[0]!;
    await eraseCall(service.deps, firm, last.uuid);
    let text = first.toString();
    for await (const piece of pieces) text += piece.toString();
    expect(text).not.toContain(last.uuid);
    expect(text.trim().split('\n')).toHaveLength(1_499);
  });

  it('has the answers of the current analysis under a scorecard, and the transcript', async () => {
    const firm = randomUUID();
    const [scored, other] = [callOf(), callOf()];
    await listing.add(firm, [scored, other], '<operator>Hello<client>=Hi');
    const [question, second] = [randomUUID(), randomUUID()];
    const scorecard = { uuid: randomUUID(), name: 'Sales', revision: 1 };
    const answer = {
      uuid: question,
      text: 'Old text',
      weight: 1,
      answer: 'Yes',
      points: 1,
      max_points: 1,
      not_applicable: false,
      evidence: [],
      evidence_absent: false,
      needs_review: false,
      explanation: '',
    };
    const body = { ...analysis, scorecard, sections: [{ name: 'One', score: 100, questions: [answer] }] };
    await service.db.query(
      'INSERT INTO analysis (uuid, call_uuid, firm_uuid, body, created_at) VALUES ($1, $2, $3, $4, now())',
      [randomUUID(), scored.uuid, firm, deflateRawSync(JSON.stringify(body))],
    );
    const questions = [
      { uuid: question, text: 'score' },
      { uuid: second, text: 'score' },
    ];
    // As a release left it that counted no answers.
    await service.db.query(
      `UPDATE call SET outcome = 'scored', needs_review = NULL, questions = NULL, answered = NULL WHERE uuid = $1`,
      [scored.uuid],
    );
    for (const change of [{}, { uuids: [scored.uuid] }]) {
      const [row] = (await jsonRows(change, firm)).filter(({ uuid }) => uuid === scored.uuid);
      expect(row).toMatchObject({ needs_review: 0, questions: 1, answered: 1 });
    }
    const asked = { questions, scorecardUuid: scorecard.uuid, hasTranscripts: true };
    const rows = await jsonRows(asked, firm);
    const transcript = 'operator: Hello\nclient: =Hi';
    expect(rows.map((row) => [row['uuid'], row['score (2)'], row['score (3)'], row['transcript']])).toEqual([
      [other.uuid, null, null, transcript],
      [scored.uuid, 'Yes', null, transcript],
    ]);
    expect((await csvRows(asked, firm))[1]).toMatchObject({ 'score (2)': 'Yes', 'score (3)': '', transcript });
    expect((await parquetRows(asked, firm))[1]).toMatchObject({ 'score (2)': 'Yes', transcript });
  });

  it("has times in UTC and in the firm's time zone or another, which the columns name", async () => {
    const firm = service.newOwner({ timeZone: 'Asia/Kathmandu' }).firmUuid;
    await listing.add(firm, [callOf({ start: Date.UTC(2026, 9, 2, 20, 30) })]);
    const local = '2026-10-03 02:15:00';
    const own = { timeZone: null };
    expect(await csvRows(own, firm)).toMatchObject([
      {
        start_time: '2026-10-02T20:30:00.000Z',
        'start_time (Asia/Kathmandu)': local,
        'reviewed_at (Asia/Kathmandu)': '',
      },
    ]);
    expect(await jsonRows(own, firm)).toMatchObject([{ 'start_time (Asia/Kathmandu)': local }]);
    expect(await parquetRows({ ...own, hasTranscripts: true }, firm)).toMatchObject([
      { 'start_time (Asia/Kathmandu)': local, transcript: 'operator: Hello' },
    ]);
    const [head, cells] = await sheetRows(own, firm);
    expect(cells![head!.indexOf('start_time (Asia/Kathmandu)')]).toEqual(new Date('2026-10-03T02:15:00Z'));
    expect(await jsonRows({ timeZone: 'America/New_York' }, firm)).toMatchObject([
      { 'start_time (America/New_York)': '2026-10-02 16:30:00' },
    ]);
    const names = Object.keys((await jsonRows({ timeZone: 'UTC' }, firm))[0]!);
    expect(names.filter((name) => name.includes('('))).toEqual([]);
    // PostgreSQL alone has Factory.
    for (const timeZone of ['Mars/Olympus', 'Factory'])
      expect(await faultOf(fileOf({ timeZone }, firm))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { fields: [{ field: 'tz', code: 'INVALID' }] },
      });
  });

  it('reports a search without a word before it writes anything', async () => {
    const fault = await faultOf(fileOf({ filter: { ...NO_FILTER, q: '!!' } }));
    expect(fault).toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});
