import { describe, expect, it } from '@jest/globals';
import { ShortLivedCache } from './short-lived-cache.ts';

function cache(maxEntries: number) {
  return new ShortLivedCache<string>({ ttlMs: 60_000, maxEntries, keep: () => true });
}

describe('a brief cache', () => {
  it('stays within its bounds and forgets what was used longest ago', async () => {
    const it = cache(2);
    const asked: string[] = [];
    const get = (key: string) =>
      it.get(key, async () => {
        asked.push(key);
        return key;
      });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
    expect(asked).toEqual(['a', 'b', 'c', 'b']);
  });

  it('does not remember failures, not even those of the asking itself', async () => {
    const it = cache(2);
    const failing = (): Promise<string> => {
      throw new Error('down');
    };
    await expect(it.get('a', failing)).rejects.toThrow('down');
    expect(await it.get('a', async () => 'up')).toBe('up');
  });
});
