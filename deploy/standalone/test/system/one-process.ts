import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDisk } from '@call-analysis/objects';
import { type Database, databaseUrl, openDatabase } from '@call-analysis/postgres';
import { findServer } from '@call-analysis/postgres/server';
import { tracesInFiles, tracesInTables } from '@call-analysis/testing';
import { openDataDirectory } from '../../data-directory.ts';
import { postgresOf } from './command.ts';
import { type ServiceOptions, startService } from './service-process.ts';
import type { SystemUnderTest } from './system-under-test.ts';

/** All services in one process, as `npm start` runs them, with their own database and files, by default in the state after a first start. */
export async function oneProcess(
  variables: Record<string, string>,
  where?: string,
  options?: ServiceOptions,
): Promise<SystemUnderTest> {
  let live = await startService(where, variables, options);
  const { directory, administration } = live;
  const data = openDataDirectory(directory);
  // As the superuser, over the tables of all services.
  const tables: Database = openDatabase({
    url: databaseUrl((await findServer(data.postgres))!, 'call_analysis'),
    schema: 'public',
  });
  let before = '';
  let closed = false;

  async function end(): Promise<void> {
    if (!closed) await tables.close();
    closed = true;
    await live.stop({ keep: true });
  }

  return {
    get url() {
      return live.url;
    },
    administration,
    get pids() {
      return [live.pid];
    },
    get metricsUrls() {
      return [`${live.url}/metrics`];
    },
    secrets: { ...data.secrets },
    stderr: () => before + live.stderr(),
    databaseLog: () => readFile(join(data.postgres, 'postgres.log'), 'utf8'),
    tables: () => tables,
    objects: () => openDisk({ directory: data.objects, secret: data.secrets.urlSecret }),
    async tracesOf(words) {
      return [
        ...(await tracesInTables(tables, words)),
        ...(await tracesInFiles(data.objects, words)),
        ...(await tracesInFiles(data.work, words)),
      ];
    },
    async kill() {
      const ended = once(live.child, 'exit');
      process.kill(live.pid, 'SIGKILL');
      await ended;
      before += live.stderr();
    },
    async killDatabase() {
      const pid = await postgresOf(directory);
      if (pid !== null) process.kill(pid, 'SIGKILL');
    },
    async revive() {
      live = await startService(directory, variables, options);
    },
    settled: async () => {},
    end,
    async stop() {
      await end();
      await live.stop();
    },
  };
}
