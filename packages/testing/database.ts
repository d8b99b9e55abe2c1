import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { databaseUrl, provision, refuseSecondConnections } from '@call-analysis/postgres';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';

/** A new database on the server of the test run, with a schema and a role for each service. */
export interface TestDatabase {
  /** The URL for the schema's role. */
  url(schema: string): string;
  /** The URL for the server's superuser, in this database. */
  readonly adminUrl: string;
  /** Also ends all connections to it. */
  drop(): Promise<void>;
}

const schemas = ['key_management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks', 'bus'];
// Roles belong to the server, which test files share. So all use the same password.
const password = 'for-tests-only';

/**
 * A database with the tables that `createTables` creates, by default none. They are created once in a test run, in a template
 * of that name, because copying a database is several times as quick as its migrations.
 */
export async function freshDatabase(
  state = 'empty',
  createTables: (template: TestDatabase) => Promise<unknown> = async () => {},
): Promise<TestDatabase> {
  refuseSecondConnections();
  const serverUrl = process.env['TEST_DATABASE_URL'];
  if (serverUrl === undefined) throw new Error('TEST_DATABASE_URL is not set; the globalSetup of Jest sets it.');
  const database = testDatabase(serverUrl, `test_${randomBytes(8).toString('hex')}`);
  await withClient(serverUrl, async (admin) => {
    const template = `${templatePrefix()}${state}`;
    await ensureTemplate(admin, serverUrl, template, createTables);
    const name = escapeIdentifier(database.name);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${escapeIdentifier(template)}`);
    // Rights on the database itself are not copied.
    await admin.query(
      `REVOKE ALL ON DATABASE ${name} FROM PUBLIC;
       GRANT CONNECT, TEMPORARY ON DATABASE ${name} TO ${schemas.map(escapeIdentifier).join(', ')}`,
    );
  });
  return database;
}

/** Drops the templates of this run, when its server outlives it. */
export async function dropTemplates(serverUrl: string): Promise<void> {
  await withClient(serverUrl, async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
      [templatePrefix()],
    );
    for (const { datname } of rows) await admin.query(`DROP DATABASE ${escapeIdentifier(datname)} WITH (FORCE)`);
  });
}

/** Several runs may use one server. */
function templatePrefix(): string {
  const scratch = process.env['TEST_SCRATCH'];
  if (scratch === undefined) throw new Error('TEST_SCRATCH is not set; the globalSetup of Jest sets it.');
  return `template_${basename(scratch).slice(-6)}_`;
}

async function ensureTemplate(
  admin: Client,
  serverUrl: string,
  name: string,
  createTables: (template: TestDatabase) => Promise<unknown>,
): Promise<void> {
  // Test files that need the same template wait for the one that makes it.
  await admin.query(`SELECT pg_advisory_lock(hashtextextended(${escapeLiteral(name)}, 0))`);
  const { rows } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (rows.length === 0) {
    const draft = testDatabase(serverUrl, `${name}_draft`);
    await provision({
      adminUrl: serverUrl,
      database: draft.name,
      schemas: schemas.map((schema) => ({ schema, role: schema, password })),
      members: schemas.filter((schema) => schema !== 'bus').map((role) => ({ role, of: 'bus' })),
    });
    await createTables(draft);
    await admin.query(`ALTER DATABASE ${escapeIdentifier(draft.name)} RENAME TO ${escapeIdentifier(name)}`);
  }
  await admin.query(`SELECT pg_advisory_unlock(hashtextextended(${escapeLiteral(name)}, 0))`);
}

function testDatabase(serverUrl: string, name: string): TestDatabase & { readonly name: string } {
  return {
    name,
    adminUrl: databaseUrl(serverUrl, name),
    url(schema) {
      if (!schemas.includes(schema))
        throw new Error(`A test database has the schemas ${schemas.join(', ')}; not ${schema}.`);
      return databaseUrl(serverUrl, name, { user: schema, password });
    },
    drop: () =>
      withClient(serverUrl, async (admin) => {
        await admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
      }),
  };
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
