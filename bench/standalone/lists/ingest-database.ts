import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations, schema } from '@call-analysis/ingest';
import { migrate, provision } from '@call-analysis/postgres';
import { startServer } from '@call-analysis/postgres/server';
import { Client } from 'pg';

/** Starts a PostgreSQL server with an empty, migrated schema of ingest, and removes both after `work`, which gets its URL. */
export async function withIngestDatabase<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-lists-'));
  const server = await startServer({ directory, log: () => {} });
  try {
    const urls = await provision({
      adminUrl: server.adminUrl,
      database: 'call_analysis',
      schemas: [{ schema, role: schema, password: 'for-the-bench' }],
      members: [],
    });
    const url = urls[schema]!;
    await migrate({ url, schema, folder: migrations });
    return await work(url);
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Loads many rows into tables. Their indexes are built afterwards, and the planner knows what is in them and in `others`. */
export async function load(
  url: string,
  tables: readonly string[],
  work: (client: Client) => Promise<void>,
  others: readonly string[] = [],
): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `SET search_path = ${schema}; SET maintenance_work_mem = '1GB'; SET work_mem = '256MB'; SET synchronous_commit = off`,
    );
    const indexes = await client.query<{ name: string; definition: string }>(
      `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
       WHERE schemaname = $1 AND tablename = ANY($2)
         AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = format('%I.%I', schemaname, indexname)::regclass)`,
      [schema, tables],
    );
    for (const { name } of indexes.rows) await client.query(`DROP INDEX ${name}`);
    await work(client);
    for (const { definition } of indexes.rows) await client.query(definition);
    for (const table of [...tables, ...others]) await client.query(`VACUUM ANALYZE ${table}`);
  } finally {
    await client.end();
  }
}

/** Runs `work` and writes how long it took, which is not a figure. */
export async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  await work();
  console.error(`${what} in ${Math.round((performance.now() - began) / 1000)} s`);
}
