import { Client, type Pool, type PoolClient } from 'pg';

export interface Patience {
  /** How long a connection may be silent before anybody looks whether its server is there. Default 4,000. */
  readonly silentMs?: number;
  /** How long that look may take. Default 4,000. */
  readonly lookMs?: number;
}

interface Lent {
  bytesRead: number;
  /** When it was last heard of, or had nothing to say. */
  at: number;
  /** Looks in a row that found nobody at the other end. */
  vain: number;
}

const TICK_MS = 1_000;
/** One look may fall into a moment in which a busy server takes no connection. */
const MOST_VAIN = 2;

/**
 * Ends connections on which an answer will never come: the way to the server swallows what is sent, or has lost a
 * connection that both ends take for open. A statement may take its time, so silence alone ends nothing; what counts is
 * that the server cannot be reached any other way, or says that it waits for us. Without this a request would wait until
 * the kernel gives up, which takes a quarter of an hour. The watch ends with the pool.
 */
export function endSilentConnections(
  pool: Pool,
  connectionString: string,
  { silentMs = 4_000, lookMs = 4_000 }: Patience = {},
): void {
  const lent = new Map<PoolClient, Lent>();
  let isLooking = false;
  pool.on('acquire', (client) => lent.set(client, { bytesRead: bytesRead(client), at: Date.now(), vain: 0 }));
  pool.on('release', (_error, client) => lent.delete(client));
  pool.on('remove', (client) => lent.delete(client));

  const timer = setInterval(
    () => {
      if (pool.ended) return clearInterval(timer);
      const silent = [...lent].filter(([client, state]) => {
        const read = bytesRead(client);
        if (read !== state.bytesRead || !waits(client))
          Object.assign(state, { bytesRead: read, at: Date.now(), vain: 0 });
        return Date.now() - state.at >= silentMs;
      });
      if (silent.length === 0 || isLooking) return;
      isLooking = true;
      void look(silent).finally(() => (isLooking = false));
    },
    Math.min(TICK_MS, silentMs),
  );
  timer.unref();

  async function look(silent: readonly (readonly [PoolClient, Lent])[]): Promise<void> {
    const working = await whoWorks(
      connectionString,
      lookMs,
      silent.map(([client]) => processOf(client)),
    );
    for (const [client, state] of silent) {
      const isSame = lent.get(client) === state && bytesRead(client) === state.bytesRead && waits(client);
      if (!isSame) continue;
      state.vain = working === 'unreachable' || !working.has(processOf(client)) ? state.vain + 1 : 0;
      if (state.vain >= MOST_VAIN) end(client);
    }
  }
}

/** Which of these processes of the server are at work, as the server sees it over a connection made for the question. */
async function whoWorks(
  connectionString: string,
  withinMs: number,
  processes: readonly number[],
): Promise<Set<number> | 'unreachable'> {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
    application_name: 'look',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number; pid: number; state: string }>(
      `SELECT pg_backend_pid() AS own, pid, state FROM pg_stat_activity WHERE pid = ANY($1::int[]) OR pid = pg_backend_pid()`,
      [processes],
    );
    // Behind a pooler the numbers of processes are its own, and nothing follows from them.
    if (rows[0]?.own !== processOf(client)) return new Set(processes);
    return new Set(rows.filter(({ state }) => state === 'active' || state === null).map(({ pid }) => pid));
  } catch (error) {
    // A server that refuses in its own words is there.
    return (error as { severity?: string }).severity === undefined ? 'unreachable' : new Set(processes);
  } finally {
    inside(client).connection.stream.destroy();
  }
}

/** What pg's client has and its types do not say. */
interface Inside {
  readonly processID: number;
  /** False from a statement's beginning until the server has said that it is ready for another one. */
  readonly readyForQuery: boolean;
  readonly connection: { readonly stream: { readonly bytesRead: number; destroy(error?: Error): void } };
}

function inside(client: PoolClient | Client): Inside {
  return client as unknown as Inside;
}

function waits(client: PoolClient): boolean {
  return !inside(client).readyForQuery;
}

function processOf(client: PoolClient | Client): number {
  return inside(client).processID;
}

function bytesRead(client: PoolClient): number {
  return inside(client).connection.stream.bytesRead;
}

function end(client: PoolClient): void {
  const error = Object.assign(new Error('PostgreSQL fell silent'), { code: 'ETIMEDOUT' });
  inside(client).connection.stream.destroy(error);
}
