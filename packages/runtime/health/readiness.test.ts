import { Fault } from '@call-analysis/fault';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type Missing, Readiness } from './readiness.ts';

afterEach(() => {
  jest.useRealTimers();
});

const there = async () => {};
const away = async () => {
  throw new Error('no');
};
const silent = () => new Promise<void>(() => {});

describe('readiness', () => {
  it('reports missing parts, vital ones apart from others', async () => {
    const readiness = new Readiness([
      { name: 'database', vital: true, check: there },
      { name: 'object store', vital: true, check: away },
      { name: 'kafka', vital: false, check: away },
    ]);
    expect(await readiness.missing()).toEqual({ vital: ['object store'], others: ['kafka'] });
    await expect(readiness.demand()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('object store'),
    });
  });

  it('checks a part that does not answer once at a time, and remembers that it did not', async () => {
    jest.useFakeTimers();
    const check = jest.fn(silent);
    const readiness = new Readiness([{ name: 'database', vital: true, check }], { boundMs: 200, rememberMs: 100 });
    const answers = [readiness.missing()];
    await jest.advanceTimersByTimeAsync(150);
    answers.push(readiness.missing());
    await jest.advanceTimersByTimeAsync(100);
    answers.push(readiness.missing());
    for (const answer of await Promise.all(answers)) expect(answer.vital).toEqual(['database']);
    expect(check).toHaveBeenCalledTimes(1);
  });

  it('demands vital parts only, and does not wait for the others', async () => {
    const readiness = new Readiness([
      { name: 'database', vital: true, check: there },
      { name: 'kafka', vital: false, check: silent },
    ]);
    await readiness.demand();
  });

  it('counts a part as missing when it does not answer within the limit, and checks all parts at the same time', async () => {
    jest.useFakeTimers();
    const parts = ['a', 'b', 'c'].map((name) => ({ name, vital: true, check: silent }));
    let missing: Missing | undefined;
    void new Readiness(parts, { boundMs: 100 }).missing().then((answer) => (missing = answer));
    await jest.advanceTimersByTimeAsync(99);
    expect(missing).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(missing).toEqual({ vital: ['a', 'b', 'c'], others: [] });
  });

  it('checks once for many callers, and again after a while', async () => {
    jest.useFakeTimers();
    let looks = 0;
    const check = async () => {
      looks += 1;
      if (looks === 1) throw new Error('not yet');
    };
    const readiness = new Readiness([{ name: 'database', vital: true, check }], { rememberMs: 100 });
    const first = await Promise.all([readiness.missing(), readiness.missing(), readiness.missing()]);
    expect(first.map(({ vital }) => vital)).toEqual([['database'], ['database'], ['database']]);
    expect((await readiness.missing()).vital).toEqual(['database']);
    expect(looks).toBe(1);
    await jest.advanceTimersByTimeAsync(99);
    expect((await readiness.missing()).vital).toEqual(['database']);
    await jest.advanceTimersByTimeAsync(2);
    expect((await readiness.missing()).vital).toEqual([]);
    expect(looks).toBe(2);
  });

  it('refuses new callers once the service drains, even if all its parts respond', async () => {
    const readiness = new Readiness([{ name: 'database', vital: true, check: there }]);
    await readiness.demand();
    readiness.drain();
    await expect(readiness.demand()).rejects.toThrow(Fault);
  });
});
