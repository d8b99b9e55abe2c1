import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '@call-analysis/postgres/server';
import type { PostgresServer } from '@call-analysis/postgres/server';

interface Running {
  readonly server: PostgresServer;
  readonly directory: string;
  readonly watchdog: ChildProcess;
}

let running: Running | null = null;

/**
 * One PostgreSQL server for the whole run, or the one that `TEST_DATABASE_URL` names (as a superuser). Either way that
 * variable tells the tests its address.
 */
export default async function start(): Promise<void> {
  if (process.env['TEST_DATABASE_URL'] !== undefined) return;
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-test-'));
  try {
    const server = await startServer({ directory, ephemeral: true, log: () => {} });
    running = { server, directory, watchdog: watch(server.pid, directory) };
    process.env['TEST_DATABASE_URL'] = server.adminUrl;
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

export async function stop(): Promise<void> {
  if (running === null) return;
  const { server, directory, watchdog } = running;
  running = null;
  delete process.env['TEST_DATABASE_URL'];
  try {
    await server.stop();
  } finally {
    watchdog.stdin?.end();
    await rm(directory, { recursive: true, force: true });
  }
}

/** A process that outlives this one, should this one be killed, and sees its end by the end of a pipe. */
function watch(pid: number, directory: string): ChildProcess {
  const program = fileURLToPath(new URL('./watchdog.ts', import.meta.url));
  const child = spawn(process.execPath, [program, String(pid), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.stdin?.on('error', () => {});
  child.unref();
  return child;
}
