import { setImmediate as nextTick } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { openTurns } from './turns.ts';

const never = new AbortController().signal;

describe('turns', () => {
  it('are never more than the limit, come in order, and none is lost, whoever leaves the queue and whenever', async () => {
    const visitor = fc.record({
      works: fc.nat(5),
      leavesAfter: fc.option(fc.nat(8)),
      fails: fc.boolean(),
      comesAfter: fc.nat(2),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(visitor, { maxLength: 12 }),
        async (limit, visitors) => {
          const turns = openTurns(limit);
          const order: number[] = [];
          let now = 0;
          const ends: Promise<unknown>[] = [];
          for (const [index, { works, leavesAfter, fails, comesAfter }] of visitors.entries()) {
            for (let tick = 0; tick < comesAfter; tick += 1) await nextTick();
            const leave = new AbortController();
            if (leavesAfter !== null) {
              void (async () => {
                for (let tick = 0; tick < leavesAfter; tick += 1) await nextTick();
                leave.abort(new Error('left'));
              })();
            }
            ends.push(
              turns
                .take(leave.signal, async () => {
                  order.push(index);
                  now += 1;
                  expect(now).toBeLessThanOrEqual(limit);
                  for (let tick = 0; tick < works; tick += 1) await nextTick();
                  now -= 1;
                  if (fails) throw new Error('failed');
                })
                .catch((error: Error) => expect(['left', 'failed']).toContain(error.message)),
            );
          }
          await Promise.all(ends);
          expect(order).toEqual([...order].sort((one, other) => one - other));
          // Every turn is free again.
          await Promise.all(Array.from({ length: limit }, () => turns.take(never, nextTick)));
          await turns.close();
        },
      ),
    );
  });

  it('do not grow the memory of a signal that lives on', async () => {
    const turns = openTurns(2);
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let round = 0; round < 20_000; round += 1) await turns.take(never, async () => {});
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30 * 1024 * 1024);
  });

  it('are refused once closed, and work that does not hear the signal is waited for', async () => {
    const turns = openTurns(1);
    let done = false;
    const slow = turns.take(never, async () => {
      for (let tick = 0; tick < 5; tick += 1) await nextTick();
      done = true;
    });
    const waiting = turns.take(never, async () => {});
    const refused = expect(waiting).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    await turns.close();
    expect(done).toBe(true);
    await slow;
    await refused;
    await expect(turns.take(never, async () => {})).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
