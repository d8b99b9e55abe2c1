import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { databaseUrl } from '@call-analysis/postgres';
import { Client } from 'pg';
import type { DistributedSystem } from '../../deploy/distributed/test/system.ts';
import { minioOf } from './minio-client.ts';
import type { Servers } from './servers.ts';
import { minus } from './system.ts';

/** Bytes by where they are stored. */
export type Bytes = Record<string, number>;

/**
 * The present sizes: each table with its TOAST data as `<schema>.<table>`, its indexes as `<schema>.<table> indexes`, and the
 * tables of a service's queues together; and the bytes that PostgreSQL has written to its log so far.
 */
export async function measureDatabases(
  system: DistributedSystem,
  servers: Servers,
): Promise<{ tables: Bytes; log: Bytes }> {
  const tables: Bytes = {};
  const log: Bytes = {};
  for (const url of Object.values(system.databaseUrls)) {
    const { pathname } = new URL(url);
    await asked(databaseUrl(servers.postgres.adminUrl, pathname.slice(1)), async (client) => {
      for (const { schema, name, bytes, index_bytes } of await rows<{
        schema: string;
        name: string;
        bytes: string;
        index_bytes: string;
      }>(
        client,
        `SELECT nspname AS schema, relname AS name, pg_table_size(c.oid) AS bytes, pg_indexes_size(c.oid) AS index_bytes
           FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
          WHERE relkind = 'r' AND nspname !~ '^(pg_|information_schema)'`,
      )) {
        const key = schema.endsWith('_bus') ? `${schema} (queues)` : `${schema}.${name}`;
        const indexes = schema.endsWith('_bus') ? key : `${key} indexes`;
        tables[key] = (tables[key] ?? 0) + Number(bytes);
        tables[indexes] = (tables[indexes] ?? 0) + Number(index_bytes);
      }
    });
  }
  await asked(servers.postgres.adminUrl, async (client) => {
    const [written] = await rows<{ bytes: string }>(client, `SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes`);
    log['all'] = Number(written!.bytes);
  });
  return { tables, log };
}

/** Resolves when the search index of ingest is up to date. */
export async function indexed(url: string): Promise<void> {
  await asked(url, async (client) => {
    for (;;) {
      const [row] = await rows<{ waits: boolean }>(
        client,
        'SELECT EXISTS (SELECT FROM ingest.call_change) OR EXISTS (SELECT FROM ingest.text_change) AS waits',
      );
      if (row?.waits === false) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
}

/** Bytes in the logs of the system's topics, one copy. Empty when the benchmark did not start the broker. */
export function measureTopics(servers: Servers, prefix: string): Bytes {
  const bytes: Bytes = {};
  if (servers.kafka.pid === null) return bytes;
  const data = join(readlinkSync(`/proc/${servers.kafka.pid}/cwd`), 'data');
  for (const folder of readdirSync(data).filter((name) => name.startsWith(prefix))) {
    const topic = folder.slice(prefix.length).replace(/-\d+$/, '');
    for (const file of readdirSync(join(data, folder)).filter((name) => name.endsWith('.log'))) {
      bytes[topic] = (bytes[topic] ?? 0) + statSync(join(data, folder, file)).size;
    }
  }
  return bytes;
}

/** Bytes of objects by the first part of their keys. */
export async function measureObjects({ store }: DistributedSystem): Promise<Bytes> {
  const client = minioOf(store);
  const bytes: Bytes = {};
  for await (const { name, size } of client.listObjectsV2(store.bucket, '', true) as AsyncIterable<{
    name: string;
    size: number;
  }>) {
    const place = name.slice(0, name.indexOf('/'));
    bytes[place] = (bytes[place] ?? 0) + size;
  }
  return bytes;
}

/** The growth of each, largest first, without growth of less than a byte per call. */
export function grown(after: Bytes, before: Bytes, calls: number): [string, number][] {
  return Object.entries(minus(after, before))
    .map(([name, bytes]): [string, number] => [name, bytes / calls])
    .filter(([, perCall]) => perCall >= 1)
    .toSorted(([, one], [, other]) => other - one);
}

async function asked(url: string, ask: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await ask(client);
  } finally {
    await client.end();
  }
}

async function rows<Row>(client: Client, text: string, values: unknown[] = []): Promise<Row[]> {
  return (await client.query(text, values)).rows as Row[];
}
