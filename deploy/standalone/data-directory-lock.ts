import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { USUAL_LIMITS } from '@call-analysis/postgres';
import { isAlive, StartFault } from '@call-analysis/runtime';
import { Client } from 'pg';
import { z } from 'zod';
import { replaceFile } from './data-directory.ts';

/** holder.json: the process that has the lock. */
const LockHolder = z.object({ pid: z.int(), command: z.enum(['start', 'admin']), url: z.string().nullable() });
export type LockHolder = z.infer<typeof LockHolder>;

/** The key of the advisory lock. Nothing else locks this number in the database. */
const LOCK = 7_365_201;
/** The longest wait for an admin command that has the lock. */
const ADMIN_MS = 60_000;
/**
 * The longest wait for a holder that is not known. holder.json is written just after the lock is acquired, so until
 * then it has the previous holder or does not exist. It also names a killed process until PostgreSQL notices that its
 * connection has ended.
 */
const UNKNOWN_HOLDER_MS = 15_000;
const POLL_MS = 100;

/** Another process has the lock of the data directory. */
export class LockedFault extends StartFault {
  override readonly name = 'LockedFault';
}

export type DataDirectoryLock = NonNullable<Awaited<ReturnType<typeof lockDataDirectory>>>;

/**
 * Locks a data directory with an advisory lock of PostgreSQL, which ends with its connection and so cannot outlive a
 * killed process. When PostgreSQL dies, the lock is acquired again as soon as the server is back.
 * Returns null when the database stopped meanwhile, as it does after an admin command: start the server and try again.
 * Throws LockedFault, which says who has the lock. `signal` ends the wait for another holder; the result is then null.
 */
export async function lockDataDirectory(
  directory: string,
  databaseUrl: string,
  command: LockHolder['command'],
  signal: AbortSignal | undefined,
) {
  const file = join(directory, 'holder.json');
  const options = { connectionString: databaseUrl, application_name: `call-analysis ${command}`, keepAlive: true };
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
  let isLost = false;
  const released = new AbortController();
  let url: string | null = null;
  let client = await connect(options);
  if (client === null) return null;
  try {
    await waitForLock(client, directory, file, signal);
  } catch (error) {
    await client.end().catch(() => {});
    if (error instanceof StartFault) throw error;
    return null;
  }
  writeHolder();
  watch(client);

  function writeHolder(): void {
    replaceFile(file, JSON.stringify({ pid: process.pid, command, url } satisfies LockHolder));
  }

  function watch(connection: Client): void {
    connection.once('end', () => {
      if (!released.signal.aborted) void lockAgain();
    });
  }

  async function lockAgain(): Promise<void> {
    while (!released.signal.aborted) {
      const next = await connect(options);
      if (next !== null) {
        if (!released.signal.aborted && (await tryLock(next).catch(() => false))) {
          client = next;
          writeHolder();
          watch(next);
          return;
        }
        await next.end().catch(() => {});
      }
      const other = currentHolder(file);
      if (other?.command === 'start' && other.pid !== process.pid && isAlive(other.pid)) {
        isLost = true;
        lose();
        return;
      }
      await pause(POLL_MS);
    }
  }

  return {
    /** Writes the URL of the service to holder.json, for the error message of a second start. */
    announce(serviceUrl: string): void {
      url = serviceUrl;
      writeHolder();
    },
    /** Resolves when another service has locked the directory while the database was not running. */
    lost,
    isLost: () => isLost,
    /**
     * Releases the lock after `last`, which still runs under the lock. A lock that was lost is not released, and `last`
     * not run.
     */
    async release(last?: () => Promise<void>): Promise<void> {
      released.abort();
      if (!isLost) await last?.();
      await client?.end().catch(() => {});
    },
  };
}

/** Returns null when the database does not answer. */
async function connect(options: { connectionString: string }): Promise<Client | null> {
  const client = new Client({
    ...options,
    connectionTimeoutMillis: 10_000,
    statement_timeout: USUAL_LIMITS.statementMs,
    idle_in_transaction_session_timeout: USUAL_LIMITS.idleInTransactionMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch {
    await client.end().catch(() => {});
    return null;
  }
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [LOCK]);
  return rows[0]?.locked === true;
}

async function waitForLock(
  client: Client,
  directory: string,
  file: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const began = Date.now();
  while (!(await tryLock(client))) {
    const holder = currentHolder(file);
    const isKnown = holder !== null && isAlive(holder.pid);
    const longestMs = !isKnown ? UNKNOWN_HOLDER_MS : holder.command === 'admin' ? ADMIN_MS : 0;
    if (Date.now() - began >= longestMs) throw new LockedFault(inUseBy(directory, isKnown ? holder : null));
    await pause(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** The URL of the service that runs on this data directory. Null while none does. */
export function urlOfService(directory: string): string | null {
  const holder = currentHolder(join(directory, 'holder.json'));
  return holder !== null && isAlive(holder.pid) ? holder.url : null;
}

/** The process that wrote holder.json last. It may have ended. */
function currentHolder(file: string): LockHolder | null {
  try {
    return LockHolder.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

function inUseBy(directory: string, holder: LockHolder | null): string {
  if (holder === null) return `${directory} is in use by another process. Stop it, or set DATA_DIR to another folder.`;
  const served = holder.url === null ? '' : `, which serves ${holder.url}`;
  return `${directory} is in use by process ${holder.pid}${served}. Stop it, or set DATA_DIR to another folder.`;
}
