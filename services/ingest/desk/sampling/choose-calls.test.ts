import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { eraseCall } from '../../erasure/erase-call.ts';
import { NO_FILTER } from '../../listing/call-filter.ts';
import { anyFilter, type Call, CallListing, callOf, modelled, NEWEST, sampleCalls } from '../../test/call-listing.ts';
import { untilSomebodyWaits } from '../../test/fixtures.ts';
import { IngestUnderTest } from '../../test/ingest-under-test.ts';
import { chooseByRule, chooseCalls } from './choose-calls.ts';
import type { SamplingRule } from './sampling-store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Wednesday. */
const NOW = Date.UTC(2026, 9, 7, 12);

const service = new IngestUnderTest();
const listing = new CallListing(service);

const facts = {
  needsReview: 0,
  autoFailed: false,
  suspected: false,
  topics: [],
  resolution: null,
  silence: null,
  points: [],
};

const deps = () => service.deps;

async function save(firmUuid: string, given: Partial<SamplingRule> = {}): Promise<SamplingRule> {
  const rule: SamplingRule = {
    uuid: randomUUID(),
    name: 'Rule',
    filter: {},
    meaning: NO_FILTER,
    per: 'firm',
    count: 2,
    share: null,
    every: 'day',
    enabled_at: new Date(NOW),
    by: randomUUID(),
    created_at: new Date(NOW),
    updated_at: new Date(NOW),
    ...given,
  };
  await service.db.transaction((tx) => deps().sampling.save(tx, firmUuid, rule));
  return rule;
}

const choose = (firmUuid: string, { uuid }: SamplingRule, now = NOW, newSeed?: () => string) =>
  chooseByRule(deps(), { firmUuid, ruleUuid: uuid }, new Date(now), newSeed);

const samplesOf = async (firmUuid: string, { uuid: ruleUuid }: SamplingRule) =>
  (await deps().sampling.samples({ firmUuid, ruleUuid }, { page: 1, size: 100 })).items;

async function chosenBy(firmUuid: string, { uuid }: SamplingRule): Promise<string[]> {
  const rows = await service.db.query<{ call: string }>(
    'SELECT call_uuid AS call FROM sampled_call WHERE firm_uuid = $1 AND rule_uuid = $2 ORDER BY call_uuid',
    [firmUuid, uuid],
  );
  return rows.map(({ call }) => call);
}

/** Adds calls whose analyses were made at these times. */
async function addCompleted(firmUuid: string, calls: readonly Call[], times: readonly number[]): Promise<void> {
  await listing.add(firmUuid, calls);
  await service.db.query(
    `UPDATE analysis SET created_at = given.at FROM unnest($1::uuid[], $2::timestamptz[]) AS given (call, at)
     WHERE call_uuid = given.call`,
    [calls.map(({ uuid }) => uuid), times.map((time) => new Date(time))],
  );
}

const completed = (count: number) => Array.from({ length: count }, () => callOf({ facts }));

function groupOf({ operator, operatorId, team, segment }: Call, per: SamplingRule['per']): string {
  if (per === 'operator') return operatorId === null ? `name ${operator.toLowerCase()}` : `id ${operatorId}`;
  if (per === 'operator_group_name') return team?.toLowerCase() ?? '';
  return per === 'segment_type' ? segment : '';
}

describe('a sampling rule', () => {
  it('chooses what a plain computation from its seed chooses: of each group a number, or a part that is rounded up', async () => {
    const { firmUuid } = service.newOwner();
    const calls = sampleCalls(160, 11);
    // A quarter of a day apart, so that two days have eight of ten.
    const times = calls.map((_, at) => NOW - DAY + ((at % 10) * DAY) / 4 - DAY);
    await addCompleted(firmUuid, calls, times);
    const yesterday = Date.UTC(2026, 9, 6);
    await fc.assert(
      fc.asyncProperty(
        anyFilter,
        fc.constantFrom('operator' as const, 'operator_group_name' as const, 'segment_type' as const, 'firm' as const),
        fc.oneof(
          fc
            .integer({ min: 1, max: 12 })
            .map((count) => ({ count, share: null, of: (size: number) => Math.min(count, size) })),
          fc.integer({ min: 0, max: 100 }).map((percent) => ({
            count: null,
            share: percent / 100,
            of: (size: number) => Math.ceil((percent * size) / 100),
          })),
        ),
        fc.constantFrom('day' as const, 'week' as const),
        async (filter, per, { of, ...amount }, every) => {
          const [from, to] =
            every === 'day' ? [yesterday, yesterday + DAY] : [Date.UTC(2026, 8, 28), Date.UTC(2026, 9, 5)];
          const rule = await save(firmUuid, { meaning: filter, per, every, ...amount });
          const seed = randomUUID();
          await choose(firmUuid, rule, NOW, () => seed);
          const matching = new Set(modelled(calls, filter, NEWEST));
          const eligible = calls.filter(
            ({ uuid, status, facts: known }, at) =>
              matching.has(uuid) && status === 'completed' && known !== null && times[at]! >= from && times[at]! < to,
          );
          const rank = ({ uuid }: Call) =>
            createHash('sha256')
              .update(seed + uuid)
              .digest('hex');
          const expected = [...Map.groupBy(eligible, (call) => groupOf(call, per)).values()].flatMap((group) =>
            group
              .toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
              .slice(0, of(group.length))
              .map(({ uuid }) => uuid),
          );
          expect(await chosenBy(firmUuid, rule)).toEqual(expected.toSorted());
          expect(await samplesOf(firmUuid, rule)).toMatchObject([
            { begins_at: new Date(from), ends_at: new Date(to), seed, calls: eligible.length, chosen: expected.length },
          ]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('chooses once a period, however many processes try at the same time and whichever of them is killed', async () => {
    const { firmUuid } = service.newOwner();
    await addCompleted(
      firmUuid,
      completed(30),
      Array.from({ length: 30 }, () => NOW - DAY),
    );
    const rule = await save(firmUuid);
    const killed = () => {
      throw new Error('killed');
    };
    await expect(choose(firmUuid, rule, NOW, killed)).rejects.toThrow('killed');
    expect(await samplesOf(firmUuid, rule)).toEqual([]);
    await Promise.all(Array.from({ length: 6 }, () => choose(firmUuid, rule)));
    await chooseCalls(deps(), new Date(NOW));
    expect(await chosenBy(firmUuid, rule)).toHaveLength(2);
    const [sample] = await samplesOf(firmUuid, rule);
    await chooseCalls(deps(), new Date(NOW + HOUR));
    expect(await samplesOf(firmUuid, rule)).toEqual([sample]);
  });

  it('chooses of the days of the time zone, a minute after each has ended, also of those that ended while the service was stopped', async () => {
    // Clocks went back in New York on 1 November 2026: that day had 25 hours.
    const { firmUuid } = service.newOwner({ timeZone: 'America/New_York' });
    const rule = await save(firmUuid, { enabled_at: new Date(Date.UTC(2026, 9, 31, 12)) });
    const midnights = [
      Date.UTC(2026, 9, 30, 4),
      Date.UTC(2026, 9, 31, 4),
      Date.UTC(2026, 10, 1, 4),
      Date.UTC(2026, 10, 2, 5),
    ];
    const periods = async () =>
      (await samplesOf(firmUuid, rule)).map(({ begins_at, ends_at }) => [+begins_at, +ends_at]).toReversed();
    await choose(firmUuid, rule, Date.UTC(2026, 9, 31, 12));
    expect(await periods()).toEqual([[midnights[0], midnights[1]]]);
    await choose(firmUuid, rule, midnights[2]! - 1);
    expect(await periods()).toHaveLength(1);
    await choose(firmUuid, rule, midnights[3]! + 59_999);
    expect(await periods()).toHaveLength(2);
    await choose(firmUuid, rule, midnights[3]! + 60_000);
    expect(await periods()).toEqual([0, 1, 2].map((at) => [midnights[at], midnights[at + 1]]));
  });

  it('chooses of no call twice when the time zone or the length of its periods changes, and leaves out the time when it was disabled', async () => {
    const owner = service.newOwner({ timeZone: 'UTC' });
    const { firmUuid } = owner;
    const rule = await save(firmUuid);
    await choose(firmUuid, rule);
    const inTashkent = {
      ...deps(),
      firms: {
        ...service.deps.firms,
        find: async () => ({ ...(await service.deps.firms.find(firmUuid)), timeZone: 'Asia/Tashkent' }),
      },
    };
    const id = { firmUuid, ruleUuid: rule.uuid };
    const midnight = Date.UTC(2026, 9, 7);
    await chooseByRule(inTashkent, id, new Date(midnight + 20 * HOUR));
    await save(firmUuid, { ...rule, every: 'week' });
    await chooseByRule(inTashkent, id, new Date(midnight + 5 * DAY));
    await save(firmUuid, { ...rule, enabled_at: null });
    await chooseByRule(inTashkent, id, new Date(midnight + 6 * DAY));
    await save(firmUuid, { ...rule, enabled_at: new Date(midnight + 8 * DAY) });
    await chooseByRule(inTashkent, id, new Date(midnight + 8 * DAY));
    const periods = (await samplesOf(firmUuid, rule))
      .toReversed()
      .map(({ begins_at, ends_at }) => [+begins_at, +ends_at]);
    expect(periods).toEqual([
      [midnight - DAY, midnight],
      [midnight, midnight + 19 * HOUR],
      [midnight + 19 * HOUR, Date.UTC(2026, 9, 11, 19)],
      [midnight + 6 * DAY + 19 * HOUR, midnight + 7 * DAY + 19 * HOUR],
    ]);
  });

  it('leaves out a call that is being erased, and calls of which the review is done do not wait', async () => {
    const { firmUuid } = service.newOwner();
    const calls = completed(3);
    const [erased, reviewed] = calls as [Call, Call, Call];
    Object.assign(reviewed, { reviewed: true, reviewIs: 'done' });
    await addCompleted(
      firmUuid,
      calls,
      calls.map(() => NOW - DAY),
    );
    const rule = await save(firmUuid, { count: 10 });
    let choosing: Promise<void> | undefined;
    await service.db.transaction(async (tx) => {
      await tx.query('SELECT FROM call WHERE uuid = $1 FOR UPDATE', [erased.uuid]);
      choosing = choose(firmUuid, rule);
      await Promise.race([untilSomebodyWaits(service.deps.db), choosing]);
      await service.deps.erasures.erase(tx, firmUuid, erased.uuid, [], new Date());
    });
    await choosing;
    const rows = await service.db.query<{ call: string; done: boolean }>(
      'SELECT call_uuid AS call, is_done AS done FROM sampled_call WHERE rule_uuid = $1 ORDER BY call_uuid',
      [rule.uuid],
    );
    expect(rows).toEqual(calls.slice(1).map(({ uuid }) => ({ call: uuid, done: uuid === reviewed.uuid })));
    await eraseCall(service.deps, firmUuid, reviewed.uuid, {});
    expect(await chosenBy(firmUuid, rule)).toEqual([calls[2]!.uuid]);
  });
});
