import { join } from 'node:path';
import { startServer } from '@call-analysis/postgres/server';
import { Pool } from 'pg';
import { newFirm } from '../../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../../deploy/standalone/test/system/service-process.ts';
import { atLeast, atMost, type Figure } from '../../harness/figure.ts';
import { peakMiB, resetPeak, residentMiB } from '../../harness/memory.ts';

const GOAL = 50_000;
const GOAL_MEMORY_MIB = 150;

/** Calls a second that a client receives as CSV over HTTP, and the memory that each format adds to the service. */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const calls = quick ? 100_000 : 1_000_000;
  const service = await startService(undefined, { RATE_LIMIT_PER_FIRM: '0', RATE_LIMIT_PER_ADDRESS: '0' });
  const server = await startServer({ directory: join(service.directory, 'postgres'), log: () => {} });
  const database = new URL(server.adminUrl);
  database.pathname = '/call_analysis';
  const pool = new Pool({ connectionString: database.href, max: 1, options: '-c search_path=ingest' });
  try {
    const firm = await newFirm(service);
    await pool.query(
      `INSERT INTO call (firm_uuid, uuid, source, status, outcome, partner_call_id, client_phone_number, operator_name,
         operator_group_name, direction, segment_type, start_time, duration, language, score, batch_uuid)
       SELECT $1, uuidv7(), 'transcription', 'completed', 'scored', 'crm-' || number, '+998901234567', 'Aziza Karimova',
         'Day shift', 'inbound', 'support', now() - number * interval '1 second', 61.25, 'en', (number % 1001) / 10.0, $1
       FROM generate_series(1, $2::int) AS number`,
      [firm.firmUuid, calls],
    );
    await pool.query('VACUUM ANALYZE call');
    const download = async (format: string) => {
      const response = await fetch(`${service.url}/api/v1/calls/export?format=${format}`, {
        headers: { authorization: `Bearer ${firm.token}` },
      });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      let bytes = 0;
      let lines = 0;
      for await (const piece of response.body!) {
        bytes += piece.length;
        if (format === 'csv') for (const byte of piece) if (byte === 10) lines += 1;
      }
      if (format === 'csv' && lines !== calls + 1) throw new Error(`the CSV has ${lines} lines`);
      return bytes;
    };
    await download('csv');
    const began = performance.now();
    await download('csv');
    const value = (calls / (performance.now() - began)) * 1000;
    const figures = [
      atLeast(1, { name: 'calls exported as CSV', value, unit: '/s', yardstick: { name: 'goal, /s', value: GOAL } }),
    ];
    for (const format of ['csv', 'ndjson', 'xlsx', 'parquet']) {
      const before = residentMiB(service.pid);
      resetPeak(service.pid);
      await download(format);
      const added = Math.max(peakMiB(service.pid) - before, 0);
      const name = `memory that ${calls.toLocaleString('en')} calls as ${format} add`;
      figures.push(
        atMost(1, { name, value: added, unit: 'MiB', yardstick: { name: 'at most, MiB', value: GOAL_MEMORY_MIB } }),
      );
    }
    return figures;
  } finally {
    await pool.end();
    await service.stop();
  }
}
