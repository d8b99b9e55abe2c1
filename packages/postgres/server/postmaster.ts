import { type ChildProcess, execFile } from 'node:child_process';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isAlive } from '@call-analysis/runtime';
import { withClient } from '../database/connection.ts';
import type { Account, Binaries } from './account.ts';
import { explain, type Paths, superuser } from './cluster.ts';

const execute = promisify(execFile);

/** A running server process. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Null when another process started it. */
  readonly child: ChildProcess | null;
}

const MIB = 2 ** 20;
/** Each connection has up to 4 MiB of page tables for it. */
const MOST_SHARED_MIB = 2_048;

/**
 * An eighth of the memory that this process may use. With 2 GiB instead of 256 MiB, searches for a word of 10,000 calls in a million take
 * half the time (docs/performance.md).
 */
function sharedBuffers(): string {
  // 0 where nothing limits it.
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  return `${Math.min(Math.ceil(bytes / 8 / MIB), MOST_SHARED_MIB)}MB`;
}

// Suitable for a laptop. Nothing replicates; the WAL holds what a copy of the running server needs as well.
const settings = {
  log_line_prefix: '%m [%p] ',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_wal_size: '4GB',
  wal_buffers: '32MB',
  checkpoint_timeout: '15min',
  wal_level: 'replica',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The client gets the errors of its statements; in the log they would only leave personal data in a file.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};
const durable = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', shared_buffers: sharedBuffers() };
const ephemeral = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '256MB',
  scram_iterations: '1',
};

const logLimitBytes = 10 * 1024 * 1024;
const obstacleTimeoutMs = 20_000;
const slowStartMs = 5_000;

interface Launch {
  readonly binaries: Binaries;
  readonly account: Account;
  readonly paths: Paths;
  readonly ephemeral: boolean;
  readonly maxConnections: number;
  /** Null for any free one. */
  readonly port: number | null;
  log(message: string): void;
}

/**
 * Starts the server process and waits until it accepts connections. Null when another server has locked the cluster in
 * the meantime.
 */
export async function launch(options: Launch): Promise<Postmaster | null> {
  const { cluster } = options.paths;
  const giveUpAt = Date.now() + obstacleTimeoutMs;
  for (;;) {
    const port = options.port ?? (await findFreePort());
    const outcome = await launchOnce(options, port);
    if (typeof outcome !== 'string') return outcome;
    if (/lock file .* already exists/.test(outcome)) return null;
    // Another process took the port, the processes of a killed postmaster have not ended yet, or another server is
    // starting and has created its lock file without its content.
    const isTemporary = /could not bind|Address already in use|pre-existing shared memory|lock file .* is empty/.test(
      outcome,
    );
    if (!isTemporary || Date.now() > giveUpAt) {
      throw await explain(new Error(`PostgreSQL did not start in ${cluster}: ${outcome}`), cluster);
    }
    await pause(100);
  }
}

/** The process, or its last message when it ended. */
async function launchOnce(options: Launch, port: number): Promise<Postmaster | string> {
  const { binaries, account, paths } = options;
  const log = await open(paths.log, 'a', 0o600);
  let child: ChildProcess;
  let logStart: number;
  try {
    logStart = (await log.stat()).size;
    if (logStart > logLimitBytes) {
      await log.truncate(0);
      logStart = 0;
    }
    const chosen = {
      ...settings,
      ...(options.ephemeral ? ephemeral : durable),
      max_connections: String(options.maxConnections),
      port: String(port),
    };
    const flags = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // The log is a file and not a pipe: the server may outlive this process.
    child = account.spawn(binaries.postgres, ['-D', paths.cluster, ...flags], ['ignore', log.fd, log.fd]);
  } finally {
    await log.close();
  }
  let failure: string | null = null;
  child.once('error', (error) => {
    failure = error.message;
  });
  child.unref();
  const since = Date.now();
  let isLogged = false;
  for (;;) {
    if (failure !== null) return failure;
    if (child.exitCode !== null || child.signalCode !== null) return lastError(paths.log, logStart, child.pid);
    const file = await readPidFile(paths.cluster);
    if (file?.ready === true && file.pid === child.pid) return { pid: file.pid, port, child };
    if (!isLogged && Date.now() - since > slowStartMs) {
      isLogged = true;
      options.log('PostgreSQL is recovering after it was not shut down properly. This may take a while.');
    }
    await pause(10);
  }
}

/**
 * The server that an earlier process left running on this cluster, if there is one. A pid file that names another program
 * is removed, because PostgreSQL would refuse to start.
 */
export async function findRunning(paths: Paths, password: string): Promise<Postmaster | null> {
  const giveUpAt = Date.now() + obstacleTimeoutMs;
  for (;;) {
    const file = await readPidFile(paths.cluster);
    if (file === null || !isAlive(file.pid)) return null;
    const answer = await ask(file.port, password, paths.cluster);
    if (answer === 'ours') return { pid: file.pid, port: file.port, child: null };
    if (answer === 'other' || !(await serves(file.pid, paths.cluster))) {
      // The server may have ended meanwhile, and another one may have started: its file must stay.
      if ((await readPidFile(paths.cluster))?.pid !== file.pid) continue;
      await rm(join(paths.cluster, 'postmaster.pid'), { force: true });
      return null;
    }
    // The server is starting, recovering or stopping.
    if (Date.now() > giveUpAt) {
      throw new Error(`A PostgreSQL server (process ${file.pid}) uses ${paths.cluster} and does not answer.`);
    }
    await pause(100);
  }
}

/** Whether the server process has ended. */
export async function hasEnded(postmaster: Postmaster, paths: Paths): Promise<boolean> {
  if (postmaster.child !== null) return postmaster.child.exitCode !== null || postmaster.child.signalCode !== null;
  if (!isAlive(postmaster.pid)) return true;
  // A dead process that was not reaped still counts as alive, but its pid file is gone.
  const file = await readPidFile(paths.cluster);
  return file?.pid !== postmaster.pid;
}

export async function signal(binaries: Binaries, pid: number, name: 'INT' | 'QUIT'): Promise<void> {
  try {
    // Windows has no signals; PostgreSQL emulates them.
    if (process.platform === 'win32') await execute(binaries.pg_ctl, ['kill', name, String(pid)]);
    else process.kill(pid, `SIG${name}`);
  } catch {
    // The process has already ended.
  }
}

interface PidFile {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

async function readPidFile(cluster: string): Promise<PidFile | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => null);
  if (text === null) return null;
  // By line: pid, data directory, start time, port, socket directory, address, shared memory, status.
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  return Number.isSafeInteger(pid) && pid > 0
    ? { pid, port: Number(lines[3] ?? 0), ready: lines[7]?.trim() === 'ready' }
    : null;
}

/** `ours` when the server on the port accepts the password and serves this cluster and not a copy of it. */
async function ask(port: number, password: string, cluster: string): Promise<'ours' | 'other' | 'none'> {
  if (!(port > 0 && port < 65_536)) return 'none';
  const config = {
    host: '127.0.0.1',
    port,
    user: superuser,
    password,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 3_000,
    query_timeout: 3_000,
  };
  return withClient(config, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return (await isSameFolder(rows[0]?.data_directory ?? '', cluster)) ? 'ours' : 'other';
  }).catch(() => 'none');
}

/** Whether a process is a server of this cluster, judged by its command line (see `launchOnce`). */
async function serves(pid: number, cluster: string): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    .then((text) => text.replaceAll('\0', ' '))
    .catch(async () => (await execute('ps', ['-o', 'command=', '-p', String(pid)])).stdout)
    .catch(() => '');
  const folder = /(?:^|\/)postgres -D (.+?) -c /.exec(command)?.[1];
  return folder !== undefined && (await isSameFolder(folder, cluster));
}

/** A folder that no longer exists was moved, so it may be this one. */
async function isSameFolder(served: string, cluster: string): Promise<boolean> {
  const there = await stat(served).catch(() => null);
  const here = await stat(cluster);
  return there === null || (there.ino === here.ino && there.dev === here.dev);
}

/** Why a server ended: its own last error in the log, or else that of one of its processes. */
async function lastError(path: string, start: number, pid: number | undefined): Promise<string> {
  const log = await readFile(path).catch(() => Buffer.alloc(0));
  const lines = log.subarray(start).toString('utf8').trim().split('\n');
  const errors = lines.filter((line) => /(?:FATAL|PANIC|error):|No space left|could not bind/.test(line));
  const line =
    errors.find((each) => each.includes(`[${pid}]`)) ??
    // The remaining processes of a killed server write to this log too.
    errors.findLast((each) => !each.includes('unexpected postmaster exit')) ??
    lines.at(-1);
  return line?.replace(/^\S+ \S+ UTC \[\d+\] /, '') || 'it logged nothing';
}

/** Below the ephemeral ports of outgoing connections, so that a restart finds its port free again. */
async function findFreePort(): Promise<number> {
  for (let attempts = 0; attempts < 50; attempts++) {
    const port = 17_000 + Math.floor(Math.random() * 13_000);
    if (await isFree(port)) return port;
  }
  throw new Error('No port of 127.0.0.1 is free for PostgreSQL.');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      // EACCES: Windows reserves ranges of ports.
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
