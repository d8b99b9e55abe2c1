import { constants } from 'node:os';
import { start as startKeyManagement } from '@call-analysis/key-management';
import { Closing, createLog, type Logger } from '@call-analysis/runtime';
import { buses } from '../bus.ts';
import type { Settings } from '../config.ts';
import type { DataDirectory } from '../data-directory.ts';
import { openDatabase, type OpenedDatabase } from '../database.ts';

const INTERRUPTING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts key-management, runs `work` with its address and stops it again. Throws LockedFault while another process has
 * locked the data directory.
 */
export function withKeyManagement<Result>(
  settings: Settings,
  directory: DataDirectory,
  work: (address: string) => Promise<Result>,
): Promise<Result> {
  return withDatabase(settings, directory, async (database, { log, closing }) => {
    const keys = await startKeyManagement(
      {
        databaseUrl: database.url('key_management'),
        bus: buses(settings, database.url).of('key_management'),
        listen: directory.socket('admin'),
        peppers: { ...settings.peppers, pepper: settings.peppers.pepper ?? directory.secrets.apiKeyPepper },
      },
      { log },
    );
    closing.add('key-management', () => keys.close());
    return work(keys.address);
  });
}

/**
 * Opens the database with the data directory locked, runs `work` and stops everything again, also when `work` fails or
 * the process gets a signal to end.
 */
export async function withDatabase<Result>(
  settings: Settings,
  directory: DataDirectory,
  work: (database: OpenedDatabase, parts: { log: Logger; closing: Closing }) => Promise<Result>,
): Promise<Result> {
  const log = createLog({ name: 'admin', level: 'silent' });
  const closing = new Closing(log);
  let opening: Promise<unknown> = Promise.resolve();
  const interrupt = async (signal: NodeJS.Signals) => {
    // A database cannot be stopped while it is starting.
    await opening.catch(() => {});
    // The exit code that a shell expects from a process that was ended by a signal.
    await closing.close().finally(() => process.exit(128 + constants.signals[signal]));
  };
  for (const signal of INTERRUPTING) process.on(signal, interrupt);
  try {
    const opened = openDatabase(settings, directory, 'admin', { log, closing });
    opening = opened;
    return await work(await opened, { log, closing });
  } finally {
    await closing.close();
    for (const signal of INTERRUPTING) process.off(signal, interrupt);
  }
}
