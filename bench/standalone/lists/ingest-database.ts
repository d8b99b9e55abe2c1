import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations, schema } from '@call-analysis/ingest';
import { migrate, provision } from '@call-analysis/postgres';
import { startServer } from '@call-analysis/postgres/server';

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

/** Runs `work` and writes how long it took, which is not a figure. */
export async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  await work();
  console.error(`${what} in ${Math.round((performance.now() - began) / 1000)} s`);
}
