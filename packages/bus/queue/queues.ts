import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { type Sql, translateError } from '@call-analysis/postgres';
import { type Logger, StartFault } from '@call-analysis/runtime';
import { type Db, PgBoss } from 'pg-boss';
import { listenTo } from './notifications.ts';

export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'writes'>;

export interface QueueOptions {
  readonly url: string;
  readonly schema: string;
  /** Whose connections these are, as `pg_stat_activity` shows it. */
  readonly name: string;
  readonly log: Log;
  readonly leaseSeconds: number;
  /** At most, beside the one that listens. */
  readonly connections: number;
}

/** The durable queues of one schema, as one process sees them. */
export interface Queues {
  readonly boss: PgBoss;
  /** The service. */
  readonly name: string;
  readonly schema: string;
  readonly log: Log;
  readonly leaseSeconds: number;
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  /** What is done in it stays or goes together, also when the database crashes right after it was answered. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Runs until the database has answered it; gives up when the queues are closed. */
  insist<T>(statement: () => Promise<T>): Promise<T>;
  /** Logs what went wrong in the background, and the same thing not too often. */
  complain(error: unknown): void;
  /** Without waiting for workers: they are stopped before. */
  close(): Promise<void>;
}

// Queues fill and empty faster than statistics are gathered. Without them the planner sorts a whole queue to take its
// first hundred, so it is left no choice but the indexes that every statement here was made for.
export const planner = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin']
  .map((way) => `-c enable_${way}=off`)
  .join(' ');
// Taking an event and noting that it is done may be lost when the database crashes: it is then handed over again, which it
// may be anyway. But a process that outlives the crash goes on from what it was told, so what must not come apart belongs
// into one transaction.
const commit = '-c synchronous_commit=off';
const maintenanceSeconds = 300;
const dayInSeconds = 86_400;

export async function startQueues(options: QueueOptions): Promise<Queues> {
  const { schema, log, leaseSeconds } = options;
  const connection = {
    connectionString: options.url,
    application_name: `${options.name} bus`,
    max: options.connections,
    options: `${planner} ${commit}`,
    // A connection that is dead without a word would otherwise hold its worker for ever.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: 120_000,
  };
  const boss = new PgBoss({
    ...connection,
    schema,
    migrate: false,
    schedule: false,
    useListenNotify: true,
    // Both read the whole table, which takes seconds while a million jobs wait.
    monitorIntervalSeconds: maintenanceSeconds,
    maintenanceIntervalSeconds: maintenanceSeconds,
    // Dependencies between jobs are not used.
    flowIntervalSeconds: dayInSeconds,
  });
  let closed = false;
  const say = quieten(log);
  const complain = (error: unknown) => {
    if (!closed) say(error);
  };
  boss.on('error', complain);
  const database = boss.getDb();
  // pg-boss's own takes its listeners off a connection before that has ended; the server's last word would then end the
  // process.
  database.listen = (channel, came, connected) => listenTo(connection, channel, { came, connected, lost: complain });
  // What comes with a warning may quote statements and their values.
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
    complain,
    query: (text, values) => rows(database, text, values),
    transaction: (work) => transaction(database, work),
    async insist(statement) {
      for (;;) {
        try {
          return await statement();
        } catch (error) {
          if (closed || !(translateError(error) instanceof Fault)) throw error;
          await pause(500);
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
    return notOfThisVersion({ schema, name }, error);
  }
  return translateError(error);
}

export function notOfThisVersion({ schema, name }: Pick<Queues, 'schema' | 'name'>, cause?: unknown): StartFault {
  return new StartFault(
    `The queues in the schema ${schema} are not of this version. Run npm run service -- ${name} migrate.`,
    {
      cause,
    },
  );
}

async function transaction<T>(database: Db, work: (tx: Sql) => Promise<T>): Promise<T> {
  const begun = await database.beginTransaction?.();
  if (begun === undefined) throw new Error('The queues have a database without transactions.');
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

const repeatAfterMs = 30_000;

// Every worker reports an absent database at every poll; one line in half a minute says as much.
export function quieten(log: Log): (error: unknown) => void {
  const said = new Map<string, { at: number; silenced: number }>();
  return (thrown) => {
    const error = asError(thrown);
    const message = error.message.replace(/ \(Queue: .*\)$/s, '');
    const now = Date.now();
    const last = said.get(message);
    if (last !== undefined && now - last.at < repeatAfterMs) {
      last.silenced++;
      return;
    }
    if (said.size >= 100) said.clear();
    said.set(message, { at: now, silenced: 0 });
    log.error({ err: error, silenced: last?.silenced ?? 0 }, 'The bus met an error and goes on.');
  };
}

// Workers report a copy of an error, with all that PostgreSQL says about the data.
function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const { message, stack, code } = Object(thrown) as { message?: unknown; stack?: unknown; code?: unknown };
  const error = new Error(typeof message === 'string' ? message : String(thrown));
  return Object.assign(error, typeof stack === 'string' ? { stack } : {}, typeof code === 'string' ? { code } : {});
}
