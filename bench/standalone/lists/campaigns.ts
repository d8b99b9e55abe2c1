import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startServer } from '@call-analysis/postgres/server';
import { Pool } from 'pg';
import { newFirm } from '../../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../../deploy/standalone/test/system/service-process.ts';
import { atMost, type Figure, quantile } from '../../harness/figure.ts';

const CAMPAIGNS = 100;
/** Calls that change their status in one transaction, as analyses arrive, and the pause between two: at most 5,000 a second. */
const RESULTS = 200;
const RESULTS_EVERY_MS = 40;
const GOAL_MS = 50;
const PATH = '/external/api/v1/call-campaign';

/**
 * Milliseconds to read a firm's campaigns with their counters and average scores, over HTTP with an API key, while results
 * arrive for their calls; compared with counting the calls of one campaign, which the counters make unnecessary.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const callsOfEach = quick ? 2000 : 100_000;
  const requests = quick ? 50 : 300;
  const service = await startService(undefined, { RATE_LIMIT_PER_FIRM: '0', RATE_LIMIT_PER_ADDRESS: '0' });
  const server = await startServer({ directory: join(service.directory, 'postgres'), log: () => {} });
  const database = new URL(server.adminUrl);
  database.pathname = '/call_analysis';
  const pool = new Pool({ connectionString: database.href, max: 2, options: '-c search_path=ingest' });
  try {
    const firm = await newFirm(service, { role: 'SUPERUSER' });
    const { api_key } = await firm.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
      firm_uuid: firm.firmUuid,
    });
    const ask = async <Body>(rest: string): Promise<Body> => {
      const response = await fetch(service.url + PATH + rest, { headers: { 'x-service-api-key': api_key } });
      if (!response.ok) throw new Error(`${rest}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Body;
    };
    await fill(pool, firm.firmUuid, callsOfEach);
    const { items } = await ask<{ items: { uuid: string; calls: { total: number } }[] }>('?size=100');
    const total = items.reduce((sum, { calls }) => sum + calls.total, 0);
    if (total !== CAMPAIGNS * callsOfEach) throw new Error(`the campaigns count ${total} calls`);

    const counting = await milliseconds(() => countOne(pool, firm.firmUuid, items[0]!.uuid));
    const results = new Results(pool, firm.firmUuid);
    const lists: number[] = [];
    const ones: number[] = [];
    for (let request = 0; request < requests; request++) {
      lists.push(await milliseconds(() => ask('?size=100')));
      ones.push(await milliseconds(() => ask(`/${items[request % items.length]!.uuid}`)));
    }
    await results.stop();
    const of = `of ${CAMPAIGNS} × ${callsOfEach.toLocaleString('en')} calls`;
    const yardstick = { name: 'at most, ms', value: GOAL_MS };
    return [
      atMost(1, { name: `campaign list and counters ${of}, p95`, value: quantile(lists, 0.95), unit: 'ms', yardstick }),
      atMost(1, { name: `one campaign ${of}, p95`, value: quantile(ones, 0.95), unit: 'ms', yardstick }),
      atMost(1, {
        name: `one campaign ${of}, median`,
        value: quantile(ones, 0.5),
        unit: 'ms',
        yardstick: { name: 'counting its calls, ms', value: counting },
      }),
    ];
  } finally {
    await pool.end();
    await service.stop();
  }
}

/** Creates campaigns, their calls in every status, and the counters as accepting and processing the calls would leave them. */
async function fill(pool: Pool, firmUuid: string, callsOfEach: number): Promise<void> {
  await pool.query(
    `INSERT INTO campaign (firm_uuid, uuid, name, status, created_at, updated_at)
     SELECT $1, uuidv7(), 'Campaign ' || number, 'active', now(), now() FROM generate_series(1, $2) AS number`,
    [firmUuid, CAMPAIGNS],
  );
  const { rows } = await pool.query<{ uuid: string }>('SELECT uuid FROM campaign WHERE firm_uuid = $1', [firmUuid]);
  for (const { uuid } of rows) {
    await pool.query(
      `INSERT INTO call (firm_uuid, uuid, source, status, client_phone_number, operator_name, segment_type, start_time,
         duration, score, batch_uuid, campaign_uuid)
       SELECT $1, uuidv7(), 'transcription', (ARRAY['completed', 'completed', 'completed', 'queued', 'failed'])[1 + number % 5],
         '+998901234567', 'Ann', 'support', now(), 60, CASE WHEN number % 5 < 3 THEN (number % 1001) / 10.0 END, $2, $2
       FROM generate_series(1, $3::int) AS number`,
      [firmUuid, uuid, callsOfEach],
    );
  }
  await pool.query(
    `INSERT INTO campaign_tally (campaign_uuid, status, calls, scored, score_sum)
     SELECT campaign_uuid, status, count(*), count(score), coalesce(sum(score::numeric), 0) FROM call
     WHERE firm_uuid = $1 GROUP BY campaign_uuid, status`,
    [firmUuid],
  );
  await pool.query('VACUUM ANALYZE call');
  await pool.query('CHECKPOINT');
}

async function countOne(pool: Pool, firmUuid: string, campaignUuid: string): Promise<void> {
  await pool.query(
    'SELECT status, count(*), avg(score) FROM call WHERE firm_uuid = $1 AND campaign_uuid = $2 GROUP BY status',
    [firmUuid, campaignUuid],
  );
}

/** Completes queued calls of all campaigns, some hundred at a time, until it is stopped. */
class Results {
  #isStopped = false;
  readonly #done: Promise<void>;

  constructor(pool: Pool, firmUuid: string) {
    this.#done = this.#work(pool, firmUuid);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #work(pool: Pool, firmUuid: string): Promise<void> {
    let after = '00000000-0000-0000-0000-000000000000';
    while (!this.#isStopped) {
      const { rows } = await pool.query<{ uuid: string }>(
        `SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid > $2 AND status = 'queued' ORDER BY uuid LIMIT $3`,
        [firmUuid, after, RESULTS],
      );
      if (rows.length === 0) return;
      after = rows.at(-1)!.uuid;
      await pool.query(
        `UPDATE call SET status = 'completed', score = 50, updated_at = now() WHERE firm_uuid = $1 AND uuid = ANY($2)`,
        [firmUuid, rows.map(({ uuid }) => uuid)],
      );
      await pause(RESULTS_EVERY_MS);
    }
  }
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
