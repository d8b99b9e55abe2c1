import { setImmediate as nextTick } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { limitConcurrency } from './concurrency-limit.ts';

const never = new AbortController().signal;

describe('a concurrency limit', () => {
  it('is never exceeded, runs tasks in order and loses no slot, with any tasks aborted at any time', async () => {
    const task = fc.record({
      ticks: fc.nat(5),
      abortedAfter: fc.option(fc.nat(8)),
      fails: fc.boolean(),
      startsAfter: fc.nat(2),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(task, { maxLength: 12 }), async (limit, tasks) => {
        const slots = limitConcurrency(limit);
        const order: number[] = [];
        let running = 0;
        const ends: Promise<unknown>[] = [];
        for (const [index, { ticks, abortedAfter, fails, startsAfter }] of tasks.entries()) {
          for (let tick = 0; tick < startsAfter; tick += 1) await nextTick();
          const controller = new AbortController();
          if (abortedAfter !== null) {
            void (async () => {
              for (let tick = 0; tick < abortedAfter; tick += 1) await nextTick();
              controller.abort(new Error('aborted'));
            })();
          }
          ends.push(
            slots
              .run(controller.signal, async () => {
                order.push(index);
                running += 1;
                expect(running).toBeLessThanOrEqual(limit);
                for (let tick = 0; tick < ticks; tick += 1) await nextTick();
                running -= 1;
                if (fails) throw new Error('failed');
              })
              .catch((error: Error) => expect(['aborted', 'failed']).toContain(error.message)),
          );
        }
        await Promise.all(ends);
        expect(order).toEqual([...order].sort((one, other) => one - other));
        // Every slot is free again.
        await Promise.all(Array.from({ length: limit }, () => slots.run(never, nextTick)));
        await slots.close();
      }),
    );
  });

  it('does not grow the memory of a long-lived signal', async () => {
    const slots = limitConcurrency(2);
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let round = 0; round < 20_000; round += 1) await slots.run(never, async () => {});
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30 * 1024 * 1024);
  });

  it('refuses tasks once closed, and closing waits for a task that ignores its signal', async () => {
    const slots = limitConcurrency(1);
    let done = false;
    const slow = slots.run(never, async () => {
      for (let tick = 0; tick < 5; tick += 1) await nextTick();
      done = true;
    });
    const waiting = slots.run(never, async () => {});
    // p-limit starts a task in a later microtask.
    await nextTick();
    const refused = expect(waiting).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    await slots.close();
    expect(done).toBe(true);
    await slow;
    await refused;
    await expect(slots.run(never, async () => {})).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
