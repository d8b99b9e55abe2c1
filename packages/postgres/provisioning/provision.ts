import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Client, escapeIdentifier, escapeLiteral } from 'pg';
import { parseUrl, USUAL_LIMITS, withClient } from '../database/connection.ts';
import { adviceOn, translateError } from '../database/errors.ts';

const stretch = promisify(pbkdf2);

const iterations = 4096;

/**
 * The SCRAM verifier that PostgreSQL stores for a password (RFC 5803). It is computed here, so that the password itself is
 * in no statement and therefore in no log of the server.
 */
async function scramVerifier(password: string, salt = randomBytes(16), rounds = iterations): Promise<string> {
  // RFC 4013 requires other characters to be normalised first, which not every client does.
  if (!/^[\x20-\x7e]+$/.test(password)) throw new Error('A database password must consist of printable ASCII.');
  const salted = await stretch(password, salt, rounds, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

async function verifies(verifier: string, password: string): Promise<boolean> {
  const [, rounds, salt] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$/.exec(verifier) ?? [];
  if (rounds === undefined || salt === undefined) return false;
  const expected = Buffer.from(await scramVerifier(password, Buffer.from(salt, 'base64'), Number(rounds)));
  const actual = Buffer.from(verifier);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** A schema and the only role that may use it. */
export interface OwnedSchema {
  readonly schema: string;
  readonly role: string;
  readonly password: string;
}

/** `role` has all rights of `of`. */
export interface Membership {
  readonly role: string;
  readonly of: string;
}

export interface ProvisionOptions {
  /** A role that may create roles and databases, in an existing database. */
  readonly adminUrl: string;
  readonly database: string;
  readonly schemas: readonly OwnedSchema[];
  readonly members?: readonly Membership[];
}

// An arbitrary number that only this function uses, so that concurrent calls wait for each other.
const provisionLock = 4_211_006_183;

/**
 * Creates the database and one role per schema that cannot access the other schemas. Changes only what differs, so it may
 * run at every start. Returns connection URLs by schema.
 */
export async function provision(options: ProvisionOptions): Promise<Record<string, string>> {
  const { adminUrl, database, schemas, members = [] } = options;
  await connected(adminUrl, async (admin) => {
    await admin.query('SELECT pg_advisory_lock($1)', [provisionLock]);
    for (const each of schemas) await ensureRole(admin, each);
    for (const each of members) await ensureMember(admin, each);
    const { rows } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (rows.length === 0) await admin.query(`CREATE DATABASE ${escapeIdentifier(database)}`);
    await connected(databaseUrl(adminUrl, database), (client) => grantSchemas(client, database, schemas));
  });
  return Object.fromEntries(
    schemas.map((each) => [each.schema, databaseUrl(adminUrl, database, { user: each.role, password: each.password })]),
  );
}

/** The URL of another database of the same server and, if given, for another user. */
export function databaseUrl(url: string, database: string, as?: { user: string; password: string }): string {
  const address = parseUrl(url);
  address.pathname = `/${encodeURIComponent(database)}`;
  if (as !== undefined) {
    address.username = encodeURIComponent(as.user);
    address.password = encodeURIComponent(as.password);
  }
  return address.href;
}

function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const config = {
    connectionString: url,
    application_name: 'provision',
    statement_timeout: USUAL_LIMITS.statementMs,
    idle_in_transaction_session_timeout: USUAL_LIMITS.idleInTransactionMs,
  };
  return withClient(config, work).catch((error: unknown) => {
    throw translateError(adviceOn(error));
  });
}

async function ensureRole(admin: Client, { role, password }: OwnedSchema): Promise<void> {
  const name = escapeIdentifier(role);
  const { rows } = await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
  if (rows.length === 0) {
    await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD ${escapeLiteral(await scramVerifier(password))}`);
  } else if (!(await hasPassword(admin, role, password))) {
    await admin.query(`ALTER ROLE ${name} LOGIN PASSWORD ${escapeLiteral(await scramVerifier(password))}`);
  }
  // An administrator who is not a superuser, as on hosted services, may only assign ownership to roles it is a member of.
  const { rows: mine } = await admin.query("SELECT pg_has_role($1, 'SET') AS member", [role]);
  if (mine[0]?.member !== true) await admin.query(`GRANT ${name} TO CURRENT_USER`);
}

async function hasPassword(admin: Client, role: string, password: string): Promise<boolean> {
  const { rows: rights } = await admin.query("SELECT has_table_privilege('pg_authid', 'SELECT') AS readable");
  if (rights[0]?.readable !== true) return false;
  const { rows } = await admin.query('SELECT rolpassword, rolcanlogin FROM pg_authid WHERE rolname = $1', [role]);
  const verifier: unknown = rows[0]?.rolpassword;
  return rows[0]?.rolcanlogin === true && typeof verifier === 'string' && (await verifies(verifier, password));
}

async function ensureMember(admin: Client, { role, of }: Membership): Promise<void> {
  const { rows } = await admin.query(
    `SELECT 1 FROM pg_auth_members
      WHERE roleid = (SELECT oid FROM pg_roles WHERE rolname = $1) AND inherit_option
        AND member = (SELECT oid FROM pg_roles WHERE rolname = $2)`,
    [of, role],
  );
  if (rows.length === 0) await admin.query(`GRANT ${escapeIdentifier(of)} TO ${escapeIdentifier(role)}`);
}

async function grantSchemas(client: Client, database: string, schemas: readonly OwnedSchema[]): Promise<void> {
  const name = escapeIdentifier(database);
  const roles = schemas.map((each) => escapeIdentifier(each.role)).join(', ');
  await client.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await client.query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
  // Bulk loads find duplicates with temporary tables.
  if (schemas.length > 0) await client.query(`GRANT CONNECT, TEMPORARY ON DATABASE ${name} TO ${roles}`);
  for (const { schema, role } of schemas) {
    const { rows } = await client.query(
      'SELECT pg_get_userbyid(nspowner) AS owner FROM pg_namespace WHERE nspname = $1',
      [schema],
    );
    const [schemaName, roleName] = [escapeIdentifier(schema), escapeIdentifier(role)];
    if (rows.length === 0) await client.query(`CREATE SCHEMA ${schemaName} AUTHORIZATION ${roleName}`);
    else if (rows[0]?.owner !== role) await client.query(`ALTER SCHEMA ${schemaName} OWNER TO ${roleName}`);
  }
}
