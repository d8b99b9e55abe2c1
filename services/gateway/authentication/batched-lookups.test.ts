import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentContext, newContext, withContext } from '@call-analysis/runtime';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { BatchedLookups } from './batched-lookups.ts';

/** The tests set the time, so that a busy machine does not matter. */
let now = 0;

beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  jest.restoreAllMocks();
});

/** Lookups that double numbers, and the batches that were sent. A batch returns when it is released. */
function doubling(limits: { maxBatch?: number; maxInFlight?: number; maxWaitMs?: number } = {}) {
  const batches: { numbers: readonly number[]; requestId: string | undefined; release(): void; fail(): void }[] = [];
  const lookups = new BatchedLookups<number, number>({
    async findAll(numbers) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const requestId = currentContext()?.requestId;
      batches.push({ numbers, requestId, release: resolve, fail: () => reject(new Error('down')) });
      await promise;
      return numbers.map((number) => number * 2);
    },
    name: 'arithmetic',
    maxBatch: 3,
    maxInFlight: 2,
    maxWaitMs: 1000,
    ...limits,
  });
  return { lookups, batches };
}

/** After this, everything that may be sent has been sent. */
async function sent(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

describe('batched lookups', () => {
  it('send concurrent lookups together, and later ones when a batch returns, within the limits', async () => {
    const { lookups, batches } = doubling();
    const values: Promise<number>[] = [];
    const find = async (...numbers: number[]) => {
      values.push(...numbers.map((number) => lookups.find(number)));
      await sent();
      return batches.map((batch) => batch.numbers);
    };
    expect(await find(1)).toEqual([[1]]);
    expect(await find(2, 3)).toEqual([[1], [2, 3]]);
    expect(await find(4)).toEqual([[1], [2, 3]]);
    expect(await find(5, 6, 7)).toEqual([[1], [2, 3]]);
    batches[1]?.release();
    await sent();
    expect(await find()).toEqual([[1], [2, 3], [4, 5, 6]]);
    batches[2]?.release();
    await sent();
    expect(await find()).toEqual([[1], [2, 3], [4, 5, 6], [7]]);
    for (const { release } of batches) release();
    expect(await Promise.all(values)).toEqual([2, 4, 6, 8, 10, 12, 14]);
  });

  it('reject all lookups of a failed batch and no others, and continue', async () => {
    const { lookups, batches } = doubling({ maxInFlight: 1 });
    const values = Promise.allSettled([1, 2, 3, 4, 5, 6, 7].map((number) => lookups.find(number)));
    await sent();
    batches[0]?.release();
    await sent();
    batches[1]?.fail();
    await sent();
    batches[2]?.release();
    const [good, bad] = ['fulfilled', 'rejected'];
    expect((await values).map(({ status }) => status)).toEqual([good, good, good, bad, bad, bad, good]);
  });

  it('continue after findAll has thrown', async () => {
    const lookups = new BatchedLookups<number, number>({
      findAll: () => {
        throw new Error('closed');
      },
      name: 'arithmetic',
      maxBatch: 1,
      maxInFlight: 1,
      maxWaitMs: 1000,
    });
    await expect(lookups.find(1)).rejects.toThrow('closed');
    await expect(lookups.find(2)).rejects.toThrow('closed');
  });

  it('reject a lookup that has waited too long, without sending it', async () => {
    const { lookups, batches } = doubling({ maxInFlight: 1, maxWaitMs: 20 });
    const first = lookups.find(1);
    await sent();
    const late = lookups.find(2);
    now = 21;
    const inTime = lookups.find(3);
    batches[0]?.release();
    await expect(late).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('arithmetic') });
    await sent();
    batches[1]?.release();
    expect(await Promise.all([first, inTime])).toEqual([2, 6]);
    expect(batches.map(({ numbers }) => numbers)).toEqual([[1], [3]]);
  });

  it('send a batch with the request id of its longest waiting lookup', async () => {
    const { lookups, batches } = doubling({ maxInFlight: 1 });
    const contexts = Array.from({ length: 5 }, newContext);
    const values = Promise.all(contexts.map((context, number) => withContext(context, () => lookups.find(number))));
    await sent();
    batches[0]?.release();
    await sent();
    batches[1]?.release();
    await values;
    expect(batches.map(({ requestId }) => requestId)).toEqual([contexts[0]?.requestId, contexts[3]?.requestId]);
  });

  it('return every lookup its own value and keep the limits, whatever the timing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 3 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        async (pauses, maxBatch, maxInFlight) => {
          let inFlight = 0;
          const lookups = new BatchedLookups<number, number>({
            async findAll(numbers) {
              inFlight++;
              expect(inFlight).toBeLessThanOrEqual(maxInFlight);
              expect(numbers.length).toBeLessThanOrEqual(maxBatch);
              for (let turn = 0; turn < (numbers[0] ?? 0) % 3; turn++) await nextTurn();
              inFlight--;
              return numbers.map((number) => number * 2);
            },
            name: 'arithmetic',
            maxBatch,
            maxInFlight,
            maxWaitMs: 10_000,
          });
          const values: Promise<number>[] = [];
          for (const [number, pause] of pauses.entries()) {
            for (let turn = 1; turn < pause; turn++) await nextTurn();
            values.push(lookups.find(number));
          }
          expect(await Promise.all(values)).toEqual(pauses.map((_, number) => number * 2));
        },
      ),
      { numRuns: 100 },
    );
  });
});
