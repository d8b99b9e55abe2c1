import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { clusterOwner } from '@call-analysis/postgres/base-backup';
import { isDiskFull, StartFault, syncFolder } from '@call-analysis/runtime';
import { RESTORING } from '../data-directory.ts';
import { concurrently, copyFile, makeEmpty } from './copy-file.ts';
import { DATA, readDigests, readManifest } from './manifest.ts';
import type { Progress } from './progress.ts';

const CONCURRENCY = 8;

/** Folders that PostgreSQL needs although a backup has no file in them. */
const CLUSTER_FOLDERS = [
  'pg_commit_ts',
  'pg_dynshmem',
  'pg_logical/mappings',
  'pg_logical/snapshots',
  'pg_multixact/members',
  'pg_multixact/offsets',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_tblspc',
  'pg_twophase',
  'pg_wal',
];

/**
 * Makes a data directory from a backup and checks every file on the way. The directory is used only once it is complete: a
 * start on what an interrupted restore leaves is refused.
 */
export async function restoreBackup(source: string, target: string, progress: Progress) {
  const from = resolve(source);
  const to = resolve(target);
  const began = Date.now();
  const manifest = await readManifest(from);
  await makeEmpty(to);
  const draft = join(to, RESTORING);
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    progress.step('restore');
    const postgres = join(draft, 'postgres');
    const own = await clusterOwner(postgres);
    const cluster = join(postgres, 'cluster');
    const owned = new Set<string>();
    const ownFolder = async (folder: string) => {
      for (let each = folder; each.startsWith(cluster) && !owned.has(each); each = dirname(each)) {
        owned.add(each);
        await own(each);
      }
    };
    const prefix = `${DATA}/`;
    await concurrently(readDigests(from), CONCURRENCY, async ({ path, sha256 }) => {
      const file = join(draft, path.slice(prefix.length));
      if (!path.startsWith(prefix) || !file.startsWith(`${draft}/`)) {
        throw new StartFault(`${from} is damaged: it names ${path}.`);
      }
      const copied = await copyFile(join(from, path), file);
      if (copied?.sha256 !== sha256) throw new StartFault(`${from} is damaged. Missing or changed: ${path}.`);
      progress.add(copied.bytes);
      if (file.startsWith(`${cluster}/`)) {
        await own(file);
        await ownFolder(dirname(file));
      }
    });
    for (const folder of CLUSTER_FOLDERS) {
      await mkdir(join(cluster, folder), { recursive: true, mode: 0o700 });
      await ownFolder(join(cluster, folder));
    }
    await mkdir(join(draft, 'objects'), { recursive: true, mode: 0o700 });
    for (const name of await readdir(draft)) await rename(join(draft, name), join(to, name));
    // From here on a start is accepted.
    await rm(draft, { recursive: true });
    await syncFolder(to);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (isDiskFull(error)) {
      throw new StartFault(`The disk that holds ${to} is full. Free some space and restore again.`, { cause: error });
    }
    throw error;
  } finally {
    progress.end();
  }
  const { calls, objects, files, bytes } = manifest;
  return { data_dir: to, calls, objects, files, bytes, seconds: (Date.now() - began) / 1000 };
}

/** Files that are verified at the same time. */
const VERIFIED_AT_ONCE = 4;
/** Damaged files that are named. */
const NAMED = 10;

/** Reads every file of a backup. StartFault when the backup is not complete, or a file is missing or damaged. */
export async function verifyBackup(target: string, progress: Progress) {
  const directory = resolve(target);
  const manifest = await readManifest(directory);
  const damaged: string[] = [];
  let files = 0;
  progress.step('verify');
  await concurrently(readDigests(directory), VERIFIED_AT_ONCE, async ({ path, sha256 }) => {
    files += 1;
    const read = await copyFile(join(directory, path), null);
    progress.add(read?.bytes ?? 0);
    if (read?.sha256 !== sha256) damaged.push(path);
  });
  progress.end();
  if (damaged.length > 0 || files !== manifest.files) {
    const named = damaged.slice(0, NAMED).join(', ');
    const rest = damaged.length > NAMED ? ` and ${damaged.length - NAMED} more` : '';
    throw new StartFault(`${directory} is damaged. Missing or changed: ${named}${rest}.`);
  }
  const { version, started_at, finished_at, calls, objects, bytes } = manifest;
  return { directory, valid: true, version, started_at, finished_at, calls, objects, files, bytes };
}
