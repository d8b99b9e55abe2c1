import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartFault } from '@call-analysis/runtime';
import { Client, DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { MIGRATION_LIMITS, schemaConnection } from '../database/connection.ts';
import type { Database } from '../database/database.ts';
import { adviceOn, refuseSharedProcesses, sqlState, translateError } from '../database/errors.ts';

interface MigrateOptions {
  readonly url: string;
  readonly schema: string;
  /** Holds `<time>_<name>/migration.sql` for each migration. */
  readonly folder: string | URL;
}

interface Migration {
  readonly name: string;
  readonly script: string;
  /** Prisma compares the bytes as they are, or with the line ends of the other system. */
  readonly checksum: string;
  readonly otherChecksums: readonly string[];
}

// Prisma's own lock: `prisma migrate deploy` and this runner then wait for each other.
const prismaLock = 72_707_369;
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Rejects with a StartFault that names the command when the schema lacks a migration of the folder. A schema with more
 * migrations belongs to a later version, which may be rolled back while both run. StartFault also when DATABASE_URL
 * cannot be used.
 */
export async function requireMigrated(db: Database, folder: string | URL, command: string): Promise<void> {
  await refusePooler(db);
  const migrations = await readMigrations(folder);
  const [found] = await db.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    tableOf(db.schema),
  ]);
  const records =
    found?.exists === true ? await db.query<Applied>(`${RECORDS} FROM ${tableOf(db.schema)} ${STANDING}`) : [];
  const missing = migrations.filter((each) => !records.some(({ name, finished }) => name === each.name && finished));
  if (missing.length === 0) return;
  const what =
    records.length === 0
      ? 'has no tables yet'
      : `is older than this version: it lacks ${missing.map(({ name }) => name).join(', ')}`;
  throw new StartFault(`The schema ${db.schema} ${what}. Run ${command}.`);
}

/** Creates the schema if there is none. StartFault names a missing right. */
export async function ensureSchema({ url, schema }: Pick<MigrateOptions, 'url' | 'schema'>): Promise<void> {
  await withLock(url, schema, (client) => createSchema(client, schema));
}

/**
 * Brings a schema up to date and returns the names of the migrations that it applied, in order. Each is applied with
 * its record in a transaction of its own, so a failing one changes nothing and those before it stay. Records have
 * Prisma's format, so that `prisma migrate status` and `deploy` agree. A schema of a later version is left as it is.
 * StartFault when the role lacks a right, or an applied migration differs from the folder.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(options.folder);
  return withLock(options.url, options.schema, async (client) => {
    const table = tableOf(options.schema);
    await ensureTable(client, options.schema, table);
    const pending = await findPending(client, table, migrations);
    for (const migration of pending) await apply(client, table, migration);
    return pending.map((each) => each.name);
  });
}

async function refusePooler({ pool }: Database): Promise<void> {
  const clients: PoolClient[] = [];
  const connect = async () => {
    const client = await pool.connect();
    clients.push(client);
    return client;
  };
  try {
    await refuseSharedProcesses(await connect(), connect);
  } catch (error) {
    throw translateError(adviceOn(error));
  } finally {
    for (const client of clients) client.release();
  }
}

/** Runs `work` under the lock that all migrations of this database take. */
async function withLock<Result>(
  url: string,
  schema: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const opened: Client[] = [];
  const open = async () => {
    const client = new Client({
      ...schemaConnection(url, schema, MIGRATION_LIMITS),
      application_name: 'migrate',
      connectionTimeoutMillis: 10_000,
    });
    client.on('error', () => {});
    opened.push(client);
    await client.connect();
    return client;
  };
  try {
    const client = await open();
    await refuseSharedProcesses(client, open);
    await client.query('SELECT pg_advisory_lock($1)', [prismaLock]);
    return await work(client);
  } catch (error) {
    throw translateError(adviceOn(error));
  } finally {
    // Ending the session releases the lock.
    await Promise.all(opened.map((client) => client.end().catch(() => {})));
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

function tableOf(schema: string): string {
  return `${escapeIdentifier(schema)}._prisma_migrations`;
}

async function ensureTable(client: Client, schema: string, table: string): Promise<void> {
  await createSchema(client, schema);
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

async function createSchema(client: Client, schema: string): Promise<void> {
  // `IF NOT EXISTS` requires the right to create schemas even when the schema exists.
  const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rowCount === 1) return;
  try {
    await client.query(`CREATE SCHEMA ${escapeIdentifier(schema)}`);
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    const { rows } = await client.query('SELECT current_user AS role, current_database() AS database');
    const [role, database] = [escapeIdentifier(String(rows[0]?.role)), escapeIdentifier(String(rows[0]?.database))];
    throw new StartFault(
      `The role ${role} may not create the schema ${schema}. Let it: GRANT CREATE ON DATABASE ${database} TO ${role};`,
      { cause: error },
    );
  }
}

interface Applied {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

const RECORDS = 'SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished';
const STANDING = 'WHERE rolled_back_at IS NULL ORDER BY started_at';

async function findPending(client: Client, table: string, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<Applied>(`${RECORDS} FROM ${table} ${STANDING}`);
  const known = new Map(migrations.map((each) => [each.name, each]));
  const newest = migrations.at(-1)?.name ?? '';
  const done = new Set<string>();
  for (const { name, checksum, finished } of rows) {
    const migration = known.get(name);
    if (migration === undefined) {
      // Names begin with their time: a later one belongs to a later version that was rolled back.
      if (name > newest) continue;
      throw new StartFault(
        `Migration ${name} was applied but is not in the folder. Start the version that has it, or a later one.`,
      );
    }
    if (!finished) {
      throw new StartFault(
        `Migration ${name} was begun by another tool and never finished; resolve it with that tool.`,
      );
    }
    if (checksum !== migration.checksum && !migration.otherChecksums.includes(checksum)) {
      throw new StartFault(`Migration ${name} was changed after it had been applied.`);
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
