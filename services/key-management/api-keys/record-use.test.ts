import type { Logger } from '@call-analysis/runtime';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { recordUses } from './record-use.ts';

const warn = jest.fn();
const log = { debug: jest.fn(), info: jest.fn(), warn, error: jest.fn(), child: () => log } as unknown as Logger;

function openUses(saveLastUsed: (uses: ReadonlyMap<string, number>) => Promise<void>, everyMs?: number) {
  return recordUses({ store: { saveLastUsed }, log }, everyMs);
}

afterEach(() => {
  jest.useRealTimers();
  jest.clearAllMocks();
});

describe('uses of keys', () => {
  it('are written every 10 seconds, in one write with the latest time of each key', async () => {
    jest.useFakeTimers({ now: 1_000_000 });
    const saved: [string, number][][] = [];
    const uses = openUses(async (batch) => void saved.push([...batch]));
    for (let use = 0; use < 1_000; use++) uses.record(`key ${use % 3}`);
    jest.setSystemTime(1_004_000);
    uses.record('key 1');
    expect(saved).toEqual([]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(saved).toEqual([
      [
        ['key 0', 1_000_000],
        ['key 1', 1_004_000],
        ['key 2', 1_000_000],
      ],
    ]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(saved).toHaveLength(1);
    await uses.close();
  });

  it('are kept when a write fails, and written the next time with later uses', async () => {
    const saved: ReadonlyMap<string, number>[] = [];
    let broken = true;
    const uses = openUses(async (batch) => {
      if (broken) throw new Error('away');
      saved.push(batch);
    });
    uses.record('one');
    uses.record('two');
    await expect(uses.flush()).rejects.toThrow('away');
    uses.record('three');
    broken = false;
    await uses.flush();
    expect(saved).toHaveLength(1);
    expect([...(saved[0]?.keys() ?? [])].sort()).toEqual(['one', 'three', 'two']);
    await uses.close();
  });

  it('keep the latest time when an earlier write fails after a newer use', async () => {
    jest.useFakeTimers({ now: 5_000 });
    let fail: (() => void) | undefined;
    const saved: ReadonlyMap<string, number>[] = [];
    const uses = openUses((batch) => {
      if (fail !== undefined) return Promise.resolve(void saved.push(batch));
      return new Promise((_resolve, reject) => {
        fail = () => reject(new Error('away'));
      });
    });
    uses.record('key');
    const first = uses.flush();
    const failed = expect(first).rejects.toThrow('away');
    await jest.advanceTimersByTimeAsync(1_000);
    uses.record('key');
    fail?.();
    await failed;
    await uses.flush();
    expect(saved[0]?.get('key')).toBe(6_000);
    await uses.close();
  });

  it('are written one batch at a time, and once more on close', async () => {
    let writing = 0;
    let mostWriting = 0;
    const batches: string[][] = [];
    const uses = openUses(async (batch) => {
      batches.push([...batch.keys()]);
      mostWriting = Math.max(mostWriting, ++writing);
      await new Promise((resolve) => setTimeout(resolve, 10));
      writing--;
    });
    uses.record('one');
    const flushed = uses.flush();
    await new Promise(setImmediate);
    uses.record('two');
    await Promise.all([flushed, uses.flush(), uses.close()]);
    expect(batches).toEqual([['one'], ['two']]);
    expect(mostWriting).toBe(1);
  });

  it('that cannot be written by the timer cause a warning, not a crash', async () => {
    jest.useFakeTimers();
    const uses = openUses(() => Promise.reject(new Error('away')), 50);
    uses.record('one');
    await jest.advanceTimersByTimeAsync(120);
    expect(warn).toHaveBeenCalledTimes(2);
    await expect(uses.close()).rejects.toThrow('away');
  });
});
