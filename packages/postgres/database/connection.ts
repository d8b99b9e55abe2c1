import { AsyncLocalStorage } from 'node:async_hooks';
import { Client, type ClientConfig, escapeIdentifier } from 'pg';

/** The options of pg for a connection whose unqualified names refer to one schema. */
interface SchemaConnection {
  readonly connectionString: string;
  readonly options: string;
}

// The format of times, independent of the settings of the server, database and role: Prisma drops the offset that
// PostgreSQL writes after a time, and pg reads only this style.
const TIMES = '-c timezone=UTC -c datestyle=ISO';

// With PostgreSQL's 4 MB, a list by two filters among ten million calls checks most pages of the table again: 2 s instead of 0.2.
const MEMORY = '-c work_mem=32MB';

/**
 * The URL's own `options` are kept. They override the limits and the memory, and the schema and the format of times override them.
 * They are removed from the URL, because in pg the URL overrides the configuration.
 */
export function schemaConnection(url: string, schema: string, limits?: SessionLimits): SchemaConnection {
  const address = parseUrl(url);
  const searchPath = `-c search_path=${escapeOption(escapeIdentifier(schema))}`;
  const own = address.searchParams.get('options');
  address.searchParams.delete('options');
  return {
    connectionString: address.href,
    options: [limitOptions(limits), MEMORY, ...(own ? [own] : []), TIMES, searchPath].join(' '),
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

/** How many connections each part of a service's process may have. */
interface Connections {
  /** The service itself. */
  readonly own: number;
  /** Long operations of the service, which hold a connection for minutes. */
  readonly long: number;
  /** The queues. */
  readonly queues: number;
  /** The Kafka consumers that write events into the queues. */
  readonly readers: number;
}

/** One for LISTEN, one for the relay of the outbox. */
const SINGLE = 2;
const USUAL = 24;

/** Divides at least 10 connections: in proportion up to the default total. The service itself gets the rest. */
export function shareConnections(total: number = USUAL): Connections {
  const part = (usual: number, least: number) => Math.min(usual, Math.max(least, Math.round((usual * total) / USUAL)));
  const [long, queues, readers] = [part(4, 1), part(5, 2), part(3, 1)];
  return { own: total - SINGLE - long - queues - readers, long, queues, readers };
}

let held: AsyncLocalStorage<Set<object>> | undefined;

/**
 * From now on a transaction that asks its pool for a second connection is an error. When as many of these run at once as the
 * pool has connections, each waits for the others until the time for connecting is over. For tests.
 */
export function refuseSecondConnections(): void {
  held ??= new AsyncLocalStorage();
}

/** Runs a transaction on a connection of the pool. */
export async function holding<T>(pool: object, work: () => Promise<T>): Promise<T> {
  if (held === undefined) return work();
  const pools = new Set(held.getStore()).add(pool);
  return held.run(pools, work).finally(() => pools.delete(pool));
}

/** Throws when the caller is in a transaction on the pool. */
export function requireNoneHeld(pool: object): void {
  if (held?.getStore()?.has(pool) === true)
    throw new Error('A transaction asked for a second connection. Pass the transaction on instead.');
}
