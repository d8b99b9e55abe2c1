import type { ChildProcess } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PostgresServer, startServer } from '@call-analysis/postgres/server';
import { dropTemplates } from '../database.ts';
import { startWatchdog } from '../watchdog/start-watchdog.ts';

interface Running {
  /** Null when `TEST_DATABASE_URL` names a server. */
  readonly server: PostgresServer | null;
  readonly directory: string;
  readonly watchdog: ChildProcess;
}

/** Tests run several systems of several processes on one server. */
const MAX_CONNECTIONS = 400;
/** Of which a run needs less than two. */
const ROOM_BYTES = 8 * 2 ** 30;

let running: Running | null = null;

/**
 * Starts one PostgreSQL server for the complete run, unless `TEST_DATABASE_URL` names one (as a superuser). Tests find its
 * address in that variable. `TEST_SCRATCH` names a folder for files that several test files share. It is also the folder for
 * temporary files of tests and of what they start, and is removed at the end.
 */
export default async function start(): Promise<void> {
  // Tests start the service many times. With the cache, the same files are stripped and compiled only once.
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../../node_modules/.cache/compile', import.meta.url));
  reachLoopbackDirectly();
  if (hasRoomInMemory()) process.env['TMPDIR'] ??= MEMORY_FOLDER;
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'call-analysis-test-'));
  try {
    const named = process.env['TEST_DATABASE_URL'] !== undefined;
    const server = named
      ? null
      : await startServer({ directory, ephemeral: true, maxConnections: MAX_CONNECTIONS, log: () => {} });
    running = {
      server,
      directory,
      watchdog: startWatchdog({ directory, pidFile: 'cluster/postmaster.pid', signal: 'SIGQUIT' }),
    };
    if (server !== null) process.env['TEST_DATABASE_URL'] = server.adminUrl;
    process.env['TEST_SCRATCH'] = directory;
    process.env['TMPDIR'] = directory;
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/** Each test database is hundreds of files. To create and remove them on a disk is a third of the kernel's time in a run. */
function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return Math.min(bavail * bsize, process.availableMemory()) > ROOM_BYTES;
  } catch {
    return false;
  }
}
const MEMORY_FOLDER = '/dev/shm';

/** Test servers run on this machine, and must not be called through a proxy that the environment names. */
function reachLoopbackDirectly(): void {
  const others = process.env['no_proxy'] || process.env['NO_PROXY'];
  const direct = [...(others ? [others] : []), 'localhost', '.localhost', '127.0.0.1', '::1'].join();
  // Some programs read one of the variables, some the other.
  Object.assign(process.env, { no_proxy: direct, NO_PROXY: direct });
}

export async function stop(): Promise<void> {
  if (running === null) return;
  const { server, directory, watchdog } = running;
  running = null;
  try {
    if (server === null) await dropTemplates(process.env['TEST_DATABASE_URL']!);
    await server?.stop();
  } finally {
    delete process.env['TEST_SCRATCH'];
    if (server !== null) delete process.env['TEST_DATABASE_URL'];
    watchdog.stdin?.end();
    await rm(directory, { recursive: true, force: true });
  }
}
