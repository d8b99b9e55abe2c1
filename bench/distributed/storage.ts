import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { databaseUrl } from '@call-analysis/postgres';
import type { DistributedSystem } from '../../deploy/distributed/test/system.ts';
import { type Bytes, logBytes, tableBytes } from '../harness/database-bytes.ts';
import { minioOf } from './minio-client.ts';
import type { Servers } from './servers.ts';

/**
 * The present sizes: each table with its TOAST data as `<schema>.<table>`, its indexes as `<schema>.<table> indexes`, and the
 * tables of a service's queues together; and the bytes that PostgreSQL has written to its log so far.
 */
export async function measureDatabases(
  system: DistributedSystem,
  servers: Servers,
): Promise<{ tables: Bytes; log: Bytes }> {
  const tables: Bytes = {};
  for (const url of Object.values(system.databaseUrls)) {
    const { pathname } = new URL(url);
    const own = await tableBytes(databaseUrl(servers.postgres.adminUrl, pathname.slice(1)));
    for (const [name, bytes] of Object.entries(own)) tables[name] = (tables[name] ?? 0) + bytes;
  }
  return { tables, log: { all: await logBytes(servers.postgres.adminUrl) } };
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
