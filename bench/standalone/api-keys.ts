import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { startServer } from '@call-analysis/postgres/server';
import { keyManagement } from '@call-analysis/proto';
import { dial } from '@call-analysis/rpc';
import { Pool } from 'pg';
import { openDataDirectory } from '../../deploy/standalone/data-directory.ts';
import { newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { ApiKeyAuthentication } from '../../services/gateway/authentication/api-key.ts';
import { atLeast, type Figure } from '../harness/figure.ts';

const AT_ONCE = 64;
/** With more connections, PostgreSQL would only switch between them. */
const CONNECTIONS = 16;

/**
 * Verifications per second, 64 at the same time, compared with the usual pattern of one SELECT and two UPDATEs per request
 * in the same database. Cached: the gateway's authentication as it is. Uncached: with a cache that keeps nothing, so that
 * key-management answers every request from its table; requests at the same time share an RPC and a query.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const seconds = quick ? 1 : 5;
  const service = await startService();
  const server = await startServer({ directory: join(service.directory, 'postgres'), log: () => {} });
  const pool = new Pool({ connectionString: server.adminUrl, max: CONNECTIONS });
  const keys = dial(keyManagement, openDataDirectory(service.directory).socket('key-management'), {
    name: 'key-management',
  });
  try {
    // One firm per concurrent request, because requests with the same key at the same time share one RPC.
    const requests: IncomingMessage[] = [];
    for (let firms = 0; firms < AT_ONCE; firms++) {
      const firm = await newFirm(service, { role: 'SUPERUSER' });
      const { api_key } = await firm.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
        firm_uuid: firm.firmUuid,
      });
      requests.push({ headersDistinct: { 'x-service-api-key': [api_key] } } as unknown as IncomingMessage);
    }

    const cached = new ApiKeyAuthentication({ keys });
    const uncached = new ApiKeyAuthentication({ keys, ttlMs: 0 });
    const pattern = await selectAndTwoUpdates(pool);
    // Alternately, so that a slower machine affects all three.
    const rates = { pattern: 0, uncached: 0, cached: 0 };
    for (let round = 0; round < 3; round++) {
      rates.pattern += await perSecond(pattern, seconds / 3);
      rates.uncached += await perSecond((worker) => uncached.authenticate(requests[worker]!), seconds / 3);
      rates.cached += await perSecond((worker) => cached.authenticate(requests[worker]!), seconds / 3);
    }
    const yardstick = { name: 'one SELECT, two UPDATEs, requests/s', value: rates.pattern / 3 };
    return [
      atLeast(20, { name: 'API key verified, cached', value: rates.cached / 3, unit: 'requests/s', yardstick }),
      atLeast(3, { name: 'API key verified, uncached', value: rates.uncached / 3, unit: 'requests/s', yardstick }),
    ];
  } finally {
    keys.close();
    await pool.end();
    await service.stop();
  }
}

async function selectAndTwoUpdates(pool: Pool): Promise<() => Promise<void>> {
  await pool.query(`CREATE TABLE api_key (uuid uuid PRIMARY KEY, hash bytea UNIQUE, user_uuid uuid, last_used timestamptz);
    CREATE TABLE api_user (uuid uuid PRIMARY KEY, last_seen timestamptz);
    INSERT INTO api_user SELECT gen_random_uuid(), now() FROM generate_series(1, 1000);
    INSERT INTO api_key SELECT gen_random_uuid(), sha256(uuid::text::bytea), uuid, now() FROM api_user`);
  const { rows } = await pool.query<{ hash: Buffer }>('SELECT hash FROM api_key');
  let next = 0;
  return async () => {
    const { hash } = rows[next++ % rows.length]!;
    const found = await pool.query({
      name: 'find',
      text: 'SELECT uuid, user_uuid FROM api_key WHERE hash = $1',
      values: [hash],
    });
    const [{ uuid, user_uuid }] = found.rows;
    await pool.query({ name: 'used', text: 'UPDATE api_key SET last_used = now() WHERE uuid = $1', values: [uuid] });
    await pool.query({
      name: 'seen',
      text: 'UPDATE api_user SET last_seen = now() WHERE uuid = $1',
      values: [user_uuid],
    });
  };
}

async function perSecond(work: (worker: number) => Promise<unknown>, seconds: number): Promise<number> {
  const began = performance.now();
  const end = began + seconds * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, worker) => {
      while (performance.now() < end) {
        await work(worker);
        done++;
      }
    }),
  );
  return done / ((performance.now() - began) / 1000);
}
