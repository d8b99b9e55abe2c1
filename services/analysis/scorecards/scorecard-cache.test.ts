import { describe, expect, it } from '@jest/globals';
import { defaultScorecard } from './default-scorecard.ts';
import { Shelf } from './scorecard-cache.ts';
import type { RevisionName } from './scorecard-store.ts';
import type { Scorecard } from './scorecard.ts';

const [one, two, three] = ['1', '2', '3'].map((uuid) => ({ uuid, revision: 1 })) as [
  RevisionName,
  RevisionName,
  RevisionName,
];
const ROOM_FOR_TWO = 250 * 1024;

function library() {
  const fetched: string[] = [];
  return {
    fetched,
    fetch: async (missing: RevisionName[]): Promise<Scorecard[]> => {
      fetched.push(...missing.map(({ uuid, revision }) => `${uuid}/${revision}`));
      return missing.map((name) => ({ ...structuredClone(defaultScorecard), ...name }));
    },
  };
}

describe('the shelf', () => {
  it('gives the same object each time, also to those who ask at once, and fetches a name once', async () => {
    const shelf = new Shelf();
    const { fetched, fetch } = library();
    const [first] = await shelf.take([one], fetch);
    const [again, other, third] = await shelf.take([one, two, one], fetch);
    expect([again, third]).toEqual([first, first]);
    expect(again).toBe(first);
    expect(third).toBe(first);
    expect(other?.uuid).toBe('2');
    expect(fetched).toEqual(['1/1', '2/1']);
    const [[left], [right]] = await Promise.all([shelf.take([three], fetch), shelf.take([three], fetch)]);
    expect(left).toBe(right);
  });

  it('tells revisions apart', async () => {
    const found = await new Shelf().take([one, { ...one, revision: 2 }], library().fetch);
    expect(found.map(({ revision }) => revision)).toEqual([1, 2]);
  });

  it('lets go of what was used longest ago when there is no more room, and still answers', async () => {
    const shelf = new Shelf(ROOM_FOR_TWO);
    const { fetched, fetch } = library();
    await shelf.take([one, two], fetch);
    await shelf.take([one], fetch);
    await shelf.take([three], fetch);
    await shelf.take([one], fetch);
    expect(fetched).toEqual(['1/1', '2/1', '3/1']);
    await shelf.take([two], fetch);
    expect(fetched).toEqual(['1/1', '2/1', '3/1', '2/1']);
    expect((await new Shelf(0).take([one, two, three], fetch)).map(({ uuid }) => uuid)).toEqual(['1', '2', '3']);
  });
});
