import { opendir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withClient } from '../database/connection.ts';
import { chooseAccount, findBinaries } from './account.ts';
import { pathsIn } from './cluster.ts';

/** A folder of the cluster, or a file with the bytes to store: a path to read from, or the bytes themselves. */
interface ClusterEntry {
  /** Relative to the cluster, with `/` between its parts. */
  readonly path: string;
  /** Null for a folder. A file that is gone when it is read need not be stored: recovery does not miss it. */
  readonly from: string | Buffer | null;
}

/** These hold nothing that recovery needs, and some of it would stop a start. The folders must exist. */
const EMPTIED = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const LEFT_OUT = /^(?:postmaster\.(?:pid|opts)|backup_label.*|tablespace_map.*|backup_manifest|pg_internal\.init.*)$/;
const TEMPORARY = /^pgsql_tmp/;
const CONTROL_FILE = 'global/pg_control';
const WAL_FILE = /^[0-9A-F]{24}$/;

/** The server was started with a setting that does not allow a copy while it runs. */
export class BackupNotPossible extends Error {
  override readonly name = 'BackupNotPossible';
}

/**
 * Copies a cluster while its server runs. With all entries a start recovers, as after a power failure, to the moment after
 * `ended`; until then the server keeps its log of changes. Throws when the connection ends.
 */
export async function backUpCluster(options: {
  /** As in startServer. */
  readonly directory: string;
  readonly adminUrl: string;
  /** Resolves once all these entries are stored. Is called several times. */
  store(entries: AsyncIterable<ClusterEntry> | Iterable<ClusterEntry>): Promise<void>;
  /** Is called just before the moment that is recovered. */
  ended(): Promise<void>;
}): Promise<void> {
  const { cluster } = pathsIn(options.directory);
  const config = { connectionString: options.adminUrl, application_name: 'call-analysis backup' };
  await withClient(config, async (client) => {
    const [settings] = (await client.query<{ wal_level: string }>('SHOW wal_level')).rows;
    if (settings?.wal_level === 'minimal') throw new BackupNotPossible('PostgreSQL runs with wal_level=minimal.');
    // Ends with the connection, so that a killed backup holds back nothing.
    await client.query('SELECT pg_create_physical_replication_slot($1, true, true)', [`backup_${process.pid}`]);
    const [begun] = (
      await client.query<{ file: string }>(`SELECT pg_walfile_name(pg_backup_start('backup', fast => true)) AS file`)
    ).rows;
    await options.store(walk(cluster, ''));
    // Last, so that it is no older than any other file.
    await options.store([{ path: CONTROL_FILE, from: await readUnchanged(join(cluster, CONTROL_FILE)) }]);
    await options.ended();
    const [stopped] = (
      await client.query<{ file: string; labelfile: string }>(
        'SELECT pg_walfile_name(lsn) AS file, labelfile FROM pg_backup_stop(wait_for_archive => false)',
      )
    ).rows;
    if (begun === undefined || stopped === undefined)
      throw new Error('PostgreSQL did not say where the backup begins.');
    const wal = await walFiles(join(cluster, 'pg_wal'), begun.file, stopped.file);
    await options.store([
      { path: 'backup_label', from: Buffer.from(stopped.labelfile) },
      ...wal.map((name) => ({ path: `pg_wal/${name}`, from: join(cluster, 'pg_wal', name) })),
    ]);
    // The slot has held the log of changes until here only if the connection is still the same.
    await client.query('SELECT 1');
  });
}

/** Gives files of a cluster that is being restored to the user that runs PostgreSQL. `directory` is as in startServer. */
export async function clusterOwner(directory: string): Promise<(path: string) => Promise<void>> {
  const account = await chooseAccount(await findBinaries(), pathsIn(directory).cluster);
  return (path) => account.own(path);
}

async function* walk(cluster: string, folder: string): AsyncGenerator<ClusterEntry> {
  const entries = await opendir(join(cluster, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && folder !== '') return null;
    throw error;
  });
  if (entries === null) return;
  for await (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (TEMPORARY.test(entry.name) || LEFT_OUT.test(entry.name) || path === CONTROL_FILE) continue;
    if (entry.isDirectory()) {
      yield { path, from: null };
      if (!EMPTIED.has(path)) yield* walk(cluster, path);
    } else if (entry.isFile()) {
      yield { path, from: join(cluster, path) };
    }
  }
}

/** The server writes this file in one piece, so a copy in the middle of a write differs from the next one. */
async function readUnchanged(path: string): Promise<Buffer> {
  for (let before = await readFile(path); ;) {
    const now = await readFile(path);
    if (now.equals(before)) return now;
    before = now;
  }
}

/** The log of changes from one file to another, which must be complete. */
async function walFiles(folder: string, first: string, last: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder)) {
    if (WAL_FILE.test(name) && name >= first && name <= last) names.push(name);
  }
  names.sort();
  if (names[0] !== first || names.at(-1) !== last || !(await areWhole(folder, names))) {
    throw new Error('PostgreSQL no longer has its log of changes from the time of the backup.');
  }
  return names;
}

const WAL_FILE_BYTES = 16 * 1024 * 1024;

async function areWhole(folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    if ((await stat(join(folder, name))).size !== WAL_FILE_BYTES) return false;
  }
  const numbers = names.map((name) => BigInt(`0x${name.slice(8, 16)}`) * 256n + BigInt(`0x${name.slice(16)}`));
  return numbers.every((number, index) => index === 0 || number === numbers[index - 1]! + 1n);
}
