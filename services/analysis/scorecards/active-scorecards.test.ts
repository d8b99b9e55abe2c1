import { describe, expect, it } from '@jest/globals';
import { ScorecardCache } from './active-scorecards.ts';
import { defaultScorecard } from './default-scorecard.ts';
import type { RevisionId } from './scorecard-store.ts';
import type { Scorecard } from './scorecard.ts';

const [one, two, three] = ['1', '2', '3'].map((uuid) => ({ uuid, revision: 1 })) as [
  RevisionId,
  RevisionId,
  RevisionId,
];
const CAPACITY_FOR_TWO = 250 * 1024;

/** A store that records what is fetched from it. */
function recordingStore() {
  const fetched: string[] = [];
  return {
    fetched,
    fetch: async (missing: RevisionId[]): Promise<Scorecard[]> => {
      fetched.push(...missing.map(({ uuid, revision }) => `${uuid}/${revision}`));
      return missing.map((revision) => ({ ...structuredClone(defaultScorecard), ...revision }));
    },
  };
}

describe('the scorecard cache', () => {
  it('returns the same object for a revision each time, even to concurrent callers, and fetches it once', async () => {
    const cache = new ScorecardCache();
    const { fetched, fetch } = recordingStore();
    const [first] = await cache.get([one], fetch);
    const [again, other, third] = await cache.get([one, two, one], fetch);
    expect([again, third]).toEqual([first, first]);
    expect(again).toBe(first);
    expect(third).toBe(first);
    expect(other?.uuid).toBe('2');
    expect(fetched).toEqual(['1/1', '2/1']);
    const [[left], [right]] = await Promise.all([cache.get([three], fetch), cache.get([three], fetch)]);
    expect(left).toBe(right);
  });

  it('distinguishes the revisions of a scorecard', async () => {
    const found = await new ScorecardCache().get([one, { ...one, revision: 2 }], recordingStore().fetch);
    expect(found.map(({ revision }) => revision)).toEqual([1, 2]);
  });

  it('drops the least recently used scorecards when it is full, and returns more than it can hold', async () => {
    const cache = new ScorecardCache(CAPACITY_FOR_TWO);
    const { fetched, fetch } = recordingStore();
    await cache.get([one, two], fetch);
    await cache.get([one], fetch);
    await cache.get([three], fetch);
    await cache.get([one], fetch);
    expect(fetched).toEqual(['1/1', '2/1', '3/1']);
    await cache.get([two], fetch);
    expect(fetched).toEqual(['1/1', '2/1', '3/1', '2/1']);
    expect((await new ScorecardCache(0).get([one, two, three], fetch)).map(({ uuid }) => uuid)).toEqual([
      '1',
      '2',
      '3',
    ]);
  });
});
