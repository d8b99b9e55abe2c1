import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { counter, exposition, gauge, histogram, cachedFor, METRIC_PREFIX } from './metrics.ts';

let made = 0;
const newName = (end: string): string => `test_${++made}_${end}`;

/** The lines of a metric, without the prefix that each has on the page. */
async function linesOf(name: string): Promise<string[]> {
  const lines = (await exposition()).split('\n').filter((line) => line.startsWith(METRIC_PREFIX + name));
  return lines.map((line) => line.slice(METRIC_PREFIX.length));
}

describe('the metrics page', () => {
  it('shows each metric with its help, its type and its series', async () => {
    const name = newName('total');
    const seen = counter(name, 'Things seen.', ['kind', 'outcome']);
    seen.of('a', 'good').add();
    seen.of('a', 'good').add(2);
    seen.of('b', 'bad').add();
    const page = await exposition();
    expect(page).toContain(
      `# HELP call_analysis_${name} Things seen.\n# TYPE call_analysis_${name} counter\ncall_analysis_${name}{kind="a",outcome="good"} 3\ncall_analysis_${name}{kind="b",outcome="bad"} 1\n`,
    );
    expect(page.endsWith('\n')).toBe(true);
  });

  it('is produced once for concurrent requests, after they have arrived', async () => {
    const name = newName('reads');
    let reads = 0;
    gauge(name, 'How often it was read.', []).from(() => [{ labels: [], value: ++reads }]);
    expect(await linesOf(name)).toEqual([`${name} 1`]);
    const pages = await Promise.all(Array.from({ length: 64 }, () => linesOf(name)));
    expect(new Set(pages.flat())).toEqual(new Set([`${name} 2`]));
  });

  it('shows the memory, CPU time and event loop of the process', async () => {
    const page = await exposition();
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(page).toMatch(new RegExp(`^${name} [\\d.e-]+$`, 'm'));
    }
  });

  it('counts observations in the buckets of a histogram', async () => {
    const bounds = [1, 2, 5];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.double({ min: 0, max: 10, noNaN: true })), async (values) => {
        const name = newName('seconds');
        const took = histogram(name, 'Durations.', [], bounds);
        for (const value of values) took.of().observe(value);
        const figures = new Map((await linesOf(name)).map((line) => line.split(/ (?=\S+$)/) as [string, string]));
        for (const bound of bounds) {
          const count = values.filter((value) => value <= bound).length;
          expect(figures.get(`${name}_bucket{le="${bound}"}`) ?? '0').toBe(String(count));
        }
        expect(figures.get(`${name}_bucket{le="+Inf"}`) ?? '0').toBe(String(values.length));
        expect(Number(figures.get(`${name}_sum`) ?? 0)).toBeCloseTo(values.reduce((sum, value) => sum + value, 0));
      }),
      { numRuns: 20 },
    );
  });

  it('escapes label values', async () => {
    const name = newName('total');
    counter(name, 'Odd.', ['what']).of('a"b\\c\nd').add();
    expect(await linesOf(name)).toEqual([`${name}{what="a\\"b\\\\c\\nd"} 1`]);
  });

  it('counts combinations of labels beyond the limit as `other`', async () => {
    const name = newName('total');
    const seen = counter(name, 'Too many.', ['id', 'kind']);
    for (let id = 0; id < 5000; id++) seen.of(String(id), 'x').add();
    seen.of('7', 'x').add();
    const lines = await linesOf(name);
    expect(lines).toHaveLength(2001);
    expect(lines).toContain(`${name}{id="7",kind="x"} 2`);
    expect(lines.at(-1)).toBe(`${name}{id="other",kind="other"} 3000`);
  });
});

describe('a gauge', () => {
  it('reads every source for each page, until the source is removed', async () => {
    const name = newName('connections');
    const open = gauge(name, 'Connections.', ['service']);
    let count = 3;
    const remove = open.from(() => [{ labels: ['ingest'], value: count }]);
    open.from(async () => [{ labels: ['audio'], value: 1 }]);
    count = 4;
    expect(await linesOf(name)).toEqual([`${name}{service="ingest"} 4`, `${name}{service="audio"} 1`]);
    remove();
    expect(await linesOf(name)).toEqual([`${name}{service="audio"} 1`]);
  });

  it('leaves out a source that fails or takes three seconds, and counts it', async () => {
    const name = newName('depth');
    const depth = gauge(name, 'Depth.', ['service']);
    depth.from(() => Promise.reject(new Error('no database')));
    depth.from(() => {
      throw new Error('no pool');
    });
    depth.from(() => new Promise(() => {}));
    depth.from(() => [{ labels: ['good'], value: 1 }]);
    const began = performance.now();
    expect(await linesOf(name)).toEqual([`${name}{service="good"} 1`]);
    expect(performance.now() - began).toBeGreaterThan(2_900);
    expect(await linesOf('metrics_unread_total')).not.toEqual([]);
  });
});

describe('a cached answer', () => {
  it('is requested once in its time, however many callers there are, and again after a failure', async () => {
    let asked = 0;
    const once = cachedFor(60_000, async () => ++asked);
    expect(await Promise.all([once(), once(), once()])).toEqual([1, 1, 1]);
    let tries = 0;
    const failing = cachedFor(60_000, async () => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
      return tries;
    });
    await expect(failing()).rejects.toThrow('not yet');
    expect(await failing()).toBe(2);
    const brief = cachedFor(0, async () => ++asked);
    expect([await brief(), await brief()]).toEqual([2, 3]);
  });
});
