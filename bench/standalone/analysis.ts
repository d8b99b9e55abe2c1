import { openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { databaseUrl } from '@call-analysis/postgres';
import { startServer } from '@call-analysis/postgres/server';
import { Client } from 'pg';
import { type Batch, type Client as FirmClient, newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atLeast, atMost, type Figure, median, quantile } from '../harness/figure.ts';
import { writeRows } from '../harness/rows.ts';

/**
 * Calls per second from the acceptance of a batch until its last call is completed in the catalogue; and, on an idle
 * service, the time from the acceptance of a call to the start of its analysis.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-rows-'));
  const service = await startService();
  try {
    const firm = await newFirm(service, { segmentTypes: ['support'] });
    const calls = quick ? 2_000 : 20_000;
    const rates: number[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      const file = join(directory, 'calls.csv');
      await writeRows(file, calls, `round${round}`);
      const key = await firm.upload(await openAsBlob(file));
      const { data } = await firm.call<{ data: { batch_id: string } }>('POST', '/api/v1/calls/process-upload', {
        metadata_key: key,
      });
      const began = performance.now();
      await finished(firm, data.batch_id, calls);
      rates.push(calls / ((performance.now() - began) / 1000));
    }
    const waits = await startDelays(service.directory, firm, directory, quick ? 20 : 200);
    return [
      atLeast(1, {
        name: `accepted to completed, ${calls} calls`,
        value: median(rates),
        unit: 'calls/s',
        yardstick: { name: '2,000 calls/s', value: 2_000 },
      }),
      atMost(1, {
        name: 'idle, accepted to analysis begun, p99',
        value: quantile(waits, 0.99),
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 25 },
      }),
    ];
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Polls rarely for a large batch, because counting its calls costs the database time too. */
async function finished(firm: FirmClient, batch: string, calls = 1): Promise<void> {
  for (;;) {
    const { finished_at } = await firm.call<Batch>('GET', `/api/v1/calls/batches/${batch}`);
    if (finished_at !== null) return;
    await pause(calls > 1 ? 250 : 10);
  }
}

/**
 * Uses the timestamps of the database: when the job of the analysis starts, and when the call was created. The latter is
 * taken before its transaction commits, so the measured wait includes the commit. One call at a time.
 */
async function startDelays(
  dataDirectory: string,
  firm: FirmClient,
  directory: string,
  calls: number,
): Promise<number[]> {
  const server = await startServer({ directory: join(dataDirectory, 'postgres'), log: () => {} });
  const client = new Client({ connectionString: databaseUrl(server.adminUrl, 'call_analysis') });
  await client.connect();
  try {
    const waits: number[] = [];
    for (let number = 0; number < calls; number++) {
      const file = join(directory, 'one.csv');
      await writeRows(file, 1, `single${number}`);
      const key = await firm.upload(await openAsBlob(file));
      const { data } = await firm.call<{ data: { batch_id: string } }>('POST', '/api/v1/calls/process-upload', {
        metadata_key: key,
      });
      await finished(firm, data.batch_id);
      const { rows } = await client.query(
        `SELECT extract(epoch FROM analysis.created_at - call.created_at) * 1000 AS ms
         FROM ingest.call JOIN analysis.analysis ON analysis.call_uuid = call.uuid WHERE call.batch_uuid = $1`,
        [data.batch_id],
      );
      waits.push(Number(rows[0].ms));
    }
    return waits;
  } finally {
    await client.end();
  }
}
