import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKillableSystem } from '../deploy/distributed/test/killable-system.ts';
import type { ApiClient } from '../deploy/standalone/test/client/api-client.ts';
import { newFirm } from '../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../deploy/standalone/test/system/service-process.ts';
import { type Figure, median, noted } from './harness/figure.ts';
import { processBatch } from './harness/process-batch.ts';
import { rowsOf, writeCsv } from './harness/rows.ts';

const WARM_UP = 2_000;

/**
 * Batches of short transcripts, from their acceptance until their last call is completed: with a process for each service, Kafka and
 * S3, and by turns with one process and what it embeds. Both share this machine.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const calls = quick ? 2_000 : 20_000;
  const rounds = quick ? 1 : 5;
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-batches-'));
  const csv = join(directory, 'calls.csv');
  const alone = await startService();
  try {
    const { system, stop } = await startKillableSystem();
    try {
      const firms = await Promise.all([system, alone].map((each) => newFirm(each, { segmentTypes: ['support'] })));
      const perSecond = firms.map((): number[] => []);
      const pass = async (firm: ApiClient, rows: number, name: string) => {
        await writeCsv(csv, rowsOf(rows, name));
        return (rows * 1_000) / (await processBatch(firm, csv, 100));
      };
      for (const firm of firms) await pass(firm, WARM_UP, 'warm-up');
      for (let round = 0; round < rounds; round++)
        for (const [at, firm] of firms.entries()) perSecond[at]!.push(await pass(firm, calls, `round-${round}`));
      const [distributed, standalone] = perSecond as [number[], number[]];
      return [
        noted({
          name: `batches of ${calls.toLocaleString('en')} calls on Kafka and S3, accepted to completed`,
          value: median(distributed),
          unit: 'calls/s',
          yardstick: { name: 'one process, calls/s', value: median(standalone) },
          ratios: distributed.map((each, at) => each / standalone[at]!),
        }),
      ];
    } finally {
      await stop();
    }
  } finally {
    await alone.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
