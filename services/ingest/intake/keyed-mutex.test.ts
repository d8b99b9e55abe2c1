import { expect, it } from '@jest/globals';
import { KeyedMutex } from './keyed-mutex.ts';

it('work of one key begins when the work before has ended, also by an error; other keys do not wait', async () => {
  const mutex = new KeyedMutex();
  const began: string[] = [];
  const [first, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = (name: string, until: Promise<void>) => async () => {
    began.push(name);
    await until;
    return name;
  };
  const runs = [
    mutex.run('a', work('first', first.promise)),
    mutex.run('a', work('second', Promise.resolve())),
    mutex.run('b', work('third', third.promise)),
  ];
  third.resolve();
  expect(await runs[2]).toBe('third');
  expect(began).toEqual(['first', 'third']);
  first.reject(new Error('broken off'));
  await expect(runs[0]).rejects.toThrow('broken off');
  expect(await runs[1]).toBe('second');
});
