import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrateBus } from '@call-analysis/bus';
import { databaseUrl, migrate, provision } from '@call-analysis/postgres';
import { findServer, type PostgresServer, startServer } from '@call-analysis/postgres/server';
import { type Closing, type Logger, StartFault } from '@call-analysis/runtime';
import { BUS, busSchema } from './bus.ts';
import type { Settings } from './config.ts';
import { type DataDirectoryLock, lockDataDirectory, type LockHolder } from './data-directory-lock.ts';
import type { DataDirectory } from './data-directory.ts';

const DATABASE = 'call_analysis';

/**
 * Schemas by owner. Each has its own role, which cannot read the tables of the others. The services themselves are not
 * loaded for this: that takes longer than most admin commands.
 */
const services = ['key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'].map((name) => ({
  schema: name.replaceAll('-', '_'),
  migrations: fileURLToPath(new URL(`../../services/${name}/prisma/migrations`, import.meta.url)),
}));

interface Deps {
  readonly log: Logger;
  readonly closing: Closing;
  readonly signal?: AbortSignal | undefined;
}

export type OpenedDatabase = Awaited<ReturnType<typeof openDatabase>>;

/**
 * Opens the database of the complete system: locks the data directory, then creates and migrates all schemas. Without
 * DATABASE_URL it starts a PostgreSQL server under the data directory, and restarts it when it dies. Throws between two
 * steps when `signal` aborts.
 */
export async function openDatabase(
  settings: Settings,
  directory: DataDirectory,
  command: LockHolder['command'],
  deps: Deps,
) {
  const { adminUrl, lock } = await lockServer(settings, directory, command, deps);
  deps.signal?.throwIfAborted();
  const ownBuses = settings.kafka === undefined ? [] : services.map(({ schema }) => schema);
  const urls = await provision({
    adminUrl,
    database: DATABASE,
    schemas: [
      ...services.map(({ schema }) => ({ schema, role: schema })),
      { schema: BUS, role: BUS },
      ...ownBuses.map((schema) => ({ schema: busSchema(schema), role: schema })),
    ].map((each) => ({ ...each, password: directory.secrets.databasePassword })),
    members: services.map(({ schema }) => ({ role: schema, of: BUS })),
  });
  deps.signal?.throwIfAborted();
  const url = (schema: string): string => urls[schema]!;
  await Promise.all([
    migrateBus({ url: url(BUS), schema: BUS }),
    ...ownBuses.map(busSchema).map((schema) => migrateBus({ url: url(schema), schema })),
    ...services.map(({ schema, migrations }) => migrate({ url: url(schema), schema, folder: migrations })),
  ]);
  return { lock, url };
}

/** The URL of the queues of all services. Null while the database does not run. */
export async function findQueues(settings: Settings, directory: DataDirectory): Promise<string | null> {
  const adminUrl = settings.databaseUrl ?? (await findServer(directory.postgres));
  if (adminUrl === null) return null;
  return databaseUrl(adminUrl, DATABASE, { user: BUS, password: directory.secrets.databasePassword });
}

/** The superuser's URLs of the running server under the data directory. Null while it does not run. */
export async function findOwnServer(
  directory: DataDirectory,
): Promise<{ readonly adminUrl: string; readonly databaseUrl: string } | null> {
  const adminUrl = await findServer(directory.postgres);
  return adminUrl === null ? null : { adminUrl, databaseUrl: databaseUrl(adminUrl, DATABASE) };
}

/** How long to retry with a database that keeps stopping before the lock is acquired. */
const RETRY_MS = 60_000;

async function lockServer(
  settings: Settings,
  directory: DataDirectory,
  command: LockHolder['command'],
  { log, closing, signal }: Deps,
): Promise<{ adminUrl: string; lock: DataDirectoryLock }> {
  const giveUpAt = Date.now() + RETRY_MS;
  for (;;) {
    signal?.throwIfAborted();
    const server = settings.databaseUrl === undefined ? await ownServer(directory, log) : null;
    const adminUrl = settings.databaseUrl ?? server!.adminUrl;
    // The process that holds the lock may stop the server. This process may do so once it has the lock.
    const lock = await lockDataDirectory(directory.path, adminUrl, command, signal);
    if (lock === null) {
      signal?.throwIfAborted();
      if (server === null)
        throw new StartFault('The database that DATABASE_URL names does not answer. Start it, or correct the URL.');
      if (Date.now() > giveUpAt)
        throw new StartFault(
          `PostgreSQL in ${directory.postgres} stops as soon as it is used. See its log in that folder.`,
        );
      continue;
    }
    if (server === null) {
      closing.add('lock of the data directory', () => lock.release());
    } else {
      if (server.adopted) log.info({}, 'took over the PostgreSQL server that a killed process left running');
      const stopRestarting = restartWhenItDies(server, lock, log);
      closing.add('PostgreSQL', async () => {
        stopRestarting();
        await lock.release(() => server.stop());
      });
    }
    return { adminUrl, lock };
  }
}

/** When PostgreSQL cannot start, the cause is always the operator's to fix, so it becomes a StartFault. */
async function ownServer(directory: DataDirectory, log: Logger): Promise<PostgresServer> {
  try {
    return await startServer({ directory: directory.postgres, log: (message) => log.info({}, message) });
  } catch (error) {
    throw new StartFault(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** Restarts the server whenever it dies, with retries until it succeeds. Returns a function that ends this. */
function restartWhenItDies(server: PostgresServer, lock: DataDirectoryLock, log: Logger): () => void {
  const ended = new AbortController();
  const stopListening = server.onDeath(async () => {
    log.warn({}, 'PostgreSQL ended unexpectedly and is being restarted');
    for (
      let waitMs = FIRST_RETRY_MS;
      !ended.signal.aborted && !lock.isLost();
      waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)
    ) {
      try {
        await server.restart();
        return;
      } catch (error) {
        if (!ended.signal.aborted) log.error({ err: error }, 'PostgreSQL could not be restarted');
      }
      await pause(waitMs, undefined, { ref: false });
    }
  });
  return () => {
    ended.abort();
    stopListening();
  };
}
