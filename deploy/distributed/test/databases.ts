import { databaseUrl, withClient } from '@call-analysis/postgres';
import { escapeIdentifier } from 'pg';

/** Each role may make schemas in the database of its name, as the migrations of a service do. */
export async function allowSchemas(adminUrl: string, names: readonly string[]): Promise<void> {
  await asAdministrator(
    databaseUrl(adminUrl, 'postgres'),
    names,
    (name) => `GRANT CREATE ON DATABASE ${name} TO ${name}`,
  );
}

/** Drops the databases and the roles with their names, and closes remaining connections. */
export async function dropDatabases(adminUrl: string, names: readonly string[]): Promise<void> {
  const url = databaseUrl(adminUrl, 'postgres');
  await asAdministrator(url, names, (name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await asAdministrator(url, names, (name) => `DROP ROLE IF EXISTS ${name}`);
}

async function asAdministrator(
  url: string,
  names: readonly string[],
  statement: (name: string) => string,
): Promise<void> {
  await withClient({ connectionString: url }, async (client) => {
    for (const name of names) await client.query(statement(escapeIdentifier(name)));
  });
}
