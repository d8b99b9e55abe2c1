import { expect, it } from '@jest/globals';
import { attemptEach, Fault, unavailable } from './index.ts';

it('what fails keeps nothing from being attempted, and is thrown at the end', async () => {
  const attempted: number[] = [];
  const attempt = async (item: number) => {
    attempted.push(item);
    if (item % 2 === 0) throw new Error(`no ${item}`);
  };
  await attemptEach([1, 3], attempt);
  await expect(attemptEach([2], attempt)).rejects.toThrow('no 2');
  await expect(attemptEach([4, 5, 6], attempt)).rejects.toMatchObject({
    errors: [{ message: 'no 4' }, { message: 'no 6' }],
  });
  expect(attempted).toEqual([1, 3, 2, 4, 5, 6]);
});

it('a part that is away ends it, and so does the end of its time; the rest is not read', async () => {
  const read: number[] = [];
  async function* items() {
    for (const item of [1, 2, 3]) {
      read.push(item);
      yield item;
    }
  }
  const away = attemptEach(items(), () => Promise.reject(unavailable('A part')));
  await expect(away).rejects.toThrow(Fault);
  expect(read).toEqual([1]);
  await attemptEach(items(), async () => {}, -1);
  expect(read).toEqual([1, 1]);
});
