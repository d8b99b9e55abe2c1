import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';

/** Bytes by where they are stored. */
export type Bytes = Record<string, number>;

/**
 * The present sizes in one database: each table with its TOAST data as `<schema>.<table>`, its indexes as
 * `<schema>.<table> indexes`, and the tables of a service's queues together.
 */
export async function tableBytes(url: string): Promise<Bytes> {
  const tables: Bytes = {};
  const found = await asked<{ schema: string; name: string; bytes: string; index_bytes: string }>(
    url,
    `SELECT nspname AS schema, relname AS name, pg_table_size(c.oid) AS bytes, pg_indexes_size(c.oid) AS index_bytes
       FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
      WHERE relkind = 'r' AND nspname !~ '^(pg_|information_schema)'`,
  );
  for (const { schema, name, bytes, index_bytes } of found) {
    const isQueue = /(^|_)bus$/.test(schema);
    const key = isQueue ? `${schema} (queues)` : `${schema}.${name}`;
    const indexes = isQueue ? key : `${key} indexes`;
    tables[key] = (tables[key] ?? 0) + Number(bytes);
    tables[indexes] = (tables[indexes] ?? 0) + Number(index_bytes);
  }
  return tables;
}

/** The bytes that PostgreSQL has written to its log (WAL) so far. */
export async function logBytes(url: string): Promise<number> {
  const [row] = await asked<{ bytes: string }>(url, `SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes`);
  return Number(row!.bytes);
}

/** Resolves when the search index of ingest is up to date. */
export async function indexed(url: string): Promise<void> {
  for (;;) {
    const [row] = await asked<{ waits: boolean }>(url, 'SELECT EXISTS (SELECT FROM ingest.queued_words) AS waits');
    if (row?.waits === false) return;
    await pause(200);
  }
}

/** The growth of each for each call, largest first, without growth of less than a byte. */
export function grown(after: Bytes, before: Bytes, calls: number): [string, number][] {
  return Object.entries(after)
    .map(([name, bytes]): [string, number] => [name, (bytes - (before[name] ?? 0)) / calls])
    .filter(([, perCall]) => perCall >= 1)
    .toSorted(([, one], [, other]) => other - one);
}

/** The rows of one query. */
async function asked<Row>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}
