import { setTimeout as pause } from 'node:timers/promises';
import { limitOptions, MIGRATION_LIMITS, type Sql, translateError, withClient } from '@call-analysis/postgres';
import { PgBoss } from 'pg-boss';
import type { QueueConfig } from '../config.ts';
import { tuneAutovacuum } from './queue-store.ts';

/**
 * Creates the queues' tables, or brings them up to date; changes nothing if they are. `createMore` adds other tables to the
 * schema on the same connection.
 */
export async function migrateQueues(
  { url, schema }: QueueConfig,
  createMore: (sql: Sql) => Promise<void>,
): Promise<void> {
  try {
    const boss = new PgBoss({
      connectionString: url,
      options: limitOptions(MIGRATION_LIMITS),
      schema,
      createSchema: !(await schemaExists(url, schema)),
      migrate: true,
      supervise: false,
      schedule: false,
      max: 2,
      bamIntervalSeconds: 10,
    });
    boss.on('error', () => {});
    try {
      await boss.start();
      const database = boss.getDb();
      const sql: Sql = {
        query: async <Row>(text: string, values: readonly unknown[] = []) =>
          (await database.executeSql(text, [...values])).rows as Row[],
      };
      await tuneAutovacuum(sql, schema);
      await createMore(sql);
      await untilIndexesExist(boss);
    } finally {
      await boss.stop({ graceful: false });
    }
  } catch (error) {
    throw translateError(error);
  }
}

function schemaExists(url: string, schema: string): Promise<boolean> {
  return withClient({ connectionString: url }, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
    return rowCount === 1;
  });
}

/** Some migrations of pg-boss build their indexes afterwards, and only in a process that migrates. */
async function untilIndexesExist(boss: PgBoss): Promise<void> {
  for (;;) {
    const summary = await boss.getBamStatus();
    const failed = summary.find(({ status }) => status === 'failed');
    if (failed !== undefined) throw new Error(`${failed.count} indexes of the bus could not be built.`);
    if (!summary.some(({ status }) => status === 'pending' || status === 'in_progress')) return;
    await pause(500);
  }
}
