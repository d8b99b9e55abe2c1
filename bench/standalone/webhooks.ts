import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { databaseUrl } from '@call-analysis/postgres';
import { findServer } from '@call-analysis/postgres/server';
import { Pool } from 'pg';
import { newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atLeast, atMost, type Figure, median } from '../harness/figure.ts';
import { peakMiB, resetPeak, residentMiB } from '../harness/processes.ts';

const ROUNDS = 3;
const GOAL = 2_000;
const GOAL_MEMORY_MIB = 150;

const data = {
  call_uuid: randomUUID(),
  status: 'completed',
  outcome: 'scored',
  score: 71.4,
  segment_type: 'support',
  partner_call_id: 'crm-1041',
  batch_id: randomUUID(),
  campaign_id: null,
  failure: null,
};
const BODY = JSON.stringify({ type: 'call.completed', timestamp: new Date().toISOString(), data });

/**
 * Deliveries a second to an endpoint on this machine, from rows that wait to results that are stored; and the memory that
 * many waiting deliveries add.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const each = quick ? 10_000 : 50_000;
  const waiting = quick ? 100_000 : 1_000_000;
  const sink = await openSink();
  const service = await startService(undefined, { WEBHOOK_ALLOW_PRIVATE: 'true' });
  const adminUrl = await findServer(join(service.directory, 'postgres'));
  const connectionString = databaseUrl(adminUrl!, 'call_analysis');
  const pool = new Pool({ connectionString, max: 2, options: '-c search_path=webhooks' });
  try {
    const firm = await newFirm(service);
    const request = { url: sink.url, events: ['call.completed'] };
    const { uuid } = await firm.call<{ uuid: string }>('POST', '/api/v1/webhooks', request);
    const add = async (endpoint: string, deliveries: number, delay: string) => {
      await pool.query(
        `INSERT INTO delivery (endpoint_uuid, uuid, firm_uuid, event, subject, body, next_at, created_at)
         SELECT $1, uuidv7(), $2, 'call.completed', gen_random_uuid(), $3, now() + $5::interval, now()
         FROM generate_series(1, $4::int)`,
        [endpoint, firm.firmUuid, BODY, deliveries, delay],
      );
    };
    const pending = async () =>
      (await pool.query("SELECT 1 FROM delivery WHERE status = 'pending' AND next_at <= now() LIMIT 1")).rowCount !== 0;

    await add(uuid, 2_000, '0');
    while (await pending()) await pause(20);
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await add(uuid, each, '1 second');
      await pool.query('CHECKPOINT');
      await pool.query("UPDATE delivery SET next_at = now() WHERE status = 'pending'");
      const began = performance.now();
      while (await pending()) await pause(10);
      rates.push((each / (performance.now() - began)) * 1000);
    }

    const slow = await firm.call<{ uuid: string }>('POST', '/api/v1/webhooks', { ...request, url: `${sink.url}/slow` });
    const before = residentMiB(service.pid);
    resetPeak(service.pid);
    await add(slow.uuid, waiting, '0');
    await add(uuid, each, '0');
    await pause(quick ? 5_000 : 20_000);
    const added = Math.max(peakMiB(service.pid) - before, 0);

    const value = median(rates);
    return [
      atLeast(1, { name: 'webhook deliveries', value, unit: '/s', yardstick: { name: 'goal, /s', value: GOAL } }),
      atMost(1, {
        name: `memory that ${waiting.toLocaleString('en')} waiting deliveries add`,
        value: added,
        unit: 'MiB',
        yardstick: { name: 'at most, MiB', value: GOAL_MEMORY_MIB },
      }),
    ];
  } finally {
    await pool.end();
    await service.stop();
    sink.stop();
  }
}

/** Answers every request with 204. */
async function openSink() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
