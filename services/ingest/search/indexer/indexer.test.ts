import { randomUUID } from 'node:crypto';
import type { Database } from '@call-analysis/postgres';
import { createLog } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { listCalls } from '../../listing/list-calls.ts';
import { AnalysisBodies } from '../../results/analysis-body-store.ts';
import { RecentFacts } from '../../results/recent-facts.ts';
import { type CallFilter, NO_FILTER, type Sort } from '../../store/index.ts';
import {
  anyFilter,
  BEGIN,
  type Call,
  CallListing,
  callOf,
  modelled,
  NEWEST,
  sampleCalls,
} from '../../test/call-listing.ts';
import { csvOf } from '../../test/csv.ts';
import { faultOf } from '../../test/fixtures.ts';
import { IngestUnderTest } from '../../test/ingest-under-test.ts';
import { search } from '../index.ts';
import { runIndexer } from './run-indexer.ts';

const service = new IngestUnderTest();
const listing = new CallListing(service);

describe('the index', () => {
  it('contains no change that was rolled back, and misses none after a crash of the indexer', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 20 }, () => callOf());
    await listing.add(firmUuid, calls);
    const failing = service.db.transaction(async (tx) => {
      await tx.query(`UPDATE call SET status = 'failed' WHERE firm_uuid = $1`, [firmUuid]);
      throw new Error('killed');
    });
    await expect(failing).rejects.toThrow('killed');
    const killed: Database['transaction'] = (work) =>
      service.db.transaction(async (tx) => {
        await work(tx);
        throw new Error('killed');
      });
    const broken = search(
      { ...service.db, transaction: killed },
      { recentFacts: new RecentFacts(), bodies: new AnalysisBodies() },
    );
    await expect(broken.indexEntries(firmUuid)).rejects.toThrow('killed');
    expect(await store.search.count(firmUuid)).toBe(20);
    expect(await listing.ask(firmUuid, { status: ['completed'] })).toMatchObject({ count: 20 });
    expect(await listing.ask(firmUuid, { status: ['failed'] })).toMatchObject({ count: 0 });
  });

  it('answers in time while another process writes it, and has one writer at a time', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 50 }, () => callOf());
    await listing.add(firmUuid, calls);
    await service.db.transaction(async (tx) => {
      await store.search.removeCall(tx, firmUuid, randomUUID());
      expect(await listing.askIn(store, firmUuid, { operatorName: 'Aziza' })).toMatchObject({
        items: { length: 10 },
        isEstimate: true,
      });
    });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => listing.ask(firmUuid, { operatorName: 'Aziza', q: 'hello' })),
    );
    for (const answer of answers) expect(answer).toMatchObject({ count: 50, isEstimate: false });
  });

  it('keeps nothing of a removed call, facet values included', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const [call, other] = [callOf({ operator: 'Only Hers' }), callOf()];
    await listing.add(firmUuid, [call, other], '<operator>secret');
    expect(await listing.ask(firmUuid, { q: 'secret' })).toMatchObject({ count: 2 });
    const removed = await service.db.transaction(async (tx) => {
      const rows = await store.search.removeCall(tx, firmUuid, call.uuid);
      await tx.query('DELETE FROM call WHERE uuid = $1', [call.uuid]);
      return rows;
    });
    expect(removed).toBe(2);
    expect(await listing.ask(firmUuid, { q: 'secret' })).toMatchObject({ count: 1 });
    expect(await listing.ask(firmUuid, {})).toMatchObject({ count: 1 });
    const left = await service.db.query(`SELECT 1 FROM facet WHERE firm_uuid = $1 AND value LIKE '%Hers%'`, [firmUuid]);
    const texts = await service.db.query('SELECT 1 FROM call_text WHERE uuid = $1', [call.uuid]);
    expect([left, texts]).toEqual([[], []]);
  });

  it('counts all calls of a large batch while it is indexed in several transactions', async () => {
    const { store } = service.parts;
    const [firmUuid, batch] = [randomUUID(), randomUUID()];
    const calls = 12_000;
    const uuid = (number: number) => `019b76da-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
    await service.db.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO call (firm_uuid, uuid, source, status, segment_type, operator_name, start_time, client_phone_number, batch_uuid)
         SELECT $1, ('019b76da-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid, 'audio', 'queued', 'support',
           'Operator ' || number % 2, now(), '+998901234567', $2 FROM generate_series(0, $3::int - 1) AS number`,
        [firmUuid, batch, calls],
      );
      await store.search.noteNewCalls(tx, firmUuid, uuid(0), uuid(calls - 1), calls);
    });
    expect(await listing.ask(firmUuid, {})).toMatchObject({
      count: calls,
      isEstimate: false,
      items: { 0: { uuid: uuid(calls - 1) } },
    });
    // The last calls change, and are indexed together with the first.
    for (const status of ['analyzing', 'queued']) {
      await service.db.query('UPDATE call SET status = $3 WHERE firm_uuid = $1 AND uuid >= $2', [
        firmUuid,
        uuid(calls - 30),
        status,
      ]);
      await store.search.indexEntries(firmUuid);
      expect(await store.search.count(firmUuid)).toBe(calls);
    }
    for (let indexed = 1; indexed > 0;) indexed = await store.search.indexEntries(firmUuid);
    expect(await listing.ask(firmUuid, {})).toMatchObject({ count: calls, isEstimate: false });
    expect(await listing.ask(firmUuid, { batch })).toMatchObject({ count: calls, isEstimate: false });
    expect(await listing.ask(firmUuid, { batch, operatorName: 'Operator 1' })).toMatchObject({
      count: calls / 2,
      isEstimate: false,
    });
    expect(await listing.ask(firmUuid, { status: ['queued'], source: 'audio' })).toMatchObject({
      count: calls,
      isEstimate: false,
    });
    expect(await listing.ask(firmUuid, { batch, status: ['failed'] })).toMatchObject({ count: 0, items: [] });
  });

  it('keeps a listing waiting for some calls, however often each has changed', async () => {
    const firmUuid = randomUUID();
    await listing.add(
      firmUuid,
      Array.from({ length: 60 }, () => callOf()),
    );
    for (const status of ['transcribing', 'transcribed', 'analyzing', 'completed'])
      await service.db.query('UPDATE call SET status = $2 WHERE firm_uuid = $1', [firmUuid, status]);
    const completed: Partial<CallFilter> = { status: ['completed'] };
    expect(await listing.askIn(service.parts.store, firmUuid, { ...completed, reviewed: false })).toMatchObject({
      count: 60,
      isEstimate: false,
    });
  });

  it('does not keep a listing waiting during a large upload, whose calls are listed and counted before they are indexed', async () => {
    const { store } = service.parts;
    const owner = service.newOwner();
    const rows = Array.from({ length: 3_000 }, (_, index) => ({
      partner_call_id: `call-${index}`,
      operator_name: index % 4 === 0 ? 'Aziza' : 'Bakyt',
    }));
    const { uuid: batch } = await service.upload(owner, csvOf(rows));
    const indexed = jest.spyOn(store.search, 'catchUp');
    const ask = (filter: Partial<CallFilter>) => listing.askIn(store, owner.firmUuid, filter);
    expect(await ask({ batch })).toMatchObject({ count: 3_000, isEstimate: true, items: { length: 10 } });
    expect((await ask({ operatorName: 'Aziza' })).count).toBe(750);
    await store.search.indexEntries(owner.firmUuid);
    await service.db.query(`UPDATE call SET status = 'completed' WHERE firm_uuid = $1 AND operator_name = 'Aziza'`, [
      owner.firmUuid,
    ]);
    expect((await ask({ batch })).count).toBe(3_000);
    expect((await ask({ status: ['completed'] })).count).toBeGreaterThan(712);
    expect((await ask({ status: ['completed'] })).count).toBeLessThan(788);
    expect((await ask({ status: ['queued'], operatorName: 'Aziza' })).count).toBeLessThan(38);
    expect(indexed).not.toHaveBeenCalled();
    indexed.mockRestore();
  });

  it('lists new calls by any filter and sort before and after they change, and has each call once', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const calls = sampleCalls(150, 11).map((call): Call => {
      const isNew = call.status === 'queued';
      return isNew ? { ...call, outcome: null, score: null, facts: null, reviewed: false, language: null } : call;
    });
    await listing.add(firmUuid, calls, '<operator>Hello', { asRange: true });
    const tables = async () => {
      const [row] = await service.db.query<{ all: number; distinct: number; recent: number }>(
        `SELECT count(*)::int AS all, count(DISTINCT uuid)::int AS distinct, (count(*) FILTER (WHERE tableoid = 'call_search_new'::regclass))::int AS recent
         FROM call_search WHERE firm = (SELECT id FROM facet WHERE firm_uuid = $1 AND kind = 'all')`,
        [firmUuid],
      );
      return row!;
    };
    const expectLists = async () => {
      for (const filter of fc.sample(anyFilter, { numRuns: 12, seed: 3 })) {
        for (const by of ['created_at', 'start_time', 'score'] as const) {
          const sort = { by, isDescending: calls.length % 2 === 0 };
          const complete = { ...NO_FILTER, ...filter };
          const { items, count } = await listing.ask(firmUuid, complete, { sort, size: 100 });
          const expected = modelled(calls, complete, sort);
          expect([items.map(({ uuid }) => uuid), count]).toEqual([expected.slice(0, 100), expected.length]);
        }
      }
    };
    await expectLists();
    expect(await tables()).toEqual({
      all: 150,
      distinct: 150,
      recent: calls.filter(({ status }) => status === 'queued').length,
    });
    const changed = calls.filter(({ status }) => status === 'queued').slice(0, 20);
    await service.db.query(
      `UPDATE call SET status = 'completed', outcome = 'scored', score = 71.4, language = 'en' WHERE firm_uuid = $1 AND uuid = ANY($2)`,
      [firmUuid, changed.map(({ uuid }) => uuid)],
    );
    for (const call of changed)
      Object.assign(call, { status: 'completed', outcome: 'scored', score: 71.4, language: 'en' });
    await expectLists();
    expect(await tables()).toMatchObject({ all: 150, distinct: 150 });
    while ((await store.search.settleEntries(firmUuid, null)) > 0);
    await expectLists();
    expect(await tables()).toEqual({ all: 150, distinct: 150, recent: 0 });
  });

  it('keeps a listing waiting for changes that are some seconds old, however many are pending', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 300 }, () => callOf());
    await listing.add(firmUuid, calls);
    while ((await store.search.indexEntries(firmUuid)) > 0);
    await service.db.query(`UPDATE call SET status = 'failed', outcome = NULL WHERE firm_uuid = $1`, [firmUuid]);
    await service.db.query(`UPDATE call_change SET at = at - interval '5 s' WHERE firm_uuid = $1`, [firmUuid]);
    const sort: Sort = { by: 'start_time', isDescending: true };
    const { items, count } = await listing.askIn(store, firmUuid, { status: ['failed'] }, { sort });
    expect([items.length, count]).toEqual([10, 300]);
  });

  it('refuses a list that would lack changes that are some seconds old, and answers those that the catalogue answers', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const call = callOf({ status: 'failed', outcome: null });
    await listing.add(firmUuid, [call, ...Array.from({ length: 20 }, () => callOf({ status: 'completed' }))]);
    await service.db.query(`UPDATE call_change SET at = at - interval '5 s' WHERE firm_uuid = $1`, [firmUuid]);
    const status = ['failed'];
    const byTime: Sort = { by: 'start_time', isDescending: true };
    await service.db.transaction(async (tx) => {
      // Another process writes the index for longer than a list waits.
      await store.search.removeCall(tx, firmUuid, randomUUID());
      const [refused, answered] = await Promise.all([
        faultOf(listing.askIn(store, firmUuid, { status }, { sort: byTime })),
        listing.askIn(store, firmUuid, { status }),
      ]);
      expect([refused.code, answered.items.map(({ uuid }) => uuid)]).toEqual(['UNAVAILABLE', [call.uuid]]);
    });
    expect(await listing.askIn(store, firmUuid, { status }, { sort: byTime })).toMatchObject({ count: 1 });
  });

  it('is replaced by the catalogue itself when it cannot catch up in time', async () => {
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 30 }, (_, index) => callOf({ operator: index % 3 === 0 ? 'Aziza' : 'Bakyt' }));
    await listing.add(firmUuid, calls);
    const { store } = service.parts;
    const late: typeof store = { ...store, search: { ...store.search, catchUp: async () => false } };
    const filter: CallFilter = {
      ...NO_FILTER,
      operatorName: 'Aziza',
      status: ['completed'],
      scoreMax: 50,
      startedFrom: new Date(BEGIN),
    };
    for (const sort of [NEWEST, { ...NEWEST, isDescending: false }]) {
      const { items, isEstimate } = await listCalls(late, firmUuid, { filter, sort, page: 2, cursor: null, size: 4 });
      expect([items.map(({ uuid }) => uuid), isEstimate]).toEqual([modelled(calls, filter, sort).slice(4, 8), true]);
    }
  });

  it('finds words in every block of documents, in the order of the calls, regardless of the block that was filled last', async () => {
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 40 }, () => callOf());
    const texts = '<operator>needle';
    for (const part of [calls.slice(10, 20), calls.slice(0, 10), calls.slice(30), calls.slice(20, 30)]) {
      await listing.add(firmUuid, part, texts);
      expect(await listing.ask(firmUuid, { q: 'needle' })).toMatchObject({ items: { length: 10 } });
      await service.db.query(`UPDATE facet SET calls = calls + 32768 WHERE firm_uuid = $1 AND kind = 'shelf'`, [
        firmUuid,
      ]);
    }
    const blocks = await service.db.query(`SELECT 1 FROM facet WHERE firm_uuid = $1 AND kind = 'shelf'`, [firmUuid]);
    expect(blocks.length).toBeGreaterThan(1);
    for (const isDescending of [true, false]) {
      const sort: Sort = { by: 'created_at', isDescending };
      expect(await listing.walk(firmUuid, { ...NO_FILTER, q: 'needle' }, sort, 7)).toEqual(
        modelled(calls, NO_FILTER, sort),
      );
    }
  });

  it('is kept up to date in the background, words once the language of a call is settled', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const [done, open] = [callOf(), callOf({ status: 'queued', outcome: null, score: null })];
    // Changes of other tests would be indexed first.
    await service.db.query('TRUNCATE call_change, text_change');
    await listing.add(firmUuid, [done, open]);
    const indexer = runIndexer(store, createLog({ name: 'test', level: 'silent' }));
    const documentOf = (call: Call) => service.db.query('SELECT 1 FROM call_text WHERE uuid = $1', [call.uuid]);
    await waitUntil(async () => (await documentOf(done)).length === 1);
    expect(await documentOf(open)).toEqual([]);
    await service.db.query(`UPDATE call SET status = 'failed' WHERE uuid = $1`, [open.uuid]);
    await waitUntil(async () => (await documentOf(open)).length === 1);
    await indexer.stop();
  });

  it('has facet counts that equal a count of the calls, after any changes', async () => {
    const firmUuid = randomUUID();
    const calls = sampleCalls(50, 5);
    await listing.add(firmUuid, calls);
    await listing.ask(firmUuid, { status: ['queued'] });
    await service.db.query(
      `UPDATE call SET status = 'completed', outcome = 'scored', score = 71.4 WHERE firm_uuid = $1 AND status = 'queued'`,
      [firmUuid],
    );
    await service.db.query(`DELETE FROM call WHERE firm_uuid = $1 AND direction = 'inbound'`, [firmUuid]);
    await listing.ask(firmUuid, { status: ['queued'] });
    const differing = await service.db.query(
      `SELECT value, calls, (SELECT count(*) FROM call WHERE firm_uuid = $1 AND status || ':' || coalesce(outcome, '') = value) AS counted
       FROM facet WHERE firm_uuid = $1 AND kind = 'state'`,
      [firmUuid],
    );
    for (const { calls: known, counted } of differing) expect(known).toBe(counted);
  });
});
