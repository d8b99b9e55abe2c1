import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import { Readiness } from './readiness.ts';

const there = async () => {};
const away = async () => {
  throw new Error('no');
};
const silent = () => new Promise<void>(() => {});

describe('readiness', () => {
  it('tells what is away, apart by whether requests can be served without', async () => {
    const readiness = new Readiness([
      { name: 'database', vital: true, check: there },
      { name: 'object store', vital: true, check: away },
      { name: 'kafka', vital: false, check: away },
    ]);
    expect(await readiness.missing()).toEqual({ vital: ['object store'], others: ['kafka'] });
    await expect(readiness.demand()).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('object store') });
  });

  it('demands vital parts alone, and does not even wait for the others', async () => {
    const readiness = new Readiness([
      { name: 'database', vital: true, check: there },
      { name: 'kafka', vital: false, check: silent },
    ]);
    await readiness.demand();
  });

  it('takes a part that falls silent for away after the bound, and does not wait for one after the other', async () => {
    const parts = ['a', 'b', 'c'].map((name) => ({ name, vital: true, check: silent }));
    const began = performance.now();
    expect(await new Readiness(parts, { boundMs: 100 }).missing()).toEqual({ vital: ['a', 'b', 'c'], others: [] });
    expect(performance.now() - began).toBeLessThan(290);
  });

  it('looks once for many who ask, and again after a while', async () => {
    let looks = 0;
    const check = async () => {
      looks += 1;
      await pause(20);
      if (looks === 1) throw new Error('not yet');
    };
    const readiness = new Readiness([{ name: 'database', vital: true, check }], { rememberMs: 100 });
    const first = await Promise.all([readiness.missing(), readiness.missing(), readiness.missing()]);
    expect(first.map(({ vital }) => vital)).toEqual([['database'], ['database'], ['database']]);
    expect((await readiness.missing()).vital).toEqual(['database']);
    expect(looks).toBe(1);
    await pause(110);
    expect((await readiness.missing()).vital).toEqual([]);
    expect(looks).toBe(2);
  });

  it('is over for new callers once the service drains, whatever its parts say', async () => {
    const readiness = new Readiness([{ name: 'database', vital: true, check: there }]);
    await readiness.demand();
    readiness.drain();
    await expect(readiness.demand()).rejects.toThrow(Fault);
  });
});
