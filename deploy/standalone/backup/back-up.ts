import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { holdRemovals } from '@call-analysis/objects';
import { withClient } from '@call-analysis/postgres';
import { BackupNotPossible, backUpCluster } from '@call-analysis/postgres/base-backup';
import { isDiskFull, StartFault, syncFolder } from '@call-analysis/runtime';
import type { DataDirectory } from '../data-directory.ts';
import { concurrently, copyFile, makeEmpty } from './copy-file.ts';
import { DATA, writeManifest } from './manifest.ts';
import type { Progress } from './progress.ts';

/** Files that are copied at the same time. */
const CONCURRENCY = 8;

/**
 * Copies a data directory whose database runs, also while calls arrive. The database is copied as of one moment; its files
 * are written before the rows that name them, and what is removed meanwhile is held, so every row of the copy finds its
 * file. Files of later rows may be there too; the sweeps of the service remove them.
 */
export async function backUp(
  data: DataDirectory,
  server: { readonly adminUrl: string; readonly databaseUrl: string },
  target: string,
  options: { readonly version: string; readonly progress: Progress },
) {
  const { progress } = options;
  const directory = resolve(target);
  const startedAt = new Date();
  refuseWithin(data.path, directory);
  await makeEmpty(directory, 0o700);
  const held = await holdRemovals(data.objects);
  if (held === null) {
    throw new StartFault(
      'Another backup is in progress, or one was interrupted less than a minute ago. Retry shortly.',
    );
  }
  const writer = await writeManifest(directory);
  const folders = new Set<string>([directory]);
  let files = 0;
  let bytes = 0;
  let objects = 0;
  let calls = 0;
  const add = async (from: string | Buffer, path: string): Promise<boolean> => {
    const to = join(directory, path);
    const copied = await copyFile(from, to);
    if (copied === null) return false;
    for (let each = join(to, '..'); !folders.has(each); each = join(each, '..')) folders.add(each);
    await writer.add({ path, sha256: copied.sha256 });
    files += 1;
    bytes += copied.bytes;
    progress.add(copied.bytes);
    return true;
  };
  try {
    progress.step('database');
    const cluster = `${DATA}/postgres/cluster`;
    await backUpCluster({
      directory: data.postgres,
      adminUrl: server.adminUrl,
      store: (entries) =>
        concurrently(entries, CONCURRENCY, async ({ path, from }) => {
          if (from !== null) await add(from, `${cluster}/${path}`);
        }),
      ended: async () => {
        calls = await countCalls(server.databaseUrl);
      },
    });
    progress.step('files');
    await mkdir(join(directory, DATA, 'objects'), { recursive: true, mode: 0o700 });
    await concurrently(held.files(), CONCURRENCY, async ({ path, file }) => {
      try {
        if (await add(file, `${DATA}/objects/${path}`)) objects += 1;
      } catch (error) {
        // A held file that was copied before it was removed.
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    });
    held.check();
    await add(join(data.path, 'secrets.json'), `${DATA}/secrets.json`);
    for (const folder of folders) await syncFolder(folder);
    const finishedAt = new Date();
    await writer.end({
      version: options.version,
      started_at: startedAt.toISOString(),
      finished_at: finishedAt.toISOString(),
      calls,
      objects,
      files,
      bytes,
    });
    const seconds = Math.round(finishedAt.getTime() - startedAt.getTime()) / 1000;
    return { directory, calls, objects, bytes, seconds };
  } catch (error) {
    throw explain(error, directory);
  } finally {
    progress.end();
    await writer.abandon();
    await held.release();
  }
}

function refuseWithin(source: string, directory: string): void {
  const inside = relative(resolve(source), directory);
  if (inside === '' || !(inside.startsWith('..') || resolve(inside) === inside)) {
    throw new StartFault(
      `${directory} is within the data directory. Name a folder outside of it, on another disk if possible.`,
    );
  }
}

/** As of just before the moment of the copy, so that the backup has at least these. */
function countCalls(url: string): Promise<number> {
  return withClient({ connectionString: url, application_name: 'call-analysis backup' }, async (client) => {
    const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM ingest.call');
    return Number(rows[0]?.count);
  });
}

function explain(error: unknown, directory: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (isDiskFull(error)) {
    return new StartFault(
      `The disk that holds ${directory} is full. Remove what was written there, and free some space.`,
    );
  }
  if (error instanceof BackupNotPossible) {
    return new StartFault('The service was started by an older version. Restart it, then make the backup.');
  }
  if (/Connection terminated|ECONNREFUSED|ECONNRESET|terminating connection/.test(`${code} ${message}`)) {
    return new StartFault(`The database stopped during the backup. Remove ${directory} and retry.`, { cause: error });
  }
  return error;
}
