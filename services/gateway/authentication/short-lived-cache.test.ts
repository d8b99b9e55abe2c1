import { describe, expect, it, jest } from '@jest/globals';
import { addForAMinute, ShortLivedCache } from './short-lived-cache.ts';

function cache(maxEntries: number) {
  return new ShortLivedCache<string>({ ttlMs: 60_000, maxEntries });
}

describe('a short-lived cache', () => {
  it('keeps within its limit and drops the least recently used entry', async () => {
    const recent = cache(2);
    const lookups: string[] = [];
    const get = (key: string) =>
      recent.get(key, async () => {
        lookups.push(key);
        return key;
      });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
    expect(lookups).toEqual(['a', 'b', 'c', 'b']);
  });

  it('does not cache errors, even when the lookup itself throws', async () => {
    const recent = cache(2);
    const failing = (): Promise<string> => {
      throw new Error('down');
    };
    await expect(recent.get('a', failing)).rejects.toThrow('down');
    expect(await recent.get('a', async () => 'up')).toBe('up');
  });
});

it('keeps a value in a set for a minute', () => {
  jest.useFakeTimers();
  const deleted = new Set<string>();
  addForAMinute(deleted, 'key');
  jest.advanceTimersByTime(59_999);
  expect([...deleted]).toEqual(['key']);
  jest.advanceTimersByTime(1);
  expect([...deleted]).toEqual([]);
  jest.useRealTimers();
});
