import { randomUUID } from 'node:crypto';
import type { Database } from '@call-analysis/postgres';
import { randomOf, tries } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { AnalysisBodies } from '../calls/analysis-body-store.ts';
import {
  anyFilter,
  anySort,
  BEGIN,
  type Call,
  CallListing,
  callOf,
  DAY,
  type Facts,
  insertCalls,
  modelled,
  NEWEST,
  sampleCalls,
} from '../test/call-listing.ts';
import { faultOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { type CallFilter, NO_FILTER, type Sort } from './call-filter.ts';
import { listCalls } from './list-calls.ts';
import { listing as listingIn } from './listing-store.ts';

const service = new IngestUnderTest();
const listing = new CallListing(service);

/** How many calls a list collects: as many as the service's; or few, so that it goes on as where many match. */
const collected = [undefined, 0, 10];

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

function callsRead(plan: Plan): number {
  const rows = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0);
  const own = plan['Relation Name'] === 'listed_call' ? rows * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + callsRead(part), own);
}

describe('a list of calls', () => {
  it('equals filtering and sorting all calls, by pages and by the cursor, whether few of them match or many', async () => {
    const firmUuid = randomUUID();
    const calls = sampleCalls(150, 7);
    await listing.add(firmUuid, calls);
    await fc.assert(
      fc.asyncProperty(
        anyFilter,
        anySort,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(...collected),
        async (filter, sort, page, size, most) => {
          const expected = modelled(calls, filter, sort);
          const list = new CallListing(service, most);
          const { items, count, isEstimate } = await list.ask(firmUuid, filter, { sort, page, size });
          expect([items.map(({ uuid }) => uuid), count, isEstimate]).toEqual([
            expected.slice((page - 1) * size, page * size),
            expected.length,
            false,
          ]);
          expect(await list.walk(firmUuid, filter, sort, Math.max(size, 10))).toEqual(expected);
        },
      ),
      { numRuns: tries(120) },
    );
  });

  it('shows everything that was committed before the request, changes included', async () => {
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 30 }, () => callOf({ status: 'queued', outcome: null, score: null }));
    await listing.add(firmUuid, calls);
    expect(await listing.ask(firmUuid, { status: ['queued'] })).toMatchObject({ count: 30 });
    const [first] = calls;
    await service.db.query(`UPDATE call SET status = 'completed', outcome = 'scored', score = 71.4 WHERE uuid = $1`, [
      first!.uuid,
    ]);
    expect(await listing.ask(firmUuid, { status: ['queued'] })).toMatchObject({ count: 29 });
    expect(await listing.ask(firmUuid, { score_min: 71.4, score_max: 71.4 })).toMatchObject({
      count: 1,
      items: [{ uuid: first!.uuid }],
    });
    // Counting and showing treat the error of binary fractions alike.
    expect(await listing.ask(firmUuid, { score_min: 71.40000001 })).toMatchObject({
      count: 1,
      items: [{ uuid: first!.uuid }],
    });
    await service.db.query('DELETE FROM call WHERE uuid = $1', [first!.uuid]);
    expect(await listing.ask(firmUuid, { score_min: 71.4 })).toMatchObject({ count: 0, items: [] });
    expect(await listing.ask(firmUuid, {})).toMatchObject({ count: 29 });
  });

  it('reads few rows when calls change, also by a connection that has changed calls before the table grew', async () => {
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 3_000 }, () => callOf({ status: 'queued', outcome: null, score: null }));
    await service.db.transaction(async (tx) => {
      const complete = (those: readonly Call[]) =>
        tx.query(`UPDATE call SET status = 'completed' WHERE firm_uuid = $1 AND uuid = ANY($2)`, [
          firmUuid,
          those.map(({ uuid }) => uuid),
        ]);
      const rowsRead = async () => {
        const [row] = await tx.query<{ rows: number }>(
          `SELECT (seq_tup_read + idx_tup_fetch)::float8 AS rows FROM pg_stat_xact_user_tables WHERE relid = 'listed_call'::regclass`,
        );
        return row!.rows;
      };
      await insertCalls(tx, firmUuid, calls.slice(0, 1_000), '');
      await complete(calls.slice(0, 100));
      await insertCalls(tx, firmUuid, calls.slice(1_000), '');
      const before = await rowsRead();
      await complete(calls.slice(1_000, 1_100));
      expect((await rowsRead()) - before).toBeLessThan(10_000);
    });
    expect(await listing.ask(firmUuid, { status: ['completed'] })).toMatchObject({ count: 200 });
  });

  it('is complete where two filters exclude each other, everywhere or in long ranges of calls', async () => {
    const firmUuid = randomUUID();
    // In each third the night team takes other calls than the day team; in the last third only the oldest are sales.
    const calls = Array.from({ length: 9_000 }, (_, index): Call => {
      const third = Math.floor(index / 3_000);
      const isNight = index % 2 === 0;
      const isSales = third === 2 ? index % 3_000 < 40 : isNight === (third === 0);
      const score = ((index * 7) % 1_000) / 10;
      return {
        ...callOf(),
        team: isNight ? 'Night' : 'Day',
        segment: isSales ? 'sales' : 'support',
        start: BEGIN + (index % 20) * DAY,
        score,
      };
    });
    await listing.add(firmUuid, calls);
    const both = [
      { operator_group_name: 'Night', segment_type: ['sales'] },
      { operator_group_name: 'Day', segment_type: ['sales'] },
    ];
    const dated = both.map((filter) => ({
      ...filter,
      started_from: new Date(BEGIN + DAY).toISOString(),
      started_to: new Date(BEGIN + 3 * DAY).toISOString(),
    }));
    const scored = both.map((filter) => ({ ...filter, score_min: 12, score_max: 45 }));
    for (const filter of [...both, ...dated, ...scored].map((given) => ({ ...NO_FILTER, ...given }))) {
      for (const isDescending of [true, false]) {
        const sort: Sort = { by: 'created_at', isDescending };
        const expected = modelled(calls, filter, sort);
        expect(await listing.walk(firmUuid, filter, sort, 100)).toEqual(expected);
        for (const page of [1, 3, Math.ceil(expected.length / 10), Math.ceil(expected.length / 10) + 1]) {
          const { items } = await listing.ask(firmUuid, filter, { sort, page });
          expect(items.map(({ uuid }) => uuid)).toEqual(expected.slice((page - 1) * 10, page * 10));
        }
      }
    }
  });

  it('is counted exactly up to 10,000 calls and in one batch, beyond within 5 %, and known to be empty without reading many calls', async () => {
    const firmUuid = randomUUID();
    const batch = randomUUID();
    await service.db.query(
      `INSERT INTO listed_call (firm_uuid, uuid, start_time, batch_uuid, score, is_reviewed, source, status, segment_type, direction,
         operator_name, client_phone)
       SELECT $1, gen_random_uuid(), '2026-01-01', CASE WHEN n <= 120000 THEN $2::uuid END, n % 1001, false, 'audio',
         CASE n % 20 WHEN 0 THEN 'failed' ELSE 'completed' END, CASE n % 10 WHEN 0 THEN 'sales' ELSE 'support' END,
         CASE n % 2 WHEN 0 THEN 'inbound' ELSE 'outbound' END, 'Aziza', '1'
       FROM generate_series(1, 130000) AS n`,
      [firmUuid, batch],
    );
    const counted = async (filter: Partial<CallFilter>) =>
      service.deps.listing.count({ firmUuid, filter: { ...NO_FILTER, ...filter }, words: null });
    expect(await counted({ status: ['failed'] })).toEqual({ count: 6_500, isEstimate: false });
    expect(await counted({ status: ['failed'], segment_type: ['sales'], score_min: 50 })).toMatchObject({
      isEstimate: false,
    });
    expect(await counted({ batch })).toEqual({ count: 120_000, isEstimate: false });
    for (const [filter, exact] of [
      [{}, 130_000],
      [{ segment_type: ['support'] }, 117_000],
      [{ status: ['completed'], segment_type: ['support'] }, 117_000],
      [{ batch, status: ['completed'] }, 114_000],
      [{ score_min: 0, score_max: 30 }, Math.round((130_000 * 301) / 1001)],
      [{ score_min: 0, score_max: 90 }, Math.round((130_000 * 901) / 1001)],
    ] as [Partial<CallFilter>, number][]) {
      const { count, isEstimate } = await counted(filter);
      expect(isEstimate).toBe(true);
      expect(Math.abs(count / exact - 1)).toBeLessThan(0.05);
    }

    await service.db.query('VACUUM ANALYZE listed_call');
    let read = 0;
    const query = async (sql: string, values?: unknown[]) => {
      const [row] = await service.db.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, values);
      read += callsRead((row!['QUERY PLAN'] as [{ Plan: Plan }])[0].Plan);
      return service.db.query(sql, values);
    };
    const { deps } = service;
    const watched = listingIn({ ...service.db, query } as Database, new AnalysisBodies(), deps.carryOver);
    const filter = { ...NO_FILTER, segment_type: ['sales'], direction: ['outbound' as const] };
    const page = { firmUuid, filter, words: null, sort: NEWEST, after: null, offset: 0, limit: 10 };
    expect(await watched.page(page)).toEqual({ calls: [], count: { count: 0, isEstimate: false } });
    // The smallest part of the firm's calls that counts are estimated from has 1 in 256.
    expect(read).toBeLessThan(1_300);
  });

  it('is of one moment while calls change, and counts a batch that only changes alike', async () => {
    const firmUuid = randomUUID();
    const batch = randomUUID();
    const calls = Array.from({ length: 60 }, () => callOf({ status: 'queued', outcome: null, score: null, batch }));
    await listing.add(firmUuid, calls);
    const over = new AbortController();
    const change = async () => {
      for (let round = 0; !over.signal.aborted; round++) {
        const { uuid } = calls[round % calls.length]!;
        const [status, score] = round % 2 === 0 ? ['completed', 71.4] : ['queued', null];
        await service.db.query('UPDATE call SET status = $2, score = $3 WHERE uuid = $1', [uuid, status, score]);
      }
    };
    const ask = async () => {
      for (let round = 0; round < 40; round++) {
        const { items } = await listing.ask(firmUuid, { status: ['queued'] }, { size: 100 });
        expect(items.filter(({ status }) => status !== 'queued')).toEqual([]);
        const scored = await listing.ask(firmUuid, { score_min: 50 }, { size: 100 });
        expect(scored.items.filter(({ score }) => score !== 71.4)).toEqual([]);
        expect(await listing.ask(firmUuid, { batch }, { size: 7 })).toMatchObject({ count: 60, isEstimate: false });
      }
    };
    await Promise.all([change(), ask().finally(() => over.abort())]);
  });

  it.each(['created_at', 'start_time'] as const)(
    'by %s has every call once on its pages while calls are processed and none is added',
    async (by) => {
      const firmUuid = randomUUID();
      const calls = sampleCalls(120, 13).map((call): Call => ({ ...call, operator: 'Aziza' }));
      await listing.add(firmUuid, calls);
      const sort = { by, isDescending: true };
      const seen: string[] = [];
      for (let page = 1; page <= 13; page++) {
        const { items, count } = await listing.ask(firmUuid, { operator_name: 'aziza' }, { sort, page });
        expect(count).toBe(120);
        seen.push(...items.map(({ uuid }) => uuid));
        await service.db.query(
          `UPDATE call SET status = 'completed', score = $2, language = 'en' WHERE firm_uuid = $1 AND get_byte(uuid_send(uuid), 15) % 3 = 0`,
          [firmUuid, page],
        );
      }
      expect(seen).toEqual(modelled(calls, { ...NO_FILTER, operator_name: 'Aziza' }, sort));
    },
  );

  it('refuses a page beyond 10,000 calls also where the count is an estimate that ends before it', async () => {
    const count = { count: 29_000, isEstimate: true };
    const { deps } = service;
    const estimating = { ...deps, listing: { ...deps.listing, count: async () => count } };
    const request = { filter: NO_FILTER, sort: NEWEST, page: 300, size: 100, cursor: null };
    expect(await faultOf(listCalls(estimating, randomUUID(), request))).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it('reaches the first 10,000 calls by pages, and refuses further ones with the advice to use the cursor', async () => {
    const firmUuid = randomUUID();
    await service.db.query(
      `INSERT INTO call (firm_uuid, uuid, source, client_phone_number, operator_name, segment_type, start_time)
       SELECT $1, gen_random_uuid(), 'audio', '1', 'Aziza', 'support', now() FROM generate_series(1, 10100)`,
      [firmUuid],
    );
    const last = await listing.ask(firmUuid, {}, { page: 100, size: 100 });
    expect([last.items.length, last.count, last.nextCursor === null]).toEqual([100, 10_100, false]);
    expect(await listing.ask(firmUuid, {}, { cursor: last.nextCursor, size: 100 })).toMatchObject({ nextCursor: null });
    expect(await faultOf(listing.ask(firmUuid, {}, { page: 101, size: 100 }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { fields: [{ field: 'page', message: expect.stringMatching('cursor') as unknown }] },
    });
    expect(await listing.ask(firmUuid, { operator_name: 'nobody' }, { page: 101, size: 100 })).toMatchObject({
      items: [],
    });
  });

  it('has calls with the longest names that a client can choose, of letters of four bytes', async () => {
    const firmUuid = randomUUID();
    const { integer } = randomOf(5, 'names');
    // Of so many letters that PostgreSQL cannot compress them.
    const name = () => String.fromCodePoint(...Array.from({ length: 255 }, () => 0x20000 + integer(0xa000)));
    const [operator, team, segment] = [name(), name(), name()];
    const facts: Facts = {
      needsReview: 1,
      autoFailed: true,
      suspected: false,
      topics: ['cancellation', 'complaint', 'technical problem', 'opening hours', 'appointment'],
      resolution: 'unresolved',
      silence: null,
      points: [[randomUUID(), null, 1]],
    };
    // Counts are estimated from an index of every fifth call.
    const calls = Array.from({ length: 40 }, () => callOf({ operator, team, segment, reviewed: true, facts }));
    await listing.add(firmUuid, calls);
    const filter = { operator_name: operator, operator_group_name: team, segment_type: [segment] };
    for (const more of [{}, { needs_review: true }, { reviewed: true }, { auto_failed: true }])
      expect([more, await listing.ask(firmUuid, { ...filter, ...more })]).toMatchObject([more, { count: 40 }]);
  });

  it('keeps firms apart, even those with equal calls', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await listing.add(one, [callOf(), callOf()], '<operator>shared words');
    await listing.add(other, [callOf()], '<operator>shared words');
    for (const filter of [
      {},
      { operator_name: 'Aziza' },
      { q: 'shared' },
      { score_min: 1 },
      { started_from: new Date(BEGIN).toISOString() },
    ]) {
      expect(await listing.ask(one, filter)).toMatchObject({ count: 2 });
      expect(await listing.ask(other, filter)).toMatchObject({ count: 1 });
      expect(await listing.ask(randomUUID(), filter)).toMatchObject({ count: 0, items: [], nextCursor: null });
    }
  });

  it('is empty after its last page, however high the page number is', async () => {
    const firmUuid = randomUUID();
    await listing.add(firmUuid, [callOf()]);
    expect(await listing.ask(firmUuid, {}, { page: 1_000_000 })).toMatchObject({ count: 1, items: [] });
    expect(await listing.ask(firmUuid, { operator_name: 'Aziza' }, { page: 2 ** 31 - 1, size: 100 })).toMatchObject({
      count: 1,
      items: [],
    });
  });

  it('applies all other filters to a call that is found by its partner_call_id', async () => {
    const firmUuid = randomUUID();
    const call = callOf({ operator: 'Bakyt' });
    await listing.add(firmUuid, [call], '<client>parcel');
    await service.db.query('UPDATE call SET partner_call_id = $2 WHERE uuid = $1', [call.uuid, 'crm-1']);
    const ids = async (filter: Partial<CallFilter>) =>
      (await listing.ask(firmUuid, { partner_call_id: 'crm-1', ...filter })).count;
    expect(await ids({})).toBe(1);
    expect(await ids({ operator_name: 'Bakyt', q: 'parcels' })).toBe(0);
    expect(await ids({ operator_name: 'Bakyt', q: 'parcel' })).toBe(1);
    expect(await ids({ operator_name: 'Aziza' })).toBe(0);
  });
});

describe('a cursor', () => {
  it.each(['created_at', 'start_time', 'score'] as const)(
    'by %s returns every call that matches the whole time exactly once, while others are added, changed and deleted',
    async (by) => {
      const firmUuid = randomUUID();
      const staying = sampleCalls(60, 11).map((call): Call => ({ ...call, status: 'completed' }));
      const leaving = Array.from({ length: 60 }, (_, index) => callOf({ start: BEGIN + index * DAY, score: index }));
      await listing.add(firmUuid, [...staying, ...leaving]);
      const filter: CallFilter = { ...NO_FILTER, status: ['completed'] };
      for (const isDescending of [true, false]) {
        let round = 0;
        const seen = await listing.walk(firmUuid, filter, { by, isDescending }, 7, async () => {
          await listing.add(firmUuid, [callOf({ start: BEGIN + round * DAY, score: round })]);
          await service.db.query(`UPDATE call SET status = 'failed', score = 3 WHERE uuid = $1`, [
            leaving[round]!.uuid,
          ]);
          await service.db.query(`UPDATE call SET status = 'completed' WHERE uuid = $1`, [
            leaving[(round + 50) % 60]!.uuid,
          ]);
          await service.db.query('DELETE FROM call WHERE uuid = $1', [leaving[59 - round]!.uuid]);
          round++;
        });
        expect(seen.filter((uuid) => staying.some((call) => call.uuid === uuid)).toSorted()).toEqual(
          staying.map(({ uuid }) => uuid).toSorted(),
        );
        expect(new Set(seen).size).toBe(seen.length);
      }
    },
  );

  it('is refused with another filter, with another sort, in another firm, and after any change to it', async () => {
    const [firmUuid, other] = [randomUUID(), randomUUID()];
    await listing.add(
      firmUuid,
      Array.from({ length: 12 }, () => callOf()),
    );
    await listing.add(
      other,
      Array.from({ length: 12 }, () => callOf()),
    );
    const filter: Partial<CallFilter> = { status: ['completed', 'failed'] };
    const { nextCursor } = await listing.ask(firmUuid, filter);
    const cursor = nextCursor!;
    expect((await listing.ask(firmUuid, { status: ['failed', 'completed'] }, { cursor })).items).toHaveLength(2);
    const swapped = cursor.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'));
    for (const refused of [
      () => listing.ask(firmUuid, { status: ['completed'] }, { cursor }),
      () => listing.ask(firmUuid, { ...filter, q: 'hello' }, { cursor }),
      () => listing.ask(firmUuid, filter, { cursor, sort: { by: 'score', isDescending: true } }),
      () => listing.ask(other, filter, { cursor }),
      () => listing.ask(firmUuid, filter, { cursor: swapped }),
      () => listing.ask(firmUuid, filter, { cursor: `${cursor}=` }),
      () => listing.ask(firmUuid, filter, { cursor: 'x' }),
    ]) {
      expect(await faultOf(refused())).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { fields: [{ field: 'cursor' }] },
      });
    }
  });
});
