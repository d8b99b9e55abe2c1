import { randomUUID } from 'node:crypto';
import { openDatabase } from '@call-analysis/postgres';
import { tries } from '@call-analysis/testing';
import { afterAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { openStores, type Stores } from '../../deps.ts';
import { eraseCall } from '../../erasure/erase-call.ts';
import { NO_FILTER } from '../../listing/call-filter.ts';
import { endLease, noteReview } from '../../reviews/review-store.ts';
import { type Call, CallListing, callOf, judge } from '../../test/call-listing.ts';
import { untilSomebodyWaits } from '../../test/fixtures.ts';
import { IngestUnderTest } from '../../test/ingest-under-test.ts';
import { assignments } from '../assignment-store.ts';
import { readQueue, releaseLease, takeNextCall } from './take-next-call.ts';

const MINUTE = 60_000;
/** After the reviews of earlier analyses that the calls of these tests have. */
const NOON = Date.UTC(2036, 9, 2, 12);

const service = new IngestUnderTest();
const listing = new CallListing(service);
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const facts: NonNullable<Call['facts']> = {
  needsReview: 1,
  autoFailed: false,
  suspected: false,
  topics: [],
  resolution: null,
  silence: null,
  points: [['00000000-0000-7000-8000-000000000001', 1, 1]],
};
/** Calls with answers to review, each started a second after the one before. */
const callsToReview = (count: number, needsReview = 1): Call[] =>
  Array.from({ length: count }, (_, at) =>
    callOf({ start: Date.UTC(2026, 0, 1) + at * 1000, facts: { ...facts, needsReview } }),
  );

const personOf = (firmUuid: string) => ({
  firmUuid,
  userUuid: randomUUID(),
  role: 'ADMIN',
  address: '',
  seenOperators: null,
});
type Person = ReturnType<typeof personOf>;

async function next(
  person: Person,
  at: number = NOON,
  { deps = service.deps as Stores, filter = {}, ruleUuid = null as string | null, skip = [] as string[] } = {},
): Promise<string | null> {
  const asked = { filter: { ...NO_FILTER, ...filter }, ruleUuid, skip };
  const taken = await takeNextCall(deps, person, asked, new Date(at));
  if (taken === null) return null;
  expect(taken.until).toEqual(new Date(at + 15 * MINUTE));
  return taken.call.uuid;
}

/** Writes the review of a call, as whoever stores one does. */
async function finish({ firmUuid, userUuid }: Person, call: Call, at = NOON): Promise<void> {
  await service.db.transaction(async (tx) => {
    await service.deps.calls.lock(tx, firmUuid, call.uuid);
    await tx.query(
      `INSERT INTO review (firm_uuid, call_uuid, analysis_uuid, by_uuid, at, done, answers, body)
       VALUES ($1, $2, gen_random_uuid(), $3, $4, true, '[]', '')`,
      [firmUuid, call.uuid, userUuid, new Date(at)],
    );
    await tx.query('UPDATE call SET reviewed_at = $3, needs_review = 0 WHERE firm_uuid = $1 AND uuid = $2', [
      firmUuid,
      call.uuid,
      new Date(at),
    ]);
    await judge(tx, firmUuid, { ...call, facts: { ...call.facts!, needsReview: 0 } });
    await noteReview(tx, { firmUuid, callUuid: call.uuid }, true);
  });
}

async function dispute(firmUuid: string, callUuid: string, by: string, at = NOON): Promise<void> {
  await service.db.query(
    `INSERT INTO dispute (firm_uuid, uuid, call_uuid, question_uuid, reason, status, by_uuid, at)
     VALUES ($1, $2, $3, $4, '', 'open', $5, $6)`,
    [firmUuid, uuidv7(), callUuid, randomUUID(), by, new Date(at)],
  );
}

const sample = (firmUuid: string, callUuid: string, ruleUuid: string, begins = NOON) =>
  service.db.query(
    'INSERT INTO sampled_call (firm_uuid, call_uuid, rule_uuid, begins_at, is_done) VALUES ($1, $2, $3, $4, false)',
    [firmUuid, callUuid, ruleUuid, new Date(begins)],
  );

describe('the review queue', () => {
  it('gives no call to two people, however many ask at the same time on several connections', async () => {
    const stores = Array.from({ length: 4 }, () => {
      const { databaseUrl: url } = service.config;
      const db = openDatabase({ url, schema: 'ingest' });
      closing.push(() => db.close());
      const opened = openStores(db, url);
      closing.push(() => opened.close());
      return opened;
    });
    const firmUuid = randomUUID();
    const calls = callsToReview(60);
    await listing.add(firmUuid, calls);
    const people = Array.from({ length: 40 }, () => personOf(firmUuid));
    const ask = () => Promise.all(people.map((person, at) => next(person, NOON, { deps: stores[at % 4]! })));
    const first = await ask();
    expect(first).not.toContain(null);
    expect(new Set(first).size).toBe(40);
    // Asking again, also twice at once, gives everyone the call that they have.
    const [again, oncemore] = await Promise.all([ask(), ask()]);
    expect(again).toEqual(first);
    expect(oncemore).toEqual(first);
    // Everyone asks again after all leases have run out.
    const later = await Promise.all(
      people.map((person, at) => next(person, NOON + 16 * MINUTE, { deps: stores[at % 4]! })),
    );
    expect(new Set(later).size).toBe(40);
    const more = Array.from({ length: 30 }, () => personOf(firmUuid));
    const rest = await Promise.all(
      more.map((person, at) => next(person, NOON + 17 * MINUTE, { deps: stores[at % 4]! })),
    );
    const given = [...later, ...rest].filter((uuid) => uuid !== null);
    expect(new Set(given).size).toBe(60);
    expect(rest.filter((uuid) => uuid === null)).toHaveLength(10);
  });

  it('gives what is assigned to the person, then disputes of others, then samples, then answers to review, the oldest first', async () => {
    const firmUuid = randomUUID();
    const [me, other] = [personOf(firmUuid), personOf(firmUuid)];
    const uncertain = callsToReview(2);
    const certain = callsToReview(6, 0);
    const [assigned, urgent, disputed, own, sampled, theirs] = certain as [Call, Call, Call, Call, Call, Call];
    await listing.add(firmUuid, [...uncertain, ...certain]);
    const assign = (call: Call, { userUuid }: Person, due: Date | null) =>
      service.db.transaction((tx) =>
        assignments.set(tx, firmUuid, {
          call_uuid: call.uuid,
          assigned_to: userUuid,
          due,
          by: userUuid,
          at: new Date(NOON),
        }),
      );
    await assign(assigned, me, null);
    await assign(urgent, me, new Date(NOON));
    await assign(theirs, other, null);
    await dispute(firmUuid, theirs.uuid, randomUUID());
    await dispute(firmUuid, disputed.uuid, other.userUuid);
    await dispute(firmUuid, own.uuid, me.userUuid);
    const rule = randomUUID();
    await sample(firmUuid, sampled.uuid, rule);
    const seen: (string | null)[] = [];
    for (const _ of Array.from({ length: 7 })) {
      const uuid = await next(me);
      seen.push(uuid);
      const call = [...uncertain, ...certain].find((each) => each.uuid === uuid);
      if (call === undefined) continue;
      await service.db.query(`UPDATE dispute SET status = 'rejected' WHERE call_uuid = $1`, [call.uuid]);
      await finish(me, call, NOON + MINUTE);
    }
    const expected = [urgent, assigned, disputed, sampled, ...uncertain].map(({ uuid }) => uuid);
    expect(seen).toEqual([...expected, null]);
    expect(await next(other)).toBe(theirs.uuid);
  });

  it('gives a call to others when its lease has run out, was given back, or its review is finished', async () => {
    const firmUuid = randomUUID();
    const [one, two] = [personOf(firmUuid), personOf(firmUuid)];
    const calls = callsToReview(2);
    await listing.add(firmUuid, calls);
    const [first, second] = calls.map(({ uuid }) => uuid) as [string, string];
    expect(await next(one)).toBe(first);
    expect(await next(two)).toBe(second);
    expect(await next(one, NOON + 10 * MINUTE)).toBe(first);
    // One has extended the lease, two has not.
    expect(await next(personOf(firmUuid), NOON + 14 * MINUTE)).toBeNull();
    const three = personOf(firmUuid);
    expect(await next(three, NOON + 16 * MINUTE)).toBe(second);
    const { deps } = service;
    await expect(releaseLease(deps, two, second)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await releaseLease(deps, one, first);
    expect(await next(two, NOON + 16 * MINUTE)).toBe(first);
    // Whoever finishes the review.
    await finish(one, calls[0]!, NOON + 17 * MINUTE);
    expect(await next(two, NOON + 18 * MINUTE)).toBeNull();
    await eraseCall(service.deps, firmUuid, second, {});
    expect(await next(three, NOON + 18 * MINUTE)).toBeNull();
    expect(await service.db.query('SELECT FROM review_lease WHERE firm_uuid = $1', [firmUuid])).toEqual([]);
  });

  it('keeps a call with the person while it is analyzed anew, and gives it to nobody else meanwhile', async () => {
    const firmUuid = randomUUID();
    const [one, two] = [personOf(firmUuid), personOf(firmUuid)];
    const [call] = callsToReview(1) as [Call];
    await listing.add(firmUuid, [call]);
    expect(await next(one)).toBe(call.uuid);
    await service.db.query(`UPDATE call SET status = 'analyzing' WHERE uuid = $1`, [call.uuid]);
    expect(await next(one, NOON + MINUTE)).toBe(call.uuid);
    expect(await next(two, NOON + 20 * MINUTE)).toBeNull();
    await service.db.query(`UPDATE call SET status = 'completed' WHERE uuid = $1`, [call.uuid]);
    expect(await next(two, NOON + 20 * MINUTE)).toBe(call.uuid);
  });

  it('gives only what matches the filter and the rule, and takes back a call that does not', async () => {
    const firmUuid = randomUUID();
    const me = personOf(firmUuid);
    const calls = callsToReview(3);
    calls[1]!.segment = 'sales';
    await listing.add(firmUuid, calls);
    const rule = randomUUID();
    await sample(firmUuid, calls[2]!.uuid, rule);
    await sample(firmUuid, calls[0]!.uuid, randomUUID());
    expect(await next(me, NOON, { ruleUuid: rule })).toBe(calls[2]!.uuid);
    expect(await next(me, NOON, { filter: { segment_type: ['sales'] } })).toBe(calls[1]!.uuid);
    expect(await next(personOf(firmUuid), NOON, { ruleUuid: rule })).toBe(calls[2]!.uuid);
    expect(await next(me, NOON, { filter: { segment_type: ['sales'] }, ruleUuid: rule })).toBeNull();
    await expect(next(me, NOON, { filter: { q: '!' } })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it('gives another call than those that are skipped, which others may take at once', async () => {
    const firmUuid = randomUUID();
    const me = personOf(firmUuid);
    const calls = callsToReview(2);
    await listing.add(firmUuid, calls);
    const [first, second] = calls.map(({ uuid }) => uuid) as [string, string];
    expect(await next(me)).toBe(first);
    expect(await next(me, NOON, { skip: [first] })).toBe(second);
    expect(await next(personOf(firmUuid))).toBe(first);
    expect(await next(me, NOON, { skip: [first, second] })).toBeNull();
    expect(await next(me)).toBe(second);
  });

  it('waits for a review or an erasure that is being written, and then gives another call', async () => {
    for (const end of ['review', 'erasure']) {
      const firmUuid = randomUUID();
      const calls = callsToReview(2);
      await listing.add(firmUuid, calls);
      const [first, second] = calls.map(({ uuid }) => uuid) as [string, string];
      const me = personOf(firmUuid);
      let asked: Promise<string | null> | undefined;
      await service.db.transaction(async (tx) => {
        await tx.query('SELECT FROM call WHERE uuid = $1 FOR UPDATE', [first]);
        asked = next(me);
        await Promise.race([untilSomebodyWaits(service.deps.db), asked]);
        if (end === 'erasure') await service.deps.erasures.erase(tx, firmUuid, first, [], new Date());
        else await judge(tx, firmUuid, { ...calls[0]!, facts: { ...calls[0]!.facts!, needsReview: 0 } });
      });
      expect(await asked).toBe(second);
    }
  });

  it('counts what waits for the person, what is leased, and what each has finished on the day of the time zone', async () => {
    const { firmUuid } = service.newOwner({ timeZone: 'Asia/Tashkent' });
    const [one, two] = [personOf(firmUuid), personOf(firmUuid)];
    const calls = callsToReview(6);
    await listing.add(firmUuid, calls);
    const read = (person: Person, at: number, wanted = { filter: NO_FILTER, ruleUuid: null as string | null }) =>
      readQueue(service.deps, person, wanted, new Date(at));
    // Midnight in Tashkent is 19:00 in UTC.
    const midnight = Date.UTC(2036, 9, 1, 19);
    await finish(one, calls[0]!, midnight - 1);
    await finish(one, calls[1]!, midnight);
    await finish(one, calls[2]!, midnight + MINUTE);
    await finish(two, calls[3]!, midnight + MINUTE);
    expect(await next(one)).toBe(calls[4]!.uuid);
    const ruleUuid = randomUUID();
    await sample(firmUuid, calls[5]!.uuid, ruleUuid);
    await sample(firmUuid, calls[5]!.uuid, randomUUID());
    const done = [
      { user: one.userUuid, done: 2 },
      { user: two.userUuid, done: 1 },
    ];
    expect(await read(two, NOON)).toEqual({ waiting: 1, leased: 1, done_today: done });
    expect(await read(two, NOON + 16 * MINUTE)).toMatchObject({ waiting: 2, leased: 0 });
    expect(await read(two, NOON + 16 * MINUTE, { filter: NO_FILTER, ruleUuid })).toMatchObject({ waiting: 1 });
    const nobody = { filter: { ...NO_FILTER, operator_name: 'Nobody' }, ruleUuid: null };
    expect(await read(two, NOON + 16 * MINUTE, nobody)).toMatchObject({ waiting: 0, done_today: done });
    await service.db.transaction((tx) =>
      assignments.set(tx, firmUuid, {
        call_uuid: calls[5]!.uuid,
        assigned_to: one.userUuid,
        due: null,
        by: one.userUuid,
        at: new Date(),
      }),
    );
    expect(await read(two, NOON)).toMatchObject({ waiting: 0 });
    expect(await read(one, NOON)).toMatchObject({ waiting: 1 });
  });

  it('does what a plain list of calls and leases does, in any order of what people do', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            what: fc.constantFrom('next', 'next', 'next', 'release', 'finish', 'pass', 'assign', 'dispute', 'sample'),
            who: fc.integer({ min: 0, max: 2 }),
            which: fc.integer({ min: 0, max: 5 }),
            minutes: fc.integer({ min: 1, max: 12 }),
          }),
          { minLength: 5, maxLength: 30 },
        ),
        runAgainstModel,
      ),
      { numRuns: tries(25) },
    );
  });
});

interface Action {
  readonly what: string;
  readonly who: number;
  readonly which: number;
  readonly minutes: number;
}

async function runAgainstModel(actions: readonly Action[]): Promise<void> {
  const firmUuid = randomUUID();
  const people = Array.from({ length: 3 }, () => personOf(firmUuid));
  const calls = callsToReview(6);
  await listing.add(firmUuid, calls);
  const state = calls.map(() => ({
    isDone: false,
    assignee: null as number | null,
    assignedAt: 0,
    disputedBy: null as number | null,
    disputedAt: 0,
    isSampled: false,
    lease: null as { who: number; until: number } | null,
  }));
  const call = (index: number) => state[index]!;
  let at = NOON;
  for (const { what, who, which, minutes } of actions) {
    at += 1;
    const person = people[who]!;
    const uuid = calls[which]!.uuid;
    if (what === 'pass') at += minutes * MINUTE;
    if (what === 'assign') {
      const given = { call_uuid: uuid, assigned_to: person.userUuid, due: null, by: person.userUuid, at: new Date(at) };
      await service.db.transaction((tx) => assignments.set(tx, firmUuid, given));
      Object.assign(call(which), { assignee: who, assignedAt: at });
    }
    if (what === 'dispute' && call(which).disputedBy === null) {
      await dispute(firmUuid, uuid, person.userUuid, at);
      Object.assign(call(which), { disputedBy: who, disputedAt: at });
    }
    if (what === 'sample' && !call(which).isSampled && !call(which).isDone) {
      await sample(firmUuid, uuid, randomUUID(), NOON);
      call(which).isSampled = true;
    }
    if (what === 'finish') {
      await finish(person, calls[which]!, at);
      await service.db.query(`UPDATE dispute SET status = 'rejected' WHERE call_uuid = $1`, [uuid]);
      Object.assign(call(which), { isDone: true, assignee: null, disputedBy: null, isSampled: false, lease: null });
    }
    if (what === 'release') {
      const isHeld = call(which).lease?.who === who;
      const released = releaseLease(service.deps, person, uuid).then(
        () => true,
        () => false,
      );
      expect(await released).toBe(isHeld);
      if (isHeld) call(which).lease = null;
    }
    if (what !== 'next') continue;
    const has = (index: number, owner: number) => {
      const { lease } = call(index);
      return lease !== null && lease.until > at && lease.who === owner;
    };
    const indexes = state.map((_, index) => index);
    const isFree = (index: number) => people.every((_, other) => other === who || !has(index, other));
    const free = indexes.filter((index) => {
      const { assignee } = call(index);
      return isFree(index) && (assignee === null || assignee === who);
    });
    const by = (rank: (each: (typeof state)[number]) => number | null) =>
      free
        .flatMap((index) => {
          const value = rank(call(index));
          return value === null ? [] : [{ index, value }];
        })
        .toSorted((one, other) => one.value - other.value || one.index - other.index);
    const expected =
      indexes.find((index) => has(index, who)) ??
      [
        ...by(({ assignee, assignedAt }) => (assignee === who ? assignedAt : null)),
        ...by(({ disputedBy, disputedAt }) => (disputedBy !== null && disputedBy !== who ? disputedAt : null)),
        ...by(({ isSampled }) => (isSampled ? 0 : null)),
        ...by(({ isDone }) => (isDone ? null : 0)),
      ][0]?.index ??
      null;
    expect(await next(person, at)).toBe(expected === null ? null : calls[expected]!.uuid);
    if (expected !== null) call(expected).lease = { who, until: at + 15 * MINUTE };
  }
  await service.db.transaction((tx) => endLease(tx, { firmUuid, callUuid: calls[0]!.uuid }));
}
