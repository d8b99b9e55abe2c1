import { setTimeout as pause } from 'node:timers/promises';
import { gauge, settlesWithin } from '@call-analysis/runtime';
import { Client, type ClientConfig, Pool, type PoolClient, type QueryResult, types } from 'pg';
import { conceal, revealing, type ValueCipher } from './confidential.ts';
import { holding, requireNoneHeld, schemaConnection, type SessionLimits } from './connection.ts';
import { isUnreachable, sqlState, translateError } from './errors.ts';
import { closeSilentConnections, type SilenceLimits } from './silent-connections.ts';
import type { Sql } from './sql.ts';

const connections = gauge('database_connections', 'Connections of a pool, by what they do.', ['service', 'state']);
const limit = gauge('database_connections_limit', 'Connections that a pool may have.', ['service']);
const waiting = gauge('database_waiting_statements', 'Statements and transactions that wait for a connection.', [
  'service',
]);

/** Reports the use of a pool under its owner's name, until the returned function is called. */
function measurePool(service: string, pool: Pool): () => void {
  const sources = [
    connections.from(() => [
      { labels: [service, 'busy'], value: pool.totalCount - pool.idleCount },
      { labels: [service, 'idle'], value: pool.idleCount },
    ]),
    limit.from(() => [{ labels: [service], value: pool.options.max }]),
    waiting.from(() => [{ labels: [service], value: pool.waitingCount }]),
  ];
  return () => {
    for (const remove of sources) remove();
  };
}

interface DatabaseOptions {
  readonly url: string;
  /** Becomes the `search_path` of every connection. */
  readonly schema: string;
  /** Maximum number of connections. Default 10. */
  readonly poolSize?: number;
  /** Shown in `pg_stat_activity` and on the metrics page. */
  readonly applicationName?: string;
  /** How long to wait for a free or a new connection. Default 10,000. With 0 there is no limit for a free one. */
  readonly connectTimeoutMs?: number;
  /** When PostgreSQL cancels a statement or ends a transaction. Default: five minutes, and two without a statement. */
  readonly limits?: SessionLimits;
  /** Encrypts confidential values. Default: they are stored as they are. */
  readonly cipher?: ValueCipher | null;
  /** When a connection on which no data arrives is checked and closed. */
  readonly silence?: SilenceLimits;
}

interface PreparedSql extends Sql {
  /**
   * Like `query`, but the statement is parsed and planned once per connection: for statements that run often. A name
   * always belongs to the same text.
   */
  prepared<Row = Record<string, unknown>>(name: string, text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * A pool of connections to one schema. A failed connection is a Fault `unavailable`. PostgreSQL's errors about a statement
 * are thrown unchanged (see `sqlState`). `int8` values are numbers.
 */
export interface Database extends PreparedSql {
  readonly schema: string;
  /** For COPY, which passes values by itself. */
  readonly cipher: ValueCipher | null;
  readonly pool: Pool;
  /**
   * Runs `work` in one transaction: committed when it returns, rolled back when it throws. When the connection is lost
   * during the commit, the outcome is unknown, and the Fault is `unavailable`.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Waits for running queries. May be called twice. */
  close(): Promise<void>;
}

export interface TransactionOptions {
  /**
   * How often `work` is retried after a deadlock or a serialization failure. Default 0. Its effects outside the
   * transaction are then repeated.
   */
  readonly retries?: number;
}

/** Of a transaction that locks rows in an order that others do not keep. Each time one of the others has got through. */
export const DEADLOCKS_RETRIED: TransactionOptions = { retries: 5 };

/** An open transaction. It refuses queries once it has ended. */
export interface Transaction extends PreparedSql {
  /** For COPY streams. */
  readonly client: PoolClient;
}

const deadlock = '40P01';
const serializationFailure = '40001';

// A rollback waits for unfinished queries of the transaction, such as a forgotten COPY.
const rollbackTimeoutMs = 5_000;

const connectMs = 10_000;

/** Waiting for a free connection may have no limit; making a new one always has one. */
class BoundedClient extends Client {
  constructor(config: ClientConfig = {}) {
    super({ ...config, connectionTimeoutMillis: config.connectionTimeoutMillis || connectMs });
  }
}

/** In tests it finds code that holds a connection and asks for another. */
class CheckedPool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | void {
    requireNoneHeld(this);
    return callback === undefined ? super.connect() : super.connect(callback);
  }
}

type Connected = Parameters<Pool['connect']>[0];

export function openDatabase(options: DatabaseOptions): Database {
  const cipher = options.cipher ?? null;
  const pool = new CheckedPool({
    ...schemaConnection(options.url, options.schema, options.limits),
    Client: BoundedClient,
    max: options.poolSize ?? 10,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? connectMs,
    keepAlive: true,
    types: { getTypeParser: cipher === null ? getTypeParser : revealingParser(cipher) },
  });
  closeSilentConnections(pool, options.url, options.silence);
  const stopMeasuring = measurePool(options.applicationName ?? options.schema, pool);
  const broken = new WeakSet<object>();
  // Without these listeners a broken connection would end the process. Its next query reports the failure.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => broken.add(client)));

  // Not `pool.query`: that closes the connection after every error, even after a unique violation.
  async function withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw translateError(error);
    }
    try {
      return await work(client);
    } catch (error) {
      if (isUnreachable(error)) broken.add(client);
      throw translateError(error);
    } finally {
      client.release(broken.has(client));
    }
  }

  async function attempt<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return withClient(async (client) => {
      await client.query('BEGIN');
      const tx = openTransaction(client, cipher);
      try {
        const result = await holding(pool, () => work(tx.transaction));
        tx.end();
        await commit(client);
        return result;
      } catch (error) {
        tx.end();
        if (!(await rollback(client))) broken.add(client);
        throw error;
      }
    });
  }

  let closing: Promise<void> | undefined;
  return {
    schema: options.schema,
    cipher,
    pool,
    query: (text, values) => withClient((client) => run(client, cipher, text, values)),
    prepared: (name, text, values) => withClient((client) => run(client, cipher, text, values, name)),
    async transaction(work, { retries = 0 } = {}) {
      for (let attempts = 0; ; attempts++) {
        try {
          return await attempt(work);
        } catch (error) {
          const state = sqlState(error);
          if (attempts >= retries || (state !== deadlock && state !== serializationFailure)) throw error;
          // Two transactions that collided must not be retried at the same moment.
          await pause(Math.random() * 20 * 2 ** attempts);
        }
      }
    },
    close() {
      stopMeasuring();
      return (closing ??= pool.end());
    },
  };
}

function openTransaction(client: PoolClient, cipher: ValueCipher | null): { transaction: Transaction; end(): void } {
  let open = true;
  async function guarded<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
    // The connection may already be used by another transaction.
    if (!open) throw new Error('A query came after its transaction had ended; an await is missing.');
    try {
      return await run<Row>(client, cipher, text, values, name);
    } catch (error) {
      throw translateError(error);
    }
  }
  return {
    transaction: {
      client,
      query: (text, values) => guarded(text, values),
      prepared: (name, text, values) => guarded(text, values, name),
    },
    end() {
      open = false;
    },
  };
}

async function run<Row>(
  client: PoolClient,
  cipher: ValueCipher | null,
  text: string,
  values: readonly unknown[] | undefined,
  name?: string,
): Promise<Row[]> {
  const result: unknown = await client.query({
    name,
    text,
    values: values && (conceal(values, cipher) as unknown[]),
  });
  // Several statements in one text, possible only without values, give a list of results.
  const last = (Array.isArray(result) ? result.at(-1) : result) as QueryResult | undefined;
  return (last?.rows ?? []) as Row[];
}

async function commit(client: PoolClient): Promise<void> {
  const result = await client.query('COMMIT');
  // PostgreSQL answers COMMIT in a failed transaction with a rollback, and without an error.
  if (result.command !== 'COMMIT') {
    throw new Error('The transaction was rolled back: one of its statements failed and the error was swallowed.');
  }
}

/** False when the connection cannot be used again. */
async function rollback(client: PoolClient): Promise<boolean> {
  return settlesWithin(client.query('ROLLBACK'), rollbackTimeoutMs).catch(() => false);
}

function revealingParser(cipher: ValueCipher): typeof getTypeParser {
  return (oid, format) => {
    const parse = getTypeParser(oid, format);
    return format === 'binary' ? parse : revealing(oid, parse, cipher);
  };
}

function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === types.builtins.INT8 && format !== 'binary') return Number;
  return types.getTypeParser(oid, format as 'text') as (value: string) => unknown;
}
