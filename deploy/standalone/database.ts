import { schema as analysisSchema, migrations as analysisMigrations } from '@call-analysis/analysis';
import { migrateBus } from '@call-analysis/bus';
import { schema as ingestSchema, migrations as ingestMigrations } from '@call-analysis/ingest';
import { schema as keySchema, migrations as keyMigrations } from '@call-analysis/key-management';
import { migrate, provision } from '@call-analysis/postgres';
import type { PostgresServer } from '@call-analysis/postgres/server';
import { startServer } from '@call-analysis/postgres/server';
import type { Closing, Logger } from '@call-analysis/runtime';
import type { Settings } from './config.ts';
import type { DataDirectory } from './data-directory.ts';
import type { Hold, Holder } from './holder.ts';
import { hold } from './holder.ts';

const DATABASE = 'call_analysis';
const BUS = 'bus';

/** Schemas by owner: one role for each, and nobody reads another's tables. */
const services = [
  { schema: keySchema, migrations: keyMigrations },
  { schema: ingestSchema, migrations: ingestMigrations },
  { schema: analysisSchema, migrations: analysisMigrations },
];

export interface OpenedDatabase {
  readonly hold: Hold;
  url(schema: string): string;
}

/**
 * The database of the whole system, held against other processes and migrated. Without DATABASE_URL it is a
 * PostgreSQL of our own under the data directory, which is started again when it dies.
 */
export async function openDatabase(
  settings: Settings,
  directory: DataDirectory,
  command: Holder['command'],
  parts: { log: Logger; closing: Closing },
): Promise<OpenedDatabase> {
  const { adminUrl, held } = await holdServer(settings, directory, command, parts);
  const urls = await provision({
    adminUrl,
    database: DATABASE,
    schemas: [...services.map(({ schema }) => schema), BUS].map((schema) => ({
      schema,
      role: schema,
      password: directory.secrets.databasePassword,
    })),
    members: services.map(({ schema }) => ({ role: schema, of: BUS })),
  });
  const url = (schema: string): string => urls[schema]!;
  await Promise.all([
    migrateBus({ url: url(BUS), schema: BUS }),
    ...services.map(({ schema, migrations }) => migrate({ url: url(schema), schema, folder: migrations })),
  ]);
  return { hold: held, url };
}

async function holdServer(
  settings: Settings,
  directory: DataDirectory,
  command: Holder['command'],
  { log, closing }: { log: Logger; closing: Closing },
): Promise<{ adminUrl: string; held: Hold }> {
  for (;;) {
    const server =
      settings.databaseUrl === undefined
        ? await startServer({ directory: directory.postgres, log: (message) => log.info({}, message) })
        : null;
    const adminUrl = settings.databaseUrl ?? server!.adminUrl;
    // Whoever holds the directory may stop its server; the server is ours to stop once we hold it.
    const held = await hold(directory.path, adminUrl, command);
    if (held === null) continue;
    if (server !== null) {
      closing.add('PostgreSQL', () => server.stop());
      revive(server, log);
    }
    closing.add('hold on the data directory', () => (server === null ? held.release() : undefined));
    return { adminUrl, held };
  }
}

function revive(server: PostgresServer, log: Logger): void {
  server.onDeath(() => {
    log.warn({}, 'PostgreSQL ended unexpectedly and is started again');
    server.restart().catch((error: unknown) => log.error({ err: error }, 'PostgreSQL could not be started again'));
  });
}
