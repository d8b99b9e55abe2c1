import { setTimeout as pause } from 'node:timers/promises';
import { translateError } from '@call-analysis/postgres';
import { Client } from 'pg';
import { PgBoss } from 'pg-boss';
import { outboxTable } from '../kafka/outbox/outbox.ts';

export interface BusSchema {
  /** As the role that owns the schema. Roles that are members of it may then publish in their own transactions. */
  readonly url: string;
  readonly schema: string;
}

/** Creates the queues' tables, or brings them up to date. Changes nothing when they are; safe to run at every start. */
export async function migrateBus({ url, schema }: BusSchema): Promise<void> {
  try {
    const boss = new PgBoss({
      connectionString: url,
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
      await tune(boss, schema);
      await makeOutbox(boss, schema);
      await indexesBuilt(boss);
    } finally {
      await boss.stop({ graceful: false });
    }
  } catch (error) {
    throw translateError(error);
  }
}

async function schemaExists(url: string, schema: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
    return rowCount === 1;
  } finally {
    await client.end().catch(() => {});
  }
}

// Every job is written three times and deleted; by default autovacuum would wait for a fifth of a large table.
async function tune(boss: PgBoss, schema: string): Promise<void> {
  const wanted = ['autovacuum_vacuum_scale_factor=0.02', 'autovacuum_vacuum_cost_delay=0'];
  const database = boss.getDb();
  const { rows } = await database.executeSql('SELECT reloptions FROM pg_class WHERE oid = $1::regclass', [
    `${schema}.job_common`,
  ]);
  const present = (rows[0] as { reloptions: string[] | null } | undefined)?.reloptions ?? [];
  if (wanted.every((each) => present.includes(each))) return;
  await database.executeSql(`ALTER TABLE ${schema}.job_common SET (${wanted.join(', ')})`);
}

// In turn: two that make a table at once can collide although both ask whether it is there.
async function makeOutbox(boss: PgBoss, schema: string): Promise<void> {
  const database = boss.getDb();
  const { rows } = await database.executeSql('SELECT to_regclass($1) AS found', [`${schema}.outbox`]);
  const [row] = rows as { found: string | null }[];
  if (row !== undefined && row.found !== null) return;
  await database.executeSql(
    `BEGIN; SELECT pg_advisory_xact_lock(hashtext('outbox of ${schema}')); ${outboxTable(schema)}; COMMIT`,
  );
}

// Some updates of the schema leave their indexes to be built afterwards, and only a migrating process builds them.
async function indexesBuilt(boss: PgBoss): Promise<void> {
  for (;;) {
    const summary = await boss.getBamStatus();
    const failed = summary.find(({ status }) => status === 'failed');
    if (failed !== undefined) throw new Error(`${failed.count} indexes of the bus could not be built.`);
    if (!summary.some(({ status }) => status === 'pending' || status === 'in_progress')) return;
    await pause(500);
  }
}
