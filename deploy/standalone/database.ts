import { setTimeout as pause } from 'node:timers/promises';
import { schema as analysisSchema, migrations as analysisMigrations } from '@call-analysis/analysis';
import { migrations as audioMigrations, schema as audioSchema } from '@call-analysis/audio';
import { migrateBus } from '@call-analysis/bus';
import { schema as ingestSchema, migrations as ingestMigrations } from '@call-analysis/ingest';
import { schema as keySchema, migrations as keyMigrations } from '@call-analysis/key-management';
import { databaseUrl, migrate, provision } from '@call-analysis/postgres';
import { findServer, type PostgresServer, startServer } from '@call-analysis/postgres/server';
import { type Closing, type Logger, StartFault } from '@call-analysis/runtime';
import { migrations as transcriptionMigrations, schema as transcriptionSchema } from '@call-analysis/transcription';
import { BUS, busSchema } from './bus.ts';
import type { Settings } from './config.ts';
import { type Hold, hold, type Holder } from './data-directory-lock.ts';
import type { DataDirectory } from './data-directory.ts';

const DATABASE = 'call_analysis';

/** Schemas by owner: one role for each, and nobody reads another's tables. */
const services = [
  { schema: keySchema, migrations: keyMigrations },
  { schema: ingestSchema, migrations: ingestMigrations },
  { schema: audioSchema, migrations: audioMigrations },
  { schema: transcriptionSchema, migrations: transcriptionMigrations },
  { schema: analysisSchema, migrations: analysisMigrations },
];

interface Parts {
  readonly log: Logger;
  readonly closing: Closing;
  readonly signal?: AbortSignal | undefined;
}

export interface OpenedDatabase {
  readonly hold: Hold;
  url(schema: string): string;
}

/**
 * The database of the whole system, held against other processes and migrated. Without DATABASE_URL it is a
 * PostgreSQL of our own under the data directory, which is started again when it dies. Between two steps it ends when
 * `signal` aborts.
 */
export async function openDatabase(
  settings: Settings,
  directory: DataDirectory,
  command: Holder['command'],
  parts: Parts,
): Promise<OpenedDatabase> {
  const { adminUrl, held } = await holdServer(settings, directory, command, parts);
  parts.signal?.throwIfAborted();
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
  parts.signal?.throwIfAborted();
  const url = (schema: string): string => urls[schema]!;
  await Promise.all([
    migrateBus({ url: url(BUS), schema: BUS }),
    ...ownBuses.map(busSchema).map((schema) => migrateBus({ url: url(schema), schema })),
    ...services.map(({ schema, migrations }) => migrate({ url: url(schema), schema, folder: migrations })),
  ]);
  return { hold: held, url };
}

/** Where the queues of all services are while the service runs; null when the database does not. */
export async function findQueues(settings: Settings, directory: DataDirectory): Promise<string | null> {
  const adminUrl = settings.databaseUrl ?? (await findServer(directory.postgres));
  if (adminUrl === null) return null;
  return databaseUrl(adminUrl, DATABASE, { user: BUS, password: directory.secrets.databasePassword });
}

/** A database that goes away again and again before it can be held is given up on after so long. */
const GIVE_UP_MS = 60_000;

async function holdServer(
  settings: Settings,
  directory: DataDirectory,
  command: Holder['command'],
  { log, closing, signal }: Parts,
): Promise<{ adminUrl: string; held: Hold }> {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  for (;;) {
    signal?.throwIfAborted();
    const server = settings.databaseUrl === undefined ? await ownServer(directory, log) : null;
    const adminUrl = settings.databaseUrl ?? server!.adminUrl;
    // Whoever holds the directory may stop its server; the server is ours to stop once we hold it.
    const held = await hold(directory.path, adminUrl, command, signal);
    if (held === null) {
      signal?.throwIfAborted();
      if (server === null)
        throw new StartFault('The database that DATABASE_URL names does not answer. Start it, or correct the URL.');
      if (Date.now() > giveUpAt)
        throw new StartFault(
          `PostgreSQL in ${directory.postgres} ends as soon as it is asked. Its log there says why.`,
        );
      continue;
    }
    if (server === null) {
      closing.add('hold on the data directory', () => held.release());
    } else {
      if (server.adopted) log.info({}, 'took over the PostgreSQL that a killed process left behind');
      const stopReviving = revive(server, held, log);
      closing.add('PostgreSQL', async () => {
        stopReviving();
        await held.release(() => server.stop());
      });
    }
    return { adminUrl, held };
  }
}

/** What keeps PostgreSQL from starting is always something for the operator, and said in a sentence. */
async function ownServer(directory: DataDirectory, log: Logger): Promise<PostgresServer> {
  try {
    return await startServer({ directory: directory.postgres, log: (message) => log.info({}, message) });
  } catch (error) {
    throw new StartFault(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

const FIRST_REVIVAL_MS = 500;
const LAST_REVIVAL_MS = 30_000;

/** Starts the server again whenever it dies, as long as it takes; returns what ends that. */
function revive(server: PostgresServer, held: Hold, log: Logger): () => void {
  const ended = new AbortController();
  const stopListening = server.onDeath(async () => {
    log.warn({}, 'PostgreSQL ended unexpectedly and is started again');
    for (
      let waitMs = FIRST_REVIVAL_MS;
      !ended.signal.aborted && !held.isLost();
      waitMs = Math.min(2 * waitMs, LAST_REVIVAL_MS)
    ) {
      try {
        await server.restart();
        return;
      } catch (error) {
        if (!ended.signal.aborted) log.error({ err: error }, 'PostgreSQL could not be started again');
      }
      await pause(waitMs, undefined, { ref: false });
    }
  });
  return () => {
    ended.abort();
    stopListening();
  };
}
