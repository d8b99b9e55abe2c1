import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StartFault } from '@call-analysis/runtime';
import { Client } from 'pg';
import { z } from 'zod';
import { replaceFile } from './data-directory.ts';

const Holder = z.object({ pid: z.int(), command: z.enum(['start', 'admin']), url: z.string().nullable() });
export type Holder = z.infer<typeof Holder>;

/** Any number that nothing else locks in this database. */
const LOCK = 7_365_201;
/** How long an administrator's command may take, at most, before we stop waiting for it. */
const ADMIN_MS = 20_000;

export interface Hold {
  /** Tells the next one who asks where we are. */
  announce(url: string): void;
  /** Resolves when the lock is lost because its connection broke. */
  readonly lost: Promise<void>;
  release(): Promise<void>;
}

/**
 * Holds a data directory: a lock of PostgreSQL's, which ends with its connection and so cannot outlive a killed
 * process. Null while an administrator's command has it: its database is about to stop, so begin again.
 * StartFault says who holds it.
 */
export async function hold(directory: string, databaseUrl: string, command: Holder['command']): Promise<Hold | null> {
  const file = join(directory, 'holder.json');
  const client = new Client({ connectionString: databaseUrl, application_name: `call-analysis ${command}`, keepAlive: true });
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  client.on('error', () => {});
  client.on('end', () => resolve());
  const deadline = Date.now() + ADMIN_MS;
  try {
    await client.connect();
    for (;;) {
      const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS held', [LOCK]);
      if (rows[0].held === true) break;
      const holder = currentHolder(file);
      if (holder?.command !== 'admin' || Date.now() > deadline) throw new StartFault(heldBy(directory, holder));
      await pause(100);
    }
  } catch (error) {
    await client.end().catch(() => {});
    if (error instanceof StartFault) throw error;
    return null;
  }
  replaceFile(file, JSON.stringify({ pid: process.pid, command, url: null }));
  return {
    announce: (url) => replaceFile(file, JSON.stringify({ pid: process.pid, command, url })),
    lost,
    release: () => client.end(),
  };
}

/** Who said last that it holds the directory; it may be gone. */
export function currentHolder(file: string): Holder | null {
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
