import type { ChildProcess } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PostgresServer, startServer } from '@call-analysis/postgres/server';
import { startWatchdog } from '../watchdog/start-watchdog.ts';

interface Running {
  /** None where `TEST_DATABASE_URL` named one. */
  readonly server: PostgresServer | null;
  readonly directory: string;
  readonly watchdog: ChildProcess;
}

let running: Running | null = null;

/**
 * One PostgreSQL server for the whole run, or the one that `TEST_DATABASE_URL` names (as a superuser). Either way that
 * variable tells the tests its address, and `TEST_SCRATCH` a folder for what several test files use; it is removed at
 * the end.
 */
export default async function start(): Promise<void> {
  // Tests start the service many times over; this spares each start the stripping and compiling of the same files.
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../../node_modules/.cache/compile', import.meta.url));
  reachLoopbackDirectly();
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'call-analysis-test-'));
  try {
    const named = process.env['TEST_DATABASE_URL'] !== undefined;
    const server = named ? null : await startServer({ directory, ephemeral: true, log: () => {} });
    running = {
      server,
      directory,
      watchdog: startWatchdog({ directory, pidFile: 'cluster/postmaster.pid', signal: 'SIGQUIT' }),
    };
    if (server !== null) process.env['TEST_DATABASE_URL'] = server.adminUrl;
    process.env['TEST_SCRATCH'] = directory;
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/** A proxy that the environment names leads beyond this machine, and every server of a test is on it. */
function reachLoopbackDirectly(): void {
  const others = process.env['no_proxy'] || process.env['NO_PROXY'];
  const direct = [...(others ? [others] : []), 'localhost', '.localhost', '127.0.0.1', '::1'].join();
  // Some programs read the one, some the other.
  Object.assign(process.env, { no_proxy: direct, NO_PROXY: direct });
}

export async function stop(): Promise<void> {
  if (running === null) return;
  const { server, directory, watchdog } = running;
  running = null;
  delete process.env['TEST_SCRATCH'];
  if (server !== null) delete process.env['TEST_DATABASE_URL'];
  try {
    await server?.stop();
  } finally {
    watchdog.stdin?.end();
    await rm(directory, { recursive: true, force: true });
  }
}
