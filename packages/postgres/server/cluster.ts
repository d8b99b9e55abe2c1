import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isAlive, isDiskFull, syncFolder } from '@call-analysis/runtime';
import type { Account, Binaries } from './account.ts';

export const superuser = 'postgres';
const majorVersion = '18';
const passwordFile = 'superuser-password';

export type Paths = ReturnType<typeof pathsIn>;

/** The paths of a server's files. */
export function pathsIn(directory: string) {
  return {
    cluster: join(directory, 'cluster'),
    password: join(directory, 'cluster', passwordFile),
    log: join(directory, 'postgres.log'),
  };
}

/** Whether the directory holds a cluster of this version. Throws when it holds something else. */
export async function hasCluster({ cluster }: Paths): Promise<boolean> {
  const names = await readdir(cluster).catch(() => []);
  if (names.length === 0) return false;
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '');
  if (version.trim() === majorVersion) return true;
  throw new Error(
    version === ''
      ? `${cluster} is not empty and is not a PostgreSQL database. Move it away.`
      : `${cluster} was created by PostgreSQL ${version.trim()}, and this is PostgreSQL ${majorVersion}. Move it away.`,
  );
}

// Drafts of this process. In a container a new process may have the same id as the process before it.
const ownDrafts = new Set<string>();

/**
 * Creates the cluster with its password under another name and renames it when it is complete, so that an incomplete one
 * is never used.
 */
export async function makeCluster(
  binaries: Binaries,
  account: Account,
  { cluster }: Paths,
  durable: boolean,
): Promise<void> {
  const draft = `${cluster}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
  const secret = `${draft}.password`;
  ownDrafts.add(draft);
  try {
    await removeUnfinished(cluster);
    await writeFile(secret, randomBytes(24).toString('base64url'), { mode: 0o600, flush: durable });
    await account.own(secret);
    await mkdir(draft, { mode: 0o700 });
    await account.own(draft);
    await runInitdb(binaries, account, [
      `--pgdata=${draft}`,
      `--username=${superuser}`,
      `--pwfile=${secret}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // PostgreSQL's own locale, the same on every machine and after every update of its libraries.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      '--no-instructions',
      durable ? '--sync-method=fsync' : '--no-sync',
    ]);
    await rename(secret, join(draft, passwordFile));
    if (durable) await syncFolder(draft);
    await rename(draft, cluster).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster, which is fine.
      if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
    });
    if (durable) await syncFolder(dirname(cluster));
  } catch (error) {
    throw await explain(error, dirname(cluster));
  } finally {
    ownDrafts.delete(draft);
    await rm(draft, { recursive: true, force: true }).catch(() => {});
    await rm(secret, { force: true }).catch(() => {});
  }
}

export async function readPassword({ password }: Paths): Promise<string> {
  try {
    return (await readFile(password, 'utf8')).trim();
  } catch (cause) {
    throw new Error(`The database's password cannot be read from ${password}.`, { cause });
  }
}

/** An error of the operating system or PostgreSQL about a folder, in one sentence. */
export async function explain(error: unknown, path: string): Promise<unknown> {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  const full = /No space left|Disk quota exceeded|wrote only \d/.test(message);
  if (full || isDiskFull(error) || !(await hasRoom(path))) {
    return new Error(`The disk that holds ${path} is full.`, { cause: error });
  }
  // Node reports a read-only disk as a missing folder when it makes folders recursively.
  const unwritable = code === 'ENOENT' && syscall === 'mkdir';
  if (unwritable || code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new Error(`The database cannot be kept in ${path}: it is not writable.`, { cause: error });
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new Error(`The database cannot be kept in ${path}: it is not a folder.`, { cause: error });
  }
  return error;
}

/** PostgreSQL needs one more WAL segment of this size. */
const fullBelowBytes = 16 * 1024 * 1024;

/** Whether the disk has room for PostgreSQL, which cannot even log why it stopped on a full one. True when that is not known. */
export async function hasRoom(path: string): Promise<boolean> {
  const disk = await statfs(path).catch(() => null);
  return disk === null || disk.bavail * disk.bsize >= fullBelowBytes;
}

/** Removes the drafts of processes that have died. */
async function removeUnfinished(cluster: string): Promise<void> {
  const prefix = `${basename(cluster)}.new-`;
  for (const name of await readdir(dirname(cluster))) {
    if (!name.startsWith(prefix)) continue;
    const draft = join(dirname(cluster), name.replace(/\.password$/, ''));
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (pid === process.pid ? !ownDrafts.has(draft) : !isAlive(pid)) {
      await rm(join(dirname(cluster), name), { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    }
  }
}

function runInitdb(binaries: Binaries, account: Account, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = account.spawn(binaries.initdb, args, ['ignore', 'ignore', 'pipe']);
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return resolve();
      const lines = said.split('\n').filter((line) => /(?:error|fatal|panic):/i.test(line));
      const reason = lines.join(' ').trim() || said.trim() || `it ended with ${code}`;
      reject(new Error(`PostgreSQL's initdb failed: ${reason}`));
    });
  });
}
