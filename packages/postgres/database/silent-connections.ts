import { Client, type Pool, type PoolClient } from 'pg';

export interface SilenceLimits {
  /** How long no data may arrive on a connection before its server is checked. Default 4,000. */
  readonly silentMs?: number;
  /** How long that check may take. Default 4,000. */
  readonly checkMs?: number;
}

interface Acquired {
  bytesRead: number;
  /** When data last arrived, or none was expected. */
  at: number;
  /** Checks in a row that found no server at work for the connection. */
  failedChecks: number;
}

const TICK_MS = 1_000;
/** A single check may fail because a busy server accepts no connection for a moment. */
const MAX_FAILED_CHECKS = 2;

/**
 * Closes connections on which no answer will ever arrive, because the network drops packets or has lost a connection that
 * both ends consider open. A statement may run long, so silence alone closes nothing: the server must be unreachable on
 * a new connection, or report that this connection is idle. Without this a request would wait until the kernel gives up,
 * which takes a quarter of an hour. The checks end with the pool.
 */
export function closeSilentConnections(
  pool: Pool,
  connectionString: string,
  { silentMs = 4_000, checkMs = 4_000 }: SilenceLimits = {},
): void {
  const acquired = new Map<PoolClient, Acquired>();
  let isChecking = false;
  pool.on('acquire', (client) =>
    acquired.set(client, { bytesRead: bytesRead(client), at: Date.now(), failedChecks: 0 }),
  );
  pool.on('release', (_error, client) => acquired.delete(client));
  pool.on('remove', (client) => acquired.delete(client));

  const timer = setInterval(
    () => {
      if (pool.ended) return clearInterval(timer);
      const silent = [...acquired].filter(([client, state]) => {
        const read = bytesRead(client);
        if (read !== state.bytesRead || !waits(client))
          Object.assign(state, { bytesRead: read, at: Date.now(), failedChecks: 0 });
        return Date.now() - state.at >= silentMs;
      });
      if (silent.length === 0 || isChecking) return;
      isChecking = true;
      void check(silent).finally(() => (isChecking = false));
    },
    Math.min(TICK_MS, silentMs),
  );
  timer.unref();

  async function check(silent: readonly (readonly [PoolClient, Acquired])[]): Promise<void> {
    const working = await workingProcesses(
      connectionString,
      checkMs,
      silent.map(([client]) => processOf(client)),
    );
    for (const [client, state] of silent) {
      const isSame = acquired.get(client) === state && bytesRead(client) === state.bytesRead && waits(client);
      if (!isSame) continue;
      state.failedChecks = working === 'unreachable' || !working.has(processOf(client)) ? state.failedChecks + 1 : 0;
      if (state.failedChecks >= MAX_FAILED_CHECKS) close(client);
    }
  }
}

/** Which of these server processes are executing a statement, as the server reports on a new connection. */
async function workingProcesses(
  connectionString: string,
  timeoutMs: number,
  processes: readonly number[],
): Promise<Set<number> | 'unreachable'> {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'check',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number; pid: number; state: string }>(
      `SELECT pg_backend_pid() AS own, pid, state FROM pg_stat_activity WHERE pid = ANY($1::int[]) OR pid = pg_backend_pid()`,
      [processes],
    );
    // A pooler reports process ids of its own, from which nothing follows.
    if (rows[0]?.own !== processOf(client)) return new Set(processes);
    return new Set(rows.filter(({ state }) => state === 'active' || state === null).map(({ pid }) => pid));
  } catch (error) {
    // A server that answers with an error is reachable.
    return (error as { severity?: string }).severity === undefined ? 'unreachable' : new Set(processes);
  } finally {
    internalsOf(client).connection.stream.destroy();
  }
}

/** Properties of pg's client that its types do not declare. */
interface Internals {
  readonly processID: number;
  /** False from the start of a statement until the server is ready for the next one. */
  readonly readyForQuery: boolean;
  readonly connection: { readonly stream: { readonly bytesRead: number; destroy(error?: Error): void } };
}

function internalsOf(client: PoolClient | Client): Internals {
  return client as unknown as Internals;
}

function waits(client: PoolClient): boolean {
  return !internalsOf(client).readyForQuery;
}

function processOf(client: PoolClient | Client): number {
  return internalsOf(client).processID;
}

function bytesRead(client: PoolClient): number {
  return internalsOf(client).connection.stream.bytesRead;
}

function close(client: PoolClient): void {
  const error = Object.assign(new Error('PostgreSQL stopped answering'), { code: 'ETIMEDOUT' });
  internalsOf(client).connection.stream.destroy(error);
}
