import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DistributedSystem } from '../../deploy/distributed/test/system.ts';
import type { ApiClient } from '../../deploy/standalone/api-client.ts';
import { type Figure, noted } from '../harness/figure.ts';
import { writeRows } from '../harness/rows.ts';
import { processBatch } from './process-batch.ts';
import { openServers, type Servers } from './servers.ts';
import { minus, newFirmOf, secondsOfParts, startSix, total } from './system.ts';

/** About 37 KB of conversation per call: an hour. */
const LENGTH = 100;
const WARM_UP = 50;

interface Passage {
  readonly perSecond: number;
  /** Seconds of processor time for each call, that in analysis, and by part. */
  readonly all: number;
  readonly analysis: number;
  readonly parts: Readonly<Record<string, number>>;
}

/**
 * Calls of an hour, completed with one process of analysis, with two, and with one again. Two can reach at most twice the
 * rate, or the rate that the cores allow when all parts share them.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const calls = quick ? 300 : 3_000;
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-rows-'));
  const servers = await openServers();
  const system = await startSix(servers);
  try {
    const firm = await newFirmOf(system);
    const passBy = async (name: string) => {
      const [csv, warmUp] = [join(directory, 'calls.csv'), join(directory, 'warm-up.csv')];
      await writeRows(warmUp, WARM_UP, `${name} warm-up`, LENGTH);
      await writeRows(csv, calls, name, LENGTH);
      await processBatch(firm, warmUp);
      return pass(system, servers, firm, csv, calls);
    };
    const first = await passBy('first');
    const second = await system.start('analysis');
    const two = await passBy('second');
    await second.kill('SIGTERM');
    const third = await passBy('third');
    const one = {
      perSecond: mean(first.perSecond, third.perSecond),
      all: mean(first.all, third.all),
      analysis: mean(first.analysis, third.analysis),
    };
    const cores = availableParallelism();
    const speedUp = two.perSecond / one.perSecond;
    return [
      noted({
        name: `two processes of analysis, ${calls.toLocaleString('en')} calls of 37 KB`,
        value: two.perSecond,
        unit: 'calls/s',
        yardstick: { name: 'one process', value: one.perSecond },
      }),
      noted({
        name: 'speed-up',
        value: speedUp,
        unit: '×',
        yardstick: { name: `what ${cores} cores allow`, value: ceiling(one, two, cores) },
      }),
      noted({
        name: 'one process: processor time of analysis',
        value: one.analysis * 1000,
        unit: 'ms/call',
        yardstick: { name: 'of all parts', value: one.all * 1000 },
      }),
      ...Object.entries(two.parts)
        .toSorted(([, part], [, other]) => other - part)
        .map(([part, seconds]) =>
          noted({
            name: `two processes: ${part}`,
            value: seconds * 1000,
            unit: 'ms/call',
            yardstick: { name: 'of all parts', value: two.all * 1000 },
          }),
        ),
      noted({
        name: 'one process: cores at work',
        value: one.all * one.perSecond,
        unit: 'cores',
        yardstick: { name: 'of the machine', value: cores },
      }),
      noted({
        name: 'two processes: cores at work',
        value: two.all * two.perSecond,
        unit: 'cores',
        yardstick: { name: 'of the machine', value: cores },
      }),
    ];
  } finally {
    await system.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function pass(
  system: DistributedSystem,
  servers: Servers,
  firm: ApiClient,
  csv: string,
  calls: number,
): Promise<Passage> {
  const before = secondsOfParts(system, servers);
  const elapsedMs = await processBatch(firm, csv);
  const seconds = minus(secondsOfParts(system, servers), before);
  const parts = Object.fromEntries(Object.entries(seconds).map(([part, each]) => [part, each / calls]));
  return { perSecond: calls / (elapsedMs / 1000), all: total(parts), analysis: parts['analysis']!, parts };
}

/** Analysis has one thread per process: one process handles at most 1/analysis calls a second; two twice that, or cores/all. */
function ceiling(
  one: Pick<Passage, 'all' | 'analysis'>,
  two: Pick<Passage, 'all' | 'analysis'>,
  cores: number,
): number {
  const byOne = Math.min(1 / one.analysis, cores / one.all);
  return Math.min(2 / two.analysis, cores / two.all) / byOne;
}

function mean(one: number, other: number): number {
  return (one + other) / 2;
}
