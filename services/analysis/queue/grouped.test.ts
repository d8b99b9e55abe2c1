import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Grouped } from './outcomes.ts';

it('what is added while the work runs is done together next', async () => {
  const groups: number[][] = [];
  const grouped = new Grouped<number>(async (items) => {
    groups.push([...items]);
    await pause(5);
  });
  await Promise.all([1, 2, 3, 4].map((item) => grouped.add(item)));
  await grouped.add(5);
  expect(groups).toEqual([[1], [2, 3, 4], [5]]);
});

it('an item that fails does not fail those that are done with it', async () => {
  const done: number[] = [];
  const grouped = new Grouped<number>(async (items) => {
    await pause(5);
    if (items.includes(3)) throw new Error('3 is bad');
    done.push(...items);
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => grouped.add(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(done).toEqual([1, 2, 4]);
});
