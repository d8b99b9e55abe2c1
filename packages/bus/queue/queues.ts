import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { limitOptions, type Sql, translateError, USUAL_LIMITS } from '@call-analysis/postgres';
import { StartFault } from '@call-analysis/runtime';
import { type Db, PgBoss } from 'pg-boss';
import type { Log } from '../config.ts';
import { listenTo } from './notifications.ts';

interface QueueOptions {
  readonly url: string;
  readonly schema: string;
  /** The service; part of the connections' `application_name`. */
  readonly name: string;
  readonly log: Log;
  readonly leaseSeconds: number;
  /** The most connections, not counting the one that listens. */
  readonly connections: number;
}

/** The durable queues in one schema, as one process uses them. */
export interface Queues {
  readonly boss: PgBoss;
  /** The service. */
  readonly name: string;
  readonly schema: string;
  readonly log: Log;
  readonly leaseSeconds: number;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Commits all of its statements or none, also when the database crashes right after it has answered. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Repeats a statement until the database answers. Gives up when the queues are closed, or `isGivenUp`. */
  retryUntilAnswered<T>(statement: () => Promise<T>, isGivenUp?: () => boolean): Promise<T>;
  /** Logs an error of the background work; the same error at most twice a minute. */
  logBackgroundError(error: unknown): void;
  /** Does not wait for workers: stop them first. */
  close(): Promise<void>;
}

/**
 * Queues fill and empty faster than PostgreSQL gathers statistics. Without these options its planner sorts a complete queue
 * to take the first hundred jobs. They leave it only the indexes that every statement here is written for.
 */
export const INDEXES_ONLY = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin']
  .map((way) => `-c enable_${way}=off`)
  .join(' ');
// A crash of the database may lose that an event was fetched or finished; the event is then delivered again, which may
// happen anyway. But the process may have acted on what was lost, so statements that belong together need a transaction.
const ASYNCHRONOUS_COMMIT = '-c synchronous_commit=off';
/** Of one statement, for the client and for the server. */
const QUERY_MS = 120_000;
const MAINTENANCE_SECONDS = 300;
const DAY_SECONDS = 86_400;
const RETRY_EVERY_MS = 500;

export async function startQueues(options: QueueOptions): Promise<Queues> {
  const { schema, log, leaseSeconds } = options;
  const connection = {
    connectionString: options.url,
    application_name: `${options.name} bus`,
    max: options.connections,
    options: `${INDEXES_ONLY} ${ASYNCHRONOUS_COMMIT} ${limitOptions({ ...USUAL_LIMITS, statementMs: QUERY_MS })}`,
    // Without keep-alive, a connection that died silently would block its worker forever.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: QUERY_MS,
  };
  const boss = new PgBoss({
    ...connection,
    schema,
    migrate: false,
    schedule: false,
    useListenNotify: true,
    // Both read the complete table, which takes seconds while a million jobs wait.
    monitorIntervalSeconds: MAINTENANCE_SECONDS,
    maintenanceIntervalSeconds: MAINTENANCE_SECONDS,
    // Dependencies between jobs are not used.
    flowIntervalSeconds: DAY_SECONDS,
  });
  let closed = false;
  const logError = createErrorLog(log);
  const logBackgroundError = (error: unknown) => {
    if (!closed) logError(error);
  };
  boss.on('error', logBackgroundError);
  const database = boss.getDb();
  // pg-boss's own version removes its listeners from a connection before it has ended; an error from the server at that
  // moment would end the process.
  database.listen = (channel, onNotification, onConnected) =>
    listenTo(connection, channel, { onNotification, onConnected, onLost: logBackgroundError });
  // The details of a warning may quote statements and their values.
  boss.on('warning', ({ message }) => log.warn({}, `bus: ${message}`));
  try {
    await boss.start();
  } catch (error) {
    closed = true;
    await boss.stop({ graceful: false }).catch(() => {});
    throw explain(error, options);
  }

  return {
    boss,
    name: options.name,
    schema,
    log,
    leaseSeconds,
    logBackgroundError,
    query: (text, values) => rows(database, text, values),
    transaction: (work) => transaction(database, work),
    async retryUntilAnswered(statement, isGivenUp = () => closed) {
      for (;;) {
        try {
          return await statement();
        } catch (error) {
          if (isGivenUp() || !(translateError(error) instanceof Fault)) throw error;
          logBackgroundError(error);
          await pause(RETRY_EVERY_MS);
          if (isGivenUp()) throw error;
        }
      }
    },
    async close() {
      closed = true;
      await boss.stop({ graceful: false });
    },
  };
}

function explain(error: unknown, { schema, name }: QueueOptions): unknown {
  if (error instanceof Error && /is not installed|requires migrations/.test(error.message)) {
    return migrationNeeded({ schema, name }, error);
  }
  return translateError(error);
}

export function migrationNeeded({ schema, name }: Pick<Queues, 'schema' | 'name'>, cause?: unknown): StartFault {
  return new StartFault(
    `The queues in the schema ${schema} are not of this version. Run npm run service -- ${name} migrate.`,
    { cause },
  );
}

async function transaction<T>(database: Db, work: (tx: Sql) => Promise<T>): Promise<T> {
  const begun = await database.beginTransaction!();
  try {
    const result = await work({ query: (text, values) => rows(begun.db, text, values) });
    await begun.commit();
    return result;
  } catch (error) {
    await begun.rollback();
    throw error;
  }
}

async function rows<Row>(database: Db, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const result = await database.executeSql(text, [...values]);
  return result.rows as Row[];
}

const SILENT_MS = 30_000;
const REMEMBERED_ERRORS = 100;

/** Logs each error at most once in half a minute: every worker reports an absent database at every poll. */
export function createErrorLog(log: Log): (error: unknown) => void {
  const logged = new Map<string, { at: number; silenced: number }>();
  return (thrown) => {
    const error = asError(thrown);
    const message = error.message.replace(/ \(Queue: .*\)$/s, '');
    const now = Date.now();
    const last = logged.get(message);
    if (last !== undefined && now - last.at < SILENT_MS) {
      last.silenced++;
      return;
    }
    if (logged.size >= REMEMBERED_ERRORS) logged.clear();
    logged.set(message, { at: now, silenced: 0 });
    log.error({ err: error, silenced: last?.silenced ?? 0 }, 'The bus met an error and goes on.');
  };
}

// pg-boss's workers report a copy of an error with everything that PostgreSQL says about the data.
function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const { message, stack, code } = Object(thrown) as { message?: unknown; stack?: unknown; code?: unknown };
  const error = new Error(typeof message === 'string' ? message : String(thrown));
  return Object.assign(error, typeof stack === 'string' ? { stack } : {}, typeof code === 'string' ? { code } : {});
}
