import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { Database } from '@call-analysis/postgres';
import { createLog } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { v7 } from 'uuid';
import { keepIndexed } from '../search/indexer/run-indexer.ts';
import { search } from '../search/index.ts';
import { type CallFilter, EVERYTHING, type Sort, type Store } from '../store/index.ts';
import { faultOf, IngestUnderTest } from '../test/ingest-under-test.ts';
import { listCalls, type ListCallsRequest } from './list-calls.ts';

const service = new IngestUnderTest();

interface Call {
  uuid: string;
  source: string;
  status: string;
  outcome: string | null;
  direction: string | null;
  segment: string;
  operator: string;
  team: string | null;
  campaign: string | null;
  batch: string | null;
  start: number;
  score: number | null;
}

const NEWEST: Sort = { by: 'created_at', isDescending: true };
const DAY = 86_400_000;
const BEGIN = Date.UTC(2026, 0, 1);

/** Waits for the index however busy the machine is. */
function ask(firmUuid: string, filter: Partial<CallFilter>, more: Partial<ListCallsRequest> = {}) {
  const { store } = service.parts;
  const catchUp: typeof store.search.catchUp = (firm, { words }) =>
    store.search.catchUp(firm, { words, withinMs: 120_000 });
  return askIn({ ...store, search: { ...store.search, catchUp } }, firmUuid, filter, more);
}

function askIn(store: Store, firmUuid: string, filter: Partial<CallFilter>, more: Partial<ListCallsRequest> = {}) {
  const whole = { ...EVERYTHING, ...filter };
  return listCalls(store, firmUuid, { filter: whole, sort: NEWEST, page: 1, cursor: null, size: 10, ...more });
}

async function add(firmUuid: string, calls: readonly Call[], said = '<operator>Hello'): Promise<void> {
  const { store } = service.parts;
  await service.db.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO call (firm_uuid, uuid, source, status, outcome, direction, segment_type, operator_name, operator_group_name,
         campaign_uuid, batch_uuid, start_time, score, client_phone_number, tagged_text)
       SELECT $1, c.uuid, c.source, c.status, c.outcome, c.direction, c.segment, c.operator, c.team, c.campaign, c.batch,
         to_timestamp(c.start / 1000.0), c.score, '+998901234567', $3
       FROM jsonb_to_recordset($2::jsonb) AS c (uuid uuid, source text, status text, outcome text, direction text,
         segment text, operator text, team text, campaign uuid, batch uuid, start float8, score float8)`,
      [firmUuid, JSON.stringify(calls), said],
    );
    for (const { uuid } of calls) await store.search.noteNewCalls(tx, firmUuid, uuid, uuid, 1);
  });
}

let made = 0;
function callOf(change: Partial<Call> = {}): Call {
  made++;
  return {
    uuid: v7({ msecs: BEGIN + made }),
    source: 'transcription',
    status: 'completed',
    outcome: 'scored',
    direction: 'inbound',
    segment: 'support',
    operator: 'Aziza',
    team: null,
    campaign: null,
    batch: null,
    start: BEGIN,
    score: 50,
    ...change,
  };
}

/** Adds a call for each text, in that order, and returns their uuids. */
async function say(firmUuid: string, texts: readonly { text: string; language: string | null }[]): Promise<string[]> {
  const uuids: string[] = [];
  for (const { text, language } of texts) {
    const call = callOf();
    await add(firmUuid, [call], `<operator>${text}`);
    await service.db.query('UPDATE call SET language = $2 WHERE uuid = $1', [call.uuid, language]);
    uuids.push(call.uuid);
  }
  return uuids;
}

async function found(firmUuid: string, q: string, filter: Partial<CallFilter> = {}): Promise<string[]> {
  const { items, count } = await ask(firmUuid, { q, ...filter }, { size: 100 });
  expect(count).toBe(items.length);
  return items.map(({ uuid }) => uuid).toSorted();
}

const campaigns = [randomUUID(), randomUUID()];
const batches = [randomUUID(), randomUUID()];
const anyCall = fc.record({
  source: fc.constantFrom('audio', 'transcription'),
  status: fc.constantFrom('queued', 'analyzing', 'completed', 'failed'),
  outcome: fc.constantFrom(null, 'scored', 'no_speech'),
  direction: fc.constantFrom(null, 'inbound', 'outbound'),
  segment: fc.constantFrom('support', 'sales', 'Поддержка'),
  operator: fc.constantFrom('Aziza', "O'ktam", 'Болот'),
  team: fc.constantFrom(null, 'Day', 'Night'),
  campaign: fc.constantFrom(null, ...campaigns),
  batch: fc.constantFrom(null, ...batches),
  start: fc.integer({ min: 0, max: 40 }).map((quarter) => BEGIN + (quarter * DAY) / 4),
  score: fc.constantFrom(null, 0, 12.3, 50, 71.4, 100),
});
const some = <Value>(...values: Value[]) => fc.subarray(values, { minLength: 1 });
const times = fc.integer({ min: -1, max: 42 }).map((quarter) => new Date(BEGIN + (quarter * DAY) / 4));
const anyFilter = fc
  .record(
    {
      status: some('queued', 'completed', 'failed', 'canceled'),
      outcome: some('scored', 'no_speech'),
      segmentType: some('support', 'Поддержка', 'nobody'),
      direction: some('inbound', 'outbound'),
      operatorName: fc.constantFrom('Aziza', "O'ktam", 'nobody'),
      operatorGroupName: fc.constantFrom('Day', 'Night'),
      batch: fc.constantFrom(...batches),
      campaign: fc.constantFrom(...campaigns),
      source: fc.constantFrom('audio', 'transcription'),
      startedFrom: times,
      startedTo: times,
      scoreMin: fc.constantFrom(0, 12.3, 12.31, 71.4, 80),
      scoreMax: fc.constantFrom(0, 12.3, 71.4, 71.45, 100),
    },
    { requiredKeys: [] },
  )
  .map((given) => ({ ...EVERYTHING, ...given }) as CallFilter);
const anySort: fc.Arbitrary<Sort> = fc.record({
  by: fc.constantFrom('created_at', 'start_time', 'score'),
  isDescending: fc.boolean(),
});

function modelled(calls: readonly Call[], filter: CallFilter, { by, isDescending }: Sort): string[] {
  const isOneOf = (wanted: readonly string[], value: string | null) =>
    wanted.length === 0 || wanted.includes(value ?? '-');
  const is = (wanted: string | null, value: string | null) => wanted === null || wanted === value;
  const matching = calls.filter(
    (call) =>
      isOneOf(filter.status, call.status) &&
      isOneOf(filter.outcome, call.outcome) &&
      isOneOf(filter.segmentType, call.segment) &&
      isOneOf(filter.direction, call.direction) &&
      is(filter.operatorName, call.operator) &&
      is(filter.operatorGroupName, call.team) &&
      is(filter.batch, call.batch) &&
      is(filter.campaign, call.campaign) &&
      is(filter.source, call.source) &&
      (filter.startedFrom === null || call.start >= filter.startedFrom.getTime()) &&
      (filter.startedTo === null || call.start < filter.startedTo.getTime()) &&
      (filter.scoreMin === null || (call.score ?? -1) >= filter.scoreMin) &&
      (filter.scoreMax === null || (call.score !== null && call.score <= filter.scoreMax)),
  );
  const way = isDescending ? -1 : 1;
  const compare = (one: number | string, other: number | string) => (one < other ? -way : one > other ? way : 0);
  return matching
    .toSorted((one, other) => {
      if (by === 'score' && (one.score === null) !== (other.score === null)) return one.score === null ? 1 : -1;
      const first =
        by === 'score'
          ? compare(one.score ?? 0, other.score ?? 0)
          : by === 'start_time'
            ? compare(one.start, other.start)
            : 0;
      return first === 0 ? compare(one.uuid, other.uuid) : first;
    })
    .map(({ uuid }) => uuid);
}

async function walk(firmUuid: string, filter: CallFilter, sort: Sort, size: number, between?: () => Promise<void>) {
  const uuids: string[] = [];
  for (let cursor: string | null = null; ;) {
    const { items, nextCursor } = await ask(firmUuid, filter, { sort, size, cursor });
    uuids.push(...items.map(({ uuid }) => uuid));
    if (nextCursor === null) return uuids;
    cursor = nextCursor;
    await between?.();
  }
}

describe('a list of calls', () => {
  it('is what a filter over all calls, sorted, would give, page by page and by the cursor', async () => {
    const firmUuid = randomUUID();
    const calls = fc.sample(anyCall, { numRuns: 150, seed: 7 }).map((call): Call => ({ ...callOf(), ...call }));
    await add(firmUuid, calls);
    await fc.assert(
      fc.asyncProperty(
        anyFilter,
        anySort,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 40 }),
        async (filter, sort, page, size) => {
          const expected = modelled(calls, filter, sort);
          const { items, count, isEstimate } = await ask(firmUuid, filter, { sort, page, size });
          expect([items.map(({ uuid }) => uuid), count, isEstimate]).toEqual([
            expected.slice((page - 1) * size, page * size),
            expected.length,
            false,
          ]);
          expect(await walk(firmUuid, filter, sort, Math.max(size, 10))).toEqual(expected);
        },
      ),
      { numRuns: 120 },
    );
  });

  it('shows what was committed before it was asked, also after every change', async () => {
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 30 }, () => callOf({ status: 'queued', outcome: null, score: null }));
    await add(firmUuid, calls);
    expect(await ask(firmUuid, { status: ['queued'] })).toMatchObject({ count: 30 });
    const [first] = calls;
    await service.db.query(`UPDATE call SET status = 'completed', outcome = 'scored', score = 71.4 WHERE uuid = $1`, [
      first!.uuid,
    ]);
    expect(await ask(firmUuid, { status: ['queued'] })).toMatchObject({ count: 29 });
    expect(await ask(firmUuid, { scoreMin: 71.4, scoreMax: 71.4 })).toMatchObject({
      count: 1,
      items: [{ uuid: first!.uuid }],
    });
    // What is no difference when it is counted is none when it is shown.
    expect(await ask(firmUuid, { scoreMin: 71.40000001 })).toMatchObject({ count: 1, items: [{ uuid: first!.uuid }] });
    await service.db.query('DELETE FROM call WHERE uuid = $1', [first!.uuid]);
    expect(await ask(firmUuid, { scoreMin: 71.4 })).toMatchObject({ count: 0, items: [] });
    expect(await ask(firmUuid, {})).toMatchObject({ count: 29 });
  });

  it('is complete where filters rule each other out, wholly or over long stretches', async () => {
    const firmUuid = randomUUID();
    // Whoever is in the night team takes other calls in each third, and in the last one all but the oldest of them.
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
    await add(firmUuid, calls);
    for (let portion = 1; portion > 0;) portion = await service.parts.store.search.indexCalls(firmUuid);
    const both = [
      { operatorGroupName: 'Night', segmentType: ['sales'] },
      { operatorGroupName: 'Day', segmentType: ['sales'] },
    ];
    const dated = both.map((filter) => ({
      ...filter,
      startedFrom: new Date(BEGIN + DAY),
      startedTo: new Date(BEGIN + 3 * DAY),
    }));
    const scored = both.map((filter) => ({ ...filter, scoreMin: 12, scoreMax: 45 }));
    for (const filter of [...both, ...dated, ...scored].map((given) => ({ ...EVERYTHING, ...given }))) {
      for (const isDescending of [true, false]) {
        const sort: Sort = { by: 'created_at', isDescending };
        const expected = modelled(calls, filter, sort);
        expect(await walk(firmUuid, filter, sort, 100)).toEqual(expected);
        for (const page of [1, 3, Math.ceil(expected.length / 10), Math.ceil(expected.length / 10) + 1]) {
          const { items } = await ask(firmUuid, filter, { sort, page });
          expect(items.map(({ uuid }) => uuid)).toEqual(expected.slice((page - 1) * 10, page * 10));
        }
      }
    }
  });

  it('is counted exactly where one filter or some days leave few calls, and elsewhere about, whichever calls are the newest', async () => {
    const firmUuid = randomUUID();
    // Nobody has worked yet on what came last.
    const calls = Array.from({ length: 24_000 }, (_, index): Call => {
      const segment = index % 12 === 0 ? 'support' : 'sales';
      const start = BEGIN + Math.floor(index / 200) * DAY;
      const isDone = index < 21_000;
      return {
        ...callOf(),
        segment,
        start,
        status: isDone ? 'completed' : 'queued',
        outcome: isDone ? 'scored' : null,
        score: isDone ? 50 : null,
      };
    });
    await add(firmUuid, calls);
    for (let portion = 1; portion > 0;) portion = await service.parts.store.search.indexCalls(firmUuid);
    const sales = { segmentType: ['sales'] };
    const days = (from: number, to: number) => ({
      startedFrom: new Date(BEGIN + from * DAY + 1),
      startedTo: new Date(BEGIN + to * DAY),
    });
    const countOf = (filter: Partial<CallFilter>) =>
      modelled(calls, { ...EVERYTHING, ...filter }, { by: 'created_at', isDescending: true }).length;
    for (const filter of [
      { ...sales, ...days(20, 25) },
      { ...sales, ...days(200, 300) },
      { ...sales, status: ['queued'] },
    ]) {
      expect(await ask(firmUuid, filter)).toMatchObject({ count: countOf(filter), isEstimate: false });
    }
    for (const filter of [
      { ...sales, status: ['completed'] },
      { ...sales, scoreMin: 40, scoreMax: 60 },
      { ...sales, ...days(0, 105) },
    ]) {
      const { count, isEstimate } = await ask(firmUuid, filter);
      expect(isEstimate).toBe(true);
      expect(Math.abs(count / countOf(filter) - 1)).toBeLessThan(0.15);
    }
  });

  it('keeps firms apart, even those that have the same of everything', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await add(one, [callOf(), callOf()], '<operator>shared words');
    await add(other, [callOf()], '<operator>shared words');
    for (const filter of [
      {},
      { operatorName: 'Aziza' },
      { q: 'shared' },
      { scoreMin: 1 },
      { startedFrom: new Date(BEGIN) },
    ]) {
      expect(await ask(one, filter)).toMatchObject({ count: 2 });
      expect(await ask(other, filter)).toMatchObject({ count: 1 });
      expect(await ask(randomUUID(), filter)).toMatchObject({ count: 0, items: [], nextCursor: null });
    }
  });

  it('is empty behind its end, and says so where a page is too deep', async () => {
    const firmUuid = randomUUID();
    await add(firmUuid, [callOf()]);
    expect(await ask(firmUuid, {}, { page: 1_000_000 })).toMatchObject({ count: 1, items: [] });
    expect(await ask(firmUuid, { operatorName: 'Aziza' }, { page: 2 ** 31 - 1, size: 100 })).toMatchObject({
      count: 1,
      items: [],
    });
  });

  it('finds a call by the id of the partner under all other filters', async () => {
    const firmUuid = randomUUID();
    const call = callOf({ operator: 'Bakyt' });
    await add(firmUuid, [call], '<client>parcel');
    await service.db.query('UPDATE call SET partner_call_id = $2 WHERE uuid = $1', [call.uuid, 'crm-1']);
    const ids = async (filter: Partial<CallFilter>) =>
      (await ask(firmUuid, { partnerCallId: 'crm-1', ...filter })).count;
    expect(await ids({})).toBe(1);
    expect(await ids({ operatorName: 'Bakyt', q: 'parcels' })).toBe(0);
    expect(await ids({ operatorName: 'Bakyt', q: 'parcel' })).toBe(1);
    expect(await ids({ operatorName: 'Aziza' })).toBe(0);
  });
});

describe('a cursor', () => {
  it.each(['created_at', 'start_time', 'score'] as const)(
    'by %s meets every call once that matches all the while, whatever comes, changes and goes beside it',
    async (by) => {
      const firmUuid = randomUUID();
      const staying = fc
        .sample(anyCall, { numRuns: 60, seed: 11 })
        .map((call): Call => ({ ...callOf(), ...call, status: 'completed' }));
      const leaving = Array.from({ length: 60 }, (_, index) => callOf({ start: BEGIN + index * DAY, score: index }));
      await add(firmUuid, [...staying, ...leaving]);
      const filter = { ...EVERYTHING, status: ['completed'] };
      for (const isDescending of [true, false]) {
        let turn = 0;
        const met = await walk(firmUuid, filter, { by, isDescending }, 7, async () => {
          await add(firmUuid, [callOf({ start: BEGIN + turn * DAY, score: turn })]);
          await service.db.query(`UPDATE call SET status = 'failed', score = 3 WHERE uuid = $1`, [leaving[turn]!.uuid]);
          await service.db.query(`UPDATE call SET status = 'completed' WHERE uuid = $1`, [
            leaving[(turn + 50) % 60]!.uuid,
          ]);
          await service.db.query('DELETE FROM call WHERE uuid = $1', [leaving[59 - turn]!.uuid]);
          turn++;
        });
        expect(met.filter((uuid) => staying.some((call) => call.uuid === uuid)).toSorted()).toEqual(
          staying.map(({ uuid }) => uuid).toSorted(),
        );
        expect(new Set(met).size).toBe(met.length);
      }
    },
  );

  it('is refused with another filter, another sort, in another firm, and when a letter of it was changed', async () => {
    const [firmUuid, other] = [randomUUID(), randomUUID()];
    await add(
      firmUuid,
      Array.from({ length: 12 }, () => callOf()),
    );
    await add(
      other,
      Array.from({ length: 12 }, () => callOf()),
    );
    const filter = { status: ['completed', 'failed'] };
    const { nextCursor } = await ask(firmUuid, filter);
    const cursor = nextCursor!;
    expect((await ask(firmUuid, { status: ['failed', 'completed'] }, { cursor })).items).toHaveLength(2);
    const swapped = cursor.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'));
    for (const refused of [
      () => ask(firmUuid, { status: ['completed'] }, { cursor }),
      () => ask(firmUuid, { ...filter, q: 'hello' }, { cursor }),
      () => ask(firmUuid, filter, { cursor, sort: { by: 'score', isDescending: true } }),
      () => ask(other, filter, { cursor }),
      () => ask(firmUuid, filter, { cursor: swapped }),
      () => ask(firmUuid, filter, { cursor: `${cursor}=` }),
      () => ask(firmUuid, filter, { cursor: 'x' }),
    ]) {
      expect(await faultOf(refused())).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { fields: [{ field: 'cursor' }] },
      });
    }
  });
});

describe('words', () => {
  it('are found in their forms in the languages that have them, and as written in the others', async () => {
    const firmUuid = randomUUID();
    const [en, ru, es, uz, ky, unknown] = await say(firmUuid, [
      { text: 'Your payments were refunded twice', language: 'en' },
      { text: 'Ваши платежи вернулись ещё вчера', language: 'ru' },
      { text: 'Le devolvimos los pagos ayer', language: 'es' },
      { text: "Toʻlov bo’yicha ma'lumot oʼzgardi", language: 'uz' },
      { text: 'Төлөмүңүз кечээ келген', language: 'ky' },
      { text: 'Payments пришли', language: null },
    ]);
    expect(await found(firmUuid, 'payment')).toEqual([en]);
    expect(await found(firmUuid, 'refunding')).toEqual([en]);
    expect(await found(firmUuid, 'платёж')).toEqual([ru]);
    expect(await found(firmUuid, 'еще')).toEqual([ru]);
    expect(await found(firmUuid, 'платежей вчера')).toEqual([ru]);
    expect(await found(firmUuid, 'pago')).toEqual([es]);
    for (const spelling of ["to'lov", 'toʻlov', 'to`lov', 'tolov', 'TO’LOV'])
      expect(await found(firmUuid, spelling)).toEqual([uz]);
    expect(await found(firmUuid, "ma'lumot o'zgardi")).toEqual([uz]);
    expect(await found(firmUuid, 'төлөмүңүз')).toEqual([ky]);
    expect(await found(firmUuid, 'payments')).toEqual([en, unknown].toSorted());
  });

  it('are found however frequent they are in their language, alone, in phrases and ruled out', async () => {
    const firmUuid = randomUUID();
    const [en, ru, es] = await say(firmUuid, [
      { text: 'You have to tell the manager', language: 'en' },
      { text: 'Так нельзя, верните мне деньги', language: 'ru' },
      { text: 'Dígale que tenga cuidado', language: 'es' },
    ]);
    expect(await found(firmUuid, 'the')).toEqual([en]);
    expect(await found(firmUuid, '"you have to"')).toEqual([en]);
    expect(await found(firmUuid, '"you to"')).toEqual([]);
    expect(await found(firmUuid, 'нельзя')).toEqual([ru]);
    expect(await found(firmUuid, '"que tenga"')).toEqual([es]);
    expect(await found(firmUuid, '-the')).toEqual([ru, es].toSorted());
  });

  it('may be phrases, which do not reach across utterances, and may be ruled out', async () => {
    const firmUuid = randomUUID();
    const [whole, apart] = await say(firmUuid, [
      { text: 'the parcel was lost<client>I am sorry', language: 'en' },
      { text: 'the parcel<client>lost it again', language: 'en' },
    ]);
    expect(await found(firmUuid, 'parcel lost')).toEqual([whole, apart].toSorted());
    expect(await found(firmUuid, '"parcel was lost"')).toEqual([whole]);
    expect(await found(firmUuid, '"parcel lost"')).toEqual([]);
    expect(await found(firmUuid, 'parcel -sorry')).toEqual([apart]);
    expect(await found(firmUuid, '-sorry')).toEqual([apart]);
    expect(await found(firmUuid, 'parcel', { operatorName: 'nobody' })).toEqual([]);
    expect(
      await found(firmUuid, 'parcel', { scoreMin: 50, segmentType: ['support'], direction: ['inbound'] }),
    ).toHaveLength(2);
  });

  it('are found whatever signs stand beside them, in the text and in what is asked for', async () => {
    const firmUuid = randomUUID();
    const [en, ru, es, unknown] = await say(firmUuid, [
      {
        text: 'A “refund” was sent—really… By credit/debit card.Thanks, call 555-1234, bob@example.com, $1,500',
        language: 'en',
      },
      { text: 'Вам «письмо» — деньги—вернули…Спасибо, счёт №57', language: 'ru' },
      { text: '¿Cómo está? ¡Buenas tardes! ¿Cuánto?', language: 'es' },
      { text: '«Төлөм»—кечээ, par\u00adcel \u200frouter\u200f ☎️modem', language: null },
    ]);
    const ofEn = [
      'refund',
      '“refund”',
      'sent',
      'really',
      'credit',
      'debit',
      'card',
      'thanks',
      '1234',
      '555-1234',
      'bob',
      'example.com',
      '1,500',
      '$1,500.',
    ];
    for (const q of ofEn) expect([q, await found(firmUuid, q)]).toEqual([q, [en]]);
    for (const q of ['письмо', '«деньги»', 'деньги—', 'вернули', 'спасибо', '57', '№57'])
      expect([q, await found(firmUuid, q)]).toEqual([q, [ru]]);
    for (const q of ['cómo', '¿Cómo está?', 'buenas', '"buenas tardes"', '¡cuánto!'])
      expect([q, await found(firmUuid, q)]).toEqual([q, [es]]);
    for (const q of ['төлөм', 'кечээ', 'parcel', 'router', 'modem', '☎️ modem'])
      expect([q, await found(firmUuid, q)]).toEqual([q, [unknown]]);
    expect(await found(firmUuid, '1234-555')).toEqual([]);
  });

  it('are ruled out by a minus right before them, and nothing else in a query is more than a word', async () => {
    const firmUuid = randomUUID();
    const [both, one] = await say(firmUuid, [
      { text: 'the wi-fi, sooner or later', language: 'en' },
      { text: 'the wi-fi, sooner', language: 'en' },
    ]);
    const all = [both, one].toSorted();
    expect(await found(firmUuid, 'sooner - later')).toEqual([both]);
    expect(await found(firmUuid, 'sooner or later')).toEqual([both]);
    expect(await found(firmUuid, 'sooner OR nothing')).toEqual([]);
    expect(await found(firmUuid, 'wi-fi -later')).toEqual([one]);
    expect(await found(firmUuid, 'sooner -"or later"')).toEqual([one]);
    expect(await found(firmUuid, 'sooner -“later or”')).toEqual(all);
    expect(await found(firmUuid, 'the -wi-fi')).toEqual([]);
    expect(await found(firmUuid, '"the wi-fi" & sooner')).toEqual(all);
    expect(await found(firmUuid, '"sooner')).toEqual(all);
    expect(await found(firmUuid, '!sooner:* | (the)')).toEqual(all);
  });

  it('of recordings are found like those of uploads, and again when the recording was heard anew', async () => {
    const firmUuid = randomUUID();
    const call = callOf({ source: 'audio' });
    await add(firmUuid, [call]);
    await service.db.query(`UPDATE call SET tagged_text = NULL, language = 'en' WHERE uuid = $1`, [call.uuid]);
    const hear = (text: string) =>
      service.db.query(
        `INSERT INTO transcript (firm_uuid, call_uuid, body) VALUES ($1, $2, $3)
         ON CONFLICT (firm_uuid, call_uuid) DO UPDATE SET body = excluded.body`,
        [firmUuid, call.uuid, deflateRawSync(JSON.stringify([{ role: 'client', text, start: 0, end: 1 }]))],
      );
    await hear('my router is broken');
    expect(await found(firmUuid, 'routers')).toEqual([call.uuid]);
    await hear('my modem is broken');
    expect(await found(firmUuid, 'routers')).toEqual([]);
    expect(await found(firmUuid, 'modem')).toEqual([call.uuid]);
  });

  it('are searched under every sort and with the cursor', async () => {
    const firmUuid = randomUUID();
    const calls = fc.sample(anyCall, { numRuns: 40, seed: 3 }).map((call): Call => ({ ...callOf(), ...call }));
    await add(firmUuid, calls, '<operator>needle in a haystack');
    await add(firmUuid, [callOf()], '<operator>nothing');
    await fc.assert(
      fc.asyncProperty(anyFilter, anySort, async (filter, sort) => {
        expect(await walk(firmUuid, { ...filter, q: 'needle' }, sort, 9)).toEqual(modelled(calls, filter, sort));
      }),
      { numRuns: 40 },
    );
  });

  it('that are none are a fault, and no text of a query breaks the search', async () => {
    const firmUuid = randomUUID();
    await add(firmUuid, [callOf()]);
    for (const q of ['🙂', '"', '-', '&&& | !', '   ', '""', '- -']) {
      expect(await faultOf(ask(firmUuid, { q }))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { fields: [{ field: 'q' }] },
      });
    }
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ maxLength: 255 }), fc.string({ unit: 'grapheme', maxLength: 200 })),
        async (text) => {
          await ask(firmUuid, { q: `a ${text.replaceAll('\0', '')}` });
        },
      ),
      { numRuns: 60 },
    );
    expect(await found(firmUuid, 'the')).toEqual([]);
    expect(await found(firmUuid, `${'x'.repeat(255)}`)).toEqual([]);
    expect(await found(firmUuid, "hello' & '#every_english_word")).toEqual([]);
  });

  it('of a very long conversation are found at its beginning at least, whatever its words are', async () => {
    const firmUuid = randomUUID();
    const words = Array.from({ length: 150_000 }, (_, index) => `word${index}x`).join(' ');
    const [uuid] = await say(firmUuid, [{ text: words, language: 'en' }]);
    expect(await found(firmUuid, 'word7x')).toEqual([uuid]);
  });
});

describe('the index', () => {
  it('is not ahead of a change that was rolled back, nor behind after a crash in between', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 20 }, () => callOf());
    await add(firmUuid, calls);
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
    const broken = search({ ...service.db, transaction: killed });
    await expect(broken.indexCalls(firmUuid)).rejects.toThrow('killed');
    expect(await store.search.count(firmUuid)).toBe(20);
    expect(await ask(firmUuid, { status: ['completed'] })).toMatchObject({ count: 20 });
    expect(await ask(firmUuid, { status: ['failed'] })).toMatchObject({ count: 0 });
  });

  it('answers in time while somebody else writes to it, and is written to by one at a time', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 50 }, () => callOf());
    await add(firmUuid, calls);
    await service.db.transaction(async (tx) => {
      await store.search.forget(tx, firmUuid, randomUUID());
      expect(await askIn(store, firmUuid, { operatorName: 'Aziza' })).toMatchObject({
        items: { length: 10 },
        isEstimate: true,
      });
    });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask(firmUuid, { operatorName: 'Aziza', q: 'hello' })),
    );
    for (const answer of answers) expect(answer).toMatchObject({ count: 50, isEstimate: false });
  });

  it('forgets a call with all that stands for it', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const [call, other] = [callOf({ operator: 'Only Hers' }), callOf()];
    await add(firmUuid, [call, other], '<operator>secret');
    expect(await ask(firmUuid, { q: 'secret' })).toMatchObject({ count: 2 });
    const removed = await service.db.transaction(async (tx) => {
      const rows = await store.search.forget(tx, firmUuid, call.uuid);
      await tx.query('DELETE FROM call WHERE uuid = $1', [call.uuid]);
      return rows;
    });
    expect(removed).toBe(2);
    expect(await ask(firmUuid, { q: 'secret' })).toMatchObject({ count: 1 });
    expect(await ask(firmUuid, {})).toMatchObject({ count: 1 });
    const left = await service.db.query(`SELECT 1 FROM facet WHERE firm_uuid = $1 AND value LIKE '%Hers%'`, [firmUuid]);
    const texts = await service.db.query('SELECT 1 FROM call_text WHERE uuid = $1', [call.uuid]);
    expect([left, texts]).toEqual([[], []]);
  });

  it('takes a large batch in portions and knows all of it before', async () => {
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
    expect(await ask(firmUuid, {})).toMatchObject({
      count: calls,
      isEstimate: false,
      items: { 0: { uuid: uuid(calls - 1) } },
    });
    // The last ones change, and are indexed with the first.
    for (const status of ['analyzing', 'queued']) {
      await service.db.query('UPDATE call SET status = $3 WHERE firm_uuid = $1 AND uuid >= $2', [
        firmUuid,
        uuid(calls - 30),
        status,
      ]);
      await store.search.indexCalls(firmUuid);
      expect(await store.search.count(firmUuid)).toBe(calls);
    }
    for (let portion = 1; portion > 0;) portion = await store.search.indexCalls(firmUuid);
    expect(await ask(firmUuid, {})).toMatchObject({ count: calls, isEstimate: false });
    expect(await ask(firmUuid, { batch })).toMatchObject({ count: calls, isEstimate: false });
    expect(await ask(firmUuid, { batch, operatorName: 'Operator 1' })).toMatchObject({
      count: calls / 2,
      isEstimate: false,
    });
    expect(await ask(firmUuid, { status: ['queued'], source: 'audio' })).toMatchObject({
      count: calls,
      isEstimate: false,
    });
    expect(await ask(firmUuid, { batch, status: ['failed'] })).toMatchObject({ count: 0, items: [] });
  });

  it('answers from the catalogue what it cannot know in time', async () => {
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 30 }, (_, index) => callOf({ operator: index % 3 === 0 ? 'Aziza' : 'Bakyt' }));
    await add(firmUuid, calls);
    const { store } = service.parts;
    const late: typeof store = { ...store, search: { ...store.search, catchUp: async () => false } };
    const filter: CallFilter = {
      ...EVERYTHING,
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

  it('finds words on every shelf, in the order of the calls, whichever shelf was filled last', async () => {
    const firmUuid = randomUUID();
    const calls = Array.from({ length: 40 }, () => callOf());
    const texts = '<operator>needle';
    for (const part of [calls.slice(10, 20), calls.slice(0, 10), calls.slice(30), calls.slice(20, 30)]) {
      await add(firmUuid, part, texts);
      expect(await ask(firmUuid, { q: 'needle' })).toMatchObject({ items: { length: 10 } });
      await service.db.query(`UPDATE facet SET calls = calls + 32768 WHERE firm_uuid = $1 AND kind = 'shelf'`, [
        firmUuid,
      ]);
    }
    const shelves = await service.db.query(`SELECT 1 FROM facet WHERE firm_uuid = $1 AND kind = 'shelf'`, [firmUuid]);
    expect(shelves.length).toBeGreaterThan(1);
    for (const isDescending of [true, false]) {
      const sort: Sort = { by: 'created_at', isDescending };
      expect(await walk(firmUuid, { ...EVERYTHING, q: 'needle' }, sort, 7)).toEqual(modelled(calls, EVERYTHING, sort));
    }
  });

  it('is kept up by itself, words too once the language of a call is known or never will be', async () => {
    const { store } = service.parts;
    const firmUuid = randomUUID();
    const [done, open] = [callOf(), callOf({ status: 'queued', outcome: null, score: null })];
    // Of other tests; it would be indexed first, and slowly.
    await service.db.query('TRUNCATE call_change, text_change');
    await add(firmUuid, [done, open]);
    const indexing = keepIndexed(store, createLog({ name: 'test', level: 'silent' }));
    const wordsOf = (call: Call) => service.db.query('SELECT 1 FROM call_text WHERE uuid = $1', [call.uuid]);
    await waitUntil(async () => (await wordsOf(done)).length === 1);
    expect(await wordsOf(open)).toEqual([]);
    await service.db.query(`UPDATE call SET status = 'failed' WHERE uuid = $1`, [open.uuid]);
    await waitUntil(async () => (await wordsOf(open)).length === 1);
    await indexing.stop();
  });

  it('counts by facet what there is, after any changes', async () => {
    const firmUuid = randomUUID();
    const calls = fc.sample(anyCall, { numRuns: 50, seed: 5 }).map((call): Call => ({ ...callOf(), ...call }));
    await add(firmUuid, calls);
    await ask(firmUuid, { status: ['queued'] });
    await service.db.query(
      `UPDATE call SET status = 'completed', outcome = 'scored', score = 71.4 WHERE firm_uuid = $1 AND status = 'queued'`,
      [firmUuid],
    );
    await service.db.query(`DELETE FROM call WHERE firm_uuid = $1 AND direction = 'inbound'`, [firmUuid]);
    await ask(firmUuid, { status: ['queued'] });
    const differing = await service.db.query(
      `SELECT value, calls, (SELECT count(*) FROM call WHERE firm_uuid = $1 AND status || ':' || coalesce(outcome, '') = value) AS counted
       FROM facet WHERE firm_uuid = $1 AND kind = 'state'`,
      [firmUuid],
    );
    for (const { calls: known, counted } of differing) expect(known).toBe(counted);
  });
});
