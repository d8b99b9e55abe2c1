import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, DatabaseError, escapeIdentifier } from 'pg';
import { schemaConnection } from './connection.ts';
import { translateError } from './errors.ts';

export interface MigrateOptions {
  readonly url: string;
  readonly schema: string;
  /** Holds `<time>_<name>/migration.sql` for each migration. */
  readonly folder: string | URL;
}

interface Migration {
  readonly name: string;
  readonly script: string;
  /** Prisma compares the bytes as they were, or with the line ends of the other system. */
  readonly checksum: string;
  readonly otherChecksums: readonly string[];
}

// Prisma's own lock: `prisma migrate deploy` and this runner then wait for each other.
const prismaLock = 72_707_369;

/**
 * Brings a schema up to date and returns the names of the migrations it applied, in order. Each is applied in a
 * transaction of its own together with its record, so a failing one leaves nothing behind; those before it stay.
 * Records are kept as Prisma keeps them, so that `prisma migrate status` and `deploy` agree.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(options.folder);
  const client = new Client({
    ...schemaConnection(options.url, options.schema),
    application_name: 'migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT pg_advisory_lock($1)', [prismaLock]);
    const table = `${escapeIdentifier(options.schema)}._prisma_migrations`;
    await ensureTable(client, options.schema, table);
    const pending = await findPending(client, table, migrations);
    for (const migration of pending) await apply(client, table, migration);
    return pending.map((each) => each.name);
  } catch (error) {
    throw translateError(error);
  } finally {
    // Ends the session, and with it the lock.
    await client.end().catch(() => {});
  }
}

async function readMigrations(folder: string | URL): Promise<Migration[]> {
  const path = folder instanceof URL ? fileURLToPath(folder) : folder;
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  // By code unit, as Prisma does; a locale would order them by the machine.
  return Promise.all(names.toSorted().map((name) => readMigration(path, name)));
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  const script = await readFile(join(folder, name, 'migration.sql'), 'utf8');
  const unix = script.replaceAll('\r\n', '\n');
  return {
    name,
    script,
    checksum: sha256(script),
    otherChecksums: [sha256(unix), sha256(unix.replaceAll('\n', '\r\n'))],
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function ensureTable(client: Client, schema: string, table: string): Promise<void> {
  // `IF NOT EXISTS` asks for the right to create schemas even when there is nothing to create.
  const { rows } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`CREATE SCHEMA ${escapeIdentifier(schema)}`);
  await client.query(`CREATE TABLE IF NOT EXISTS ${table} (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`);
}

async function findPending(client: Client, table: string, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
       FROM ${table} WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  const known = new Map(migrations.map((each) => [each.name, each]));
  const done = new Set<string>();
  for (const { name, checksum, finished } of rows) {
    const migration = known.get(name);
    if (migration === undefined) throw new Error(`Migration ${name} was applied but is not in the folder.`);
    if (!finished) {
      throw new Error(`Migration ${name} was begun by another tool and never finished; resolve it with that tool.`);
    }
    if (checksum !== migration.checksum && !migration.otherChecksums.includes(checksum)) {
      throw new Error(`Migration ${name} was changed after it had been applied.`);
    }
    done.add(name);
  }
  return migrations.filter((each) => !done.has(each.name));
}

async function apply(client: Client, table: string, migration: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    const startedAt = new Date();
    await client.query(migration.script);
    await client.query(
      `INSERT INTO ${table} (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name, startedAt],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    if (!(error instanceof DatabaseError)) throw error;
    throw new Error(`Migration ${migration.name} failed${lineOf(migration, error)}: ${error.message}.`, {
      cause: error,
    });
  }
}

function lineOf(migration: Migration, error: DatabaseError): string {
  const position = Number(error.position);
  if (!(position > 0)) return '';
  // PostgreSQL counts characters, not UTF-16 units.
  const before = [...migration.script].slice(0, position - 1);
  return ` at line ${before.filter((character) => character === '\n').length + 1}`;
}
