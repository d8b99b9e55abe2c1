import { Client, type ClientConfig, escapeIdentifier } from 'pg';

/** The options of pg for a connection whose unqualified names refer to one schema. */
interface SchemaConnection {
  readonly connectionString: string;
  readonly options: string;
}

// The format of times, independent of the settings of the server, database and role: Prisma drops the offset that
// PostgreSQL writes after a time, and pg reads only this style.
const TIMES = '-c timezone=UTC -c datestyle=ISO';

/**
 * The URL's own `options` are kept. They override the limits, and the schema and the format of times override them.
 * They are removed from the URL, because in pg the URL overrides the configuration.
 */
export function schemaConnection(url: string, schema: string, limits?: SessionLimits): SchemaConnection {
  const address = parseUrl(url);
  const searchPath = `-c search_path=${escapeOption(escapeIdentifier(schema))}`;
  const own = address.searchParams.get('options');
  address.searchParams.delete('options');
  return {
    connectionString: address.href,
    options: [limitOptions(limits), ...(own ? [own] : []), TIMES, searchPath].join(' '),
  };
}

/** Parses a connection URL. The error does not quote a malformed one, which may hold a password. */
export function parseUrl(url: string): URL {
  const address = URL.parse(url);
  if (address === null || !/^postgres(?:ql)?:$/.test(address.protocol)) {
    throw new Error('A PostgreSQL URL has the form postgresql://user:password@host:port/database.');
  }
  return address;
}

// The server splits `options` at spaces that no backslash precedes.
function escapeOption(value: string): string {
  return value.replace(/[\\\s]/g, (character) => `\\${character}`);
}

/** When PostgreSQL ends what a connection does. 0 is never. */
export interface SessionLimits {
  /** A statement that takes longer is canceled. Copying rows in is one statement. */
  readonly statementMs: number;
  /** A transaction that is left open for longer without a statement is rolled back, and its connection closed. */
  readonly idleInTransactionMs: number;
}

/** Requests and events have given up long before. A transaction that waits for nothing in PostgreSQL holds its locks. */
export const USUAL_LIMITS: SessionLimits = { statementMs: 5 * 60_000, idleInTransactionMs: 2 * 60_000 };

/** For the creation of tables and indexes, which may take hours. */
export const MIGRATION_LIMITS: SessionLimits = { statementMs: 0, idleInTransactionMs: 30 * 60_000 };

/** The limits as `options` of a connection. */
export function limitOptions({ statementMs, idleInTransactionMs }: SessionLimits = USUAL_LIMITS): string {
  return `-c statement_timeout=${statementMs} -c idle_in_transaction_session_timeout=${idleInTransactionMs}`;
}

/** Runs `work` on a connection of its own, which ends with it. */
export async function withClient<Result>(
  config: ClientConfig,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionTimeoutMillis: 10_000, ...config });
  // Without a listener a broken connection would end the process. Its next query reports the failure.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
