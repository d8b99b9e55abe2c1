import { randomBytes } from 'node:crypto';
import { databaseUrl, provision, refuseSecondConnections } from '@call-analysis/postgres';
import { Client, escapeIdentifier } from 'pg';

/** A new database on the server of the test run, with an empty schema and a role for each service. */
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

export async function freshDatabase(): Promise<TestDatabase> {
  refuseSecondConnections();
  const serverUrl = process.env['TEST_DATABASE_URL'];
  if (serverUrl === undefined) throw new Error('TEST_DATABASE_URL is not set; the globalSetup of Jest sets it.');
  const database = `test_${randomBytes(8).toString('hex')}`;
  const urls = await provision({
    adminUrl: serverUrl,
    database,
    schemas: schemas.map((schema) => ({ schema, role: schema, password })),
    members: schemas.filter((schema) => schema !== 'bus').map((role) => ({ role, of: 'bus' })),
  });
  return {
    adminUrl: databaseUrl(serverUrl, database),
    url(schema) {
      const url = urls[schema];
      if (url === undefined) throw new Error(`A test database has the schemas ${schemas.join(', ')}; not ${schema}.`);
      return url;
    },
    async drop() {
      const client = new Client({ connectionString: serverUrl });
      await client.connect();
      try {
        await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(database)} WITH (FORCE)`);
      } finally {
        await client.end();
      }
    },
  };
}
