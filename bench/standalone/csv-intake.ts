import { createReadStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withClient } from '@call-analysis/postgres';
import { findServer } from '@call-analysis/postgres/server';
import { from as copyFrom } from 'pg-copy-streams';
import { newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atLeast, atMost, type Figure, median } from '../harness/figure.ts';
import { peakMiB, resetPeak } from '../harness/processes.ts';
import { rowsOf, writeCsv } from '../harness/rows.ts';

/**
 * Rows of a CSV of transcripts, from the request for processing to its response: copied, parsed, validated, deduplicated
 * against the firm's calls, committed. Compared with `\copy` of the same file into a plain table with the same columns in
 * the same database: no validation, no indexes, no uuids. Memory is the peak of the service's process.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rows = quick ? 100_000 : 1_000_000;
  const runs = quick ? 1 : 3;
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-rows-'));
  try {
    const rates: number[] = [];
    const copies: number[] = [];
    const peaks: number[] = [];
    for (let round = 0; round < runs; round++) {
      const file = join(directory, 'rows.csv');
      await writeCsv(file, rowsOf(rows, `round${round}`));
      const measured = await intake(file, rows);
      rates.push(measured.rate);
      copies.push(measured.copyRate);
      peaks.push(measured.peakMiB);
    }
    const big = join(directory, 'big.csv');
    await writeCsv(big, rowsOf(rows * 3, 'big'));
    const three = await intake(big, rows * 3);
    const rate = median(rates);
    const million = rows === 1_000_000 ? '1 M' : `${rows / 1000} k`;
    return [
      atLeast(1, {
        name: `CSV intake, ${million} rows`,
        value: rate,
        unit: 'rows/s',
        yardstick: { name: '120 k rows/s', value: 120_000 },
      }),
      atLeast(0.45, {
        name: `CSV intake, ${million} rows`,
        value: rate,
        unit: 'rows/s',
        yardstick: { name: '\\copy, rows/s', value: median(copies) },
      }),
      atMost(1.1, {
        name: 'CSV intake, peak memory at three times the rows',
        value: three.peakMiB,
        unit: 'MiB',
        yardstick: { name: `at ${million} rows, MiB`, value: median(peaks) },
      }),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function intake(file: string, rows: number) {
  const service = await startService();
  try {
    const firm = await newFirm(service, { segmentTypes: ['support'] });
    const key = await firm.upload(await openAsBlob(file));
    // Before the rows are accepted, because their analysis keeps the database busy.
    const copied = await copySeconds(service.directory, file);
    resetPeak(service.pid);
    const began = performance.now();
    const { data } = await firm.call<{ data: { accepted: number } }>('POST', '/api/v1/calls/process-upload', {
      metadata_key: key,
    });
    const seconds = (performance.now() - began) / 1000;
    if (data.accepted !== rows) throw new Error(`${data.accepted} of ${rows} rows were accepted`);
    const peak = peakMiB(service.pid);
    return { rate: rows / seconds, peakMiB: peak, copyRate: rows / copied };
  } finally {
    await service.stop();
  }
}

async function copySeconds(directory: string, file: string): Promise<number> {
  const adminUrl = await findServer(join(directory, 'postgres'));
  return withClient({ connectionString: adminUrl! }, async (client) => {
    await client.query(`CREATE TABLE copied (client_phone_number text, operator_name text, duration int, anonymized_text text,
      start_time timestamptz, segment_type text, partner_call_id text, direction text)`);
    const began = performance.now();
    await pipeline(
      createReadStream(file, { highWaterMark: 1024 * 1024 }),
      client.query(copyFrom('COPY copied FROM STDIN (FORMAT csv, HEADER)')),
    );
    const seconds = (performance.now() - began) / 1000;
    await client.query('DROP TABLE copied');
    // Pending writes must not slow down the next measurement.
    await client.query('CHECKPOINT');
    return seconds;
  });
}
