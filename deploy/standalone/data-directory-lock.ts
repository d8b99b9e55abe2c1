import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive, StartFault } from '@call-analysis/runtime';
import { Client } from 'pg';
import { z } from 'zod';
import { replaceFile } from './data-directory.ts';

const Holder = z.object({ pid: z.int(), command: z.enum(['start', 'admin']), url: z.string().nullable() });
export type Holder = z.infer<typeof Holder>;

/** Any number that nothing else locks in this database. */
const LOCK = 7_365_201;
/** How long an administrator's command may take, at most, before we stop waiting for it. */
const ADMIN_MS = 60_000;
/**
 * The file is written right after the lock is had; whoever asks in between finds the holder before, or none. So does who
 * asks before PostgreSQL has noticed that the holder was killed. Either takes moments where the machine is free.
 */
const INTRODUCTION_MS = 15_000;
const POLL_MS = 100;

/** The data directory belongs to another process at the moment. */
export class LockedFault extends StartFault {
  override readonly name = 'LockedFault';
}

export interface Hold {
  /** Tells the next one who asks where we are. */
  announce(url: string): void;
  /** Resolves when another service has taken the directory while the database was away. */
  readonly lost: Promise<void>;
  readonly isLost: () => boolean;
  /** Lets go, after `last` has been done while the directory was still held; a directory that was lost is left alone. */
  release(last?: () => Promise<void>): Promise<void>;
}

/**
 * Holds a data directory: a lock of PostgreSQL's, which ends with its connection and so cannot outlive a killed
 * process. When PostgreSQL dies, the lock is taken again as soon as it is back.
 * Null when the database went away meanwhile, as it does after an administrator's command: startCommand again.
 * LockedFault says who holds the directory. What `signal` ends is the wait for another holder, with null.
 */
export async function hold(
  directory: string,
  databaseUrl: string,
  command: Holder['command'],
  signal: AbortSignal | undefined,
): Promise<Hold | null> {
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
  introduce();
  watch(client);

  function introduce(): void {
    replaceFile(file, JSON.stringify({ pid: process.pid, command, url } satisfies Holder));
  }

  function watch(connection: Client): void {
    connection.once('end', () => {
      if (!released.signal.aborted) void takeAgain();
    });
  }

  async function takeAgain(): Promise<void> {
    while (!released.signal.aborted) {
      const next = await connect(options);
      if (next !== null) {
        if (!released.signal.aborted && (await tryLock(next).catch(() => false))) {
          client = next;
          introduce();
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
    announce(where) {
      url = where;
      introduce();
    },
    lost,
    isLost: () => isLost,
    async release(last) {
      released.abort();
      if (!isLost) await last?.();
      await client?.end().catch(() => {});
    },
  };
}

/** Null when the database does not answer. */
async function connect(options: { connectionString: string }): Promise<Client | null> {
  const client = new Client({ ...options, connectionTimeoutMillis: 10_000 });
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
  const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [LOCK]);
  return rows[0]?.held === true;
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
    const patience = !isKnown ? INTRODUCTION_MS : holder.command === 'admin' ? ADMIN_MS : 0;
    if (Date.now() - began >= patience) throw new LockedFault(heldBy(directory, isKnown ? holder : null));
    await pause(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** Who said last that it holds the directory; it may be gone. */
function currentHolder(file: string): Holder | null {
  try {
    return Holder.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

function heldBy(directory: string, holder: Holder | null): string {
  if (holder === null) return `${directory} is in use by another process. Stop it, or set DATA_DIR to another folder.`;
  const where = holder.url === null ? '' : `, which serves ${holder.url}`;
  return `${directory} is in use by process ${holder.pid}${where}. Stop it, or set DATA_DIR to another folder.`;
}
