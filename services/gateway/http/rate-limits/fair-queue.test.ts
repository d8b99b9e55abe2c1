import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type FreeSlot, FairQueue, type FairQueueLimits, type NoSlot, type Ticket } from './fair-queue.ts';

const limits: FairQueueLimits = { perFirm: 2, total: 3, waitingPerFirm: 5, waitingTotal: 8, maxWaitMs: 60_000 };

/** Enters for a firm, and records the order in which slots begin. */
function line(queue: FairQueue) {
  const begun: string[] = [];
  const ends: FreeSlot[] = [];
  const refused: NoSlot[] = [];
  const take = (name: string, slot: FreeSlot | NoSlot | null) => {
    if (typeof slot === 'string') refused.push(slot);
    else if (slot !== null) {
      begun.push(name);
      ends.push(slot);
    }
  };
  const enter = (firm: string, name = firm): Ticket | undefined => {
    const entered = queue.enter(firm);
    if (typeof entered === 'object') {
      void entered.slot.then((slot) => take(name, slot));
      return entered;
    }
    take(name, entered);
    return undefined;
  };
  return { begun, ends, refused, enter };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a fair queue', () => {
  it('gives slots immediately up to the limits of the firm and of the process', () => {
    const { enter, begun } = line(new FairQueue(limits));
    for (const firm of ['a', 'a', 'a', 'b', 'b', 'c']) enter(firm);
    expect(begun).toEqual(['a', 'a', 'b']);
  });

  it('gives the next slots to firms alternately, and within a firm in the order of arrival', async () => {
    const { enter, begun, ends } = line(new FairQueue({ ...limits, perFirm: 0, total: 1 }));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) enter(name[0]!, name);
    for (let slot = 0; slot < 7; slot++) {
      ends[slot]!();
      ends[slot]!();
      await settled();
    }
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('serves another firm immediately while one has used up its limit', () => {
    const { enter, begun } = line(new FairQueue(limits));
    for (let request = 0; request < 7; request++) enter('flood');
    enter('quiet');
    expect(begun).toEqual(['flood', 'flood', 'quiet']);
  });

  it('refuses only the firm that has too many requests waiting', () => {
    const { enter, refused, begun } = line(new FairQueue(limits));
    for (let request = 0; request < 9; request++) enter('flood');
    expect(refused).toEqual(['firm', 'firm']);
    enter('quiet');
    expect(begun.at(-1)).toBe('quiet');
  });

  it('takes the place in a full queue from the firm with most waiting', async () => {
    const queue = new FairQueue({ ...limits, total: 1, waitingTotal: 5 });
    const { enter, refused, ends, begun } = line(queue);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1']) enter(name[0]!, name);
    await settled();
    expect(refused).toEqual(['process']);
    enter('a', 'a7');
    expect(refused).toEqual(['process', 'process']);
    ends[0]!();
    await settled();
    ends[1]!();
    await settled();
    expect(begun).toEqual(['a1', 'a3', 'b1']);
  });

  it('refuses requests that have waited too long, and names the firm whose requests they waited for', async () => {
    const own = line(new FairQueue({ ...limits, perFirm: 1, maxWaitMs: 1 }));
    own.enter('a');
    await own.enter('a')!.slot;
    await settled();
    expect(own.refused).toEqual(['firm']);
    const others = line(new FairQueue({ ...limits, total: 1, maxWaitMs: 1 }));
    others.enter('a');
    await others.enter('b')!.slot;
    await settled();
    expect(others.refused).toEqual(['process']);
  });

  it('forgets who leaves', async () => {
    const queue = new FairQueue({ ...limits, perFirm: 1 });
    const { enter, ends, begun } = line(queue);
    enter('a', 'a1');
    enter('a', 'a2')!.leave();
    enter('a', 'a3');
    expect(queue.waiting).toBe(1);
    ends[0]!();
    await settled();
    expect(begun).toEqual(['a1', 'a3']);
    ends[1]!();
    expect([queue.waiting, queue.inProgress]).toEqual([0, 0]);
  });

  it('never exceeds its limits, and leaves no slot unused while a request may have it', async () => {
    const step = fc.record({ firm: fc.constantFrom('a', 'b', 'c'), act: fc.constantFrom('enter', 'end', 'leave') });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const queue = new FairQueue(limits);
        const running: { firm: string; end: FreeSlot }[] = [];
        const tickets = new Map<Ticket, string>();
        for (const { firm, act } of steps) {
          if (act === 'end') running.shift()?.end();
          else if (act === 'leave') [...tickets.keys()].at(-1)?.leave();
          else {
            const entered = queue.enter(firm);
            if (typeof entered === 'function') running.push({ firm, end: entered });
            else if (typeof entered === 'object') {
              tickets.set(entered, firm);
              void entered.slot.then((slot) => {
                tickets.delete(entered);
                if (typeof slot === 'function') running.push({ firm, end: slot });
              });
            }
          }
          await settled();
          const of = (each: string) => running.filter((slot) => slot.firm === each).length;
          expect(running.length).toBeLessThanOrEqual(3);
          expect(Math.max(...['a', 'b', 'c'].map(of))).toBeLessThanOrEqual(2);
          expect([queue.inProgress, queue.waiting]).toEqual([running.length, tickets.size]);
          const couldRun = [...tickets.values()].some((each) => of(each) < 2);
          if (running.length < 3) expect(couldRun).toBe(false);
        }
        for (const ticket of tickets.keys()) ticket.leave();
      }),
      { numRuns: 100 },
    );
  });
});
