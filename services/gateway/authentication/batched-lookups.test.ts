import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentContext, newContext, withContext } from '@call-analysis/runtime';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { Batcher } from './batched-lookups.ts';

/** Passes when a test says so, and not while the machine is busy. */
let now = 0;

beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});

afterEach(() => {
  jest.restoreAllMocks();
});

/** A batcher that doubles numbers, and the batches as they are asked; each is answered when it is released. */
function doubling(limits: { maxBatch?: number; maxInFlight?: number; maxWaitMs?: number } = {}) {
  const batches: { numbers: readonly number[]; requestId: string | undefined; release(): void; fail(): void }[] = [];
  const batcher = new Batcher<number, number>({
    async ask(numbers) {
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
  return { batcher, batches };
}

/** After this the batcher has sent what it may send. */
async function sent(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

describe('a batcher', () => {
  it('asks together what comes together and what comes while enough is on its way, and never more than allowed', async () => {
    const { batcher, batches } = doubling();
    const answers: Promise<number>[] = [];
    const ask = async (...numbers: number[]) => {
      answers.push(...numbers.map((number) => batcher.ask(number)));
      await sent();
      return batches.map((batch) => batch.numbers);
    };
    expect(await ask(1)).toEqual([[1]]);
    expect(await ask(2, 3)).toEqual([[1], [2, 3]]);
    expect(await ask(4)).toEqual([[1], [2, 3]]);
    expect(await ask(5, 6, 7)).toEqual([[1], [2, 3]]);
    batches[1]?.release();
    await sent();
    expect(await ask()).toEqual([[1], [2, 3], [4, 5, 6]]);
    batches[2]?.release();
    await sent();
    expect(await ask()).toEqual([[1], [2, 3], [4, 5, 6], [7]]);
    for (const { release } of batches) release();
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8, 10, 12, 14]);
  });

  it('fails the questions of one batch together and no others, and goes on', async () => {
    const { batcher, batches } = doubling({ maxInFlight: 1 });
    const answers = Promise.allSettled([1, 2, 3, 4, 5, 6, 7].map((number) => batcher.ask(number)));
    await sent();
    batches[0]?.release();
    await sent();
    batches[1]?.fail();
    await sent();
    batches[2]?.release();
    const [good, bad] = ['fulfilled', 'rejected'];
    expect((await answers).map(({ status }) => status)).toEqual([good, good, good, bad, bad, bad, good]);
  });

  it('survives an asker that throws', async () => {
    const batcher = new Batcher<number, number>({
      ask: () => {
        throw new Error('closed');
      },
      name: 'arithmetic',
      maxBatch: 1,
      maxInFlight: 1,
      maxWaitMs: 1000,
    });
    await expect(batcher.ask(1)).rejects.toThrow('closed');
    await expect(batcher.ask(2)).rejects.toThrow('closed');
  });

  it('refuses what has waited too long for its turn instead of asking it', async () => {
    const { batcher, batches } = doubling({ maxInFlight: 1, maxWaitMs: 20 });
    const first = batcher.ask(1);
    await sent();
    const late = batcher.ask(2);
    now = 21;
    const inTime = batcher.ask(3);
    batches[0]?.release();
    await expect(late).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('arithmetic') });
    await sent();
    batches[1]?.release();
    expect(await Promise.all([first, inTime])).toEqual([2, 6]);
    expect(batches.map(({ numbers }) => numbers)).toEqual([[1], [3]]);
  });

  it('asks in the name of the longest waiting of those it asks for, not of one that has its answer', async () => {
    const { batcher, batches } = doubling({ maxInFlight: 1 });
    const contexts = Array.from({ length: 5 }, newContext);
    const answers = Promise.all(contexts.map((context, number) => withContext(context, () => batcher.ask(number))));
    await sent();
    batches[0]?.release();
    await sent();
    batches[1]?.release();
    await answers;
    expect(batches.map(({ requestId }) => requestId)).toEqual([contexts[0]?.requestId, contexts[3]?.requestId]);
  });

  it('gives every question its own answer and keeps to its limits, whenever questions come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 3 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        async (pauses, maxBatch, maxInFlight) => {
          let inFlight = 0;
          const batcher = new Batcher<number, number>({
            async ask(numbers) {
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
          const answers: Promise<number>[] = [];
          for (const [number, pause] of pauses.entries()) {
            for (let turn = 1; turn < pause; turn++) await nextTurn();
            answers.push(batcher.ask(number));
          }
          expect(await Promise.all(answers)).toEqual(pauses.map((_, number) => number * 2));
        },
      ),
      { numRuns: 100 },
    );
  });
});
