import { exposition } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { freshDatabase } from '../../testing/database.ts';
import { waitUntil } from '../../testing/index.ts';
import { openDatabase } from './database.ts';

describe('the use of a pool', () => {
  it('is shown while the pool is open: busy and idle connections, their limit, and waiting statements', async () => {
    const place = await freshDatabase();
    const db = openDatabase({ url: place.url('ingest'), schema: 'ingest', applicationName: 'trial', poolSize: 2 });
    const shown = async () =>
      (await exposition()).split('\n').filter((line) => /^call_analysis_database_.*service="trial"/.test(line));
    const finish = Promise.withResolvers<void>();
    try {
      await db.query('SELECT 1');
      const busy = () => db.transaction(() => finish.promise);
      const working = [busy(), busy(), db.query('SELECT 1')];
      await waitUntil(() => db.pool.totalCount === 2 && db.pool.waitingCount === 1);
      expect(await shown()).toEqual([
        'call_analysis_database_connections{service="trial",state="busy"} 2',
        'call_analysis_database_connections{service="trial",state="idle"} 0',
        'call_analysis_database_connections_limit{service="trial"} 2',
        'call_analysis_database_waiting_statements{service="trial"} 1',
      ]);
      finish.resolve();
      await Promise.all(working);
      expect(await shown()).toContain('call_analysis_database_connections{service="trial",state="idle"} 2');
    } finally {
      finish.resolve();
      await db.close();
      await place.drop();
    }
    expect(await shown()).toEqual([]);
  });
});
