import { setTimeout as pause } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';

export interface Notices {
  /** A notice came, with what it says. */
  readonly came: (payload: string) => void;
  /** Notices come from now on; what was said before may have been missed. */
  readonly connected: () => void;
  readonly lost: (error: Error) => void;
}

const lookEveryMs = 10_000;
const connectWithinMs = 10_000;
const answerWithinMs = 5_000;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
const goodbyeMs = 1_000;

/**
 * Listens to a channel of PostgreSQL on a connection of its own. Throws when the first connection fails; later ones are
 * made again for as long as it takes.
 */
export async function listenTo(
  config: ClientConfig,
  channel: string,
  { came, connected, lost }: Notices,
): Promise<{ close(): Promise<void> }> {
  const ending = new AbortController();
  let line = await open(config, channel, came);
  connected();
  const kept = keep();

  async function keep(): Promise<void> {
    for (;;) {
      const error = await line.gone;
      if (ending.signal.aborted) return;
      lost(error);
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        await pause(pauseMs, undefined, { signal: ending.signal }).catch(() => {});
        if (ending.signal.aborted) return;
        const next = await open(config, channel, came).catch(() => null);
        if (next === null) continue;
        line = next;
        if (ending.signal.aborted) return line.hangUp();
        break;
      }
      connected();
    }
  }

  return {
    async close() {
      ending.abort();
      line.hangUp();
      const waited = new AbortController();
      await Promise.race([kept, pause(goodbyeMs, undefined, { signal: waited.signal })]);
      waited.abort();
    },
  };
}

interface Line {
  /** Fulfilled once nothing comes by it any more. */
  readonly gone: Promise<Error>;
  hangUp(): void;
}

async function open(config: ClientConfig, channel: string, came: (payload: string) => void): Promise<Line> {
  const client = new Client({ connectionTimeoutMillis: connectWithinMs, ...config, query_timeout: answerWithinMs });
  let look: NodeJS.Timeout | undefined;
  const hangUp = () => {
    clearInterval(look);
    void client.end().catch(() => {});
    // A server that does not answer is not waited for.
    setTimeout(() => socketOf(client).destroy(), goodbyeMs).unref();
  };
  const gone = new Promise<Error>((resolve) => {
    const lose = (error: Error) => {
      hangUp();
      resolve(error);
    };
    // Never taken off: the server may have a last word while the connection ends, and an error nobody listens to ends
    // the process.
    client.on('error', lose);
    client.on('end', () => lose(new Error('The connection that notices come by has ended.')));
    look = setInterval(() => void client.query('SELECT').catch(lose), lookEveryMs).unref();
  });
  client.on('notification', ({ payload }) => {
    if (payload !== undefined) came(payload);
  });
  try {
    await client.connect();
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
  } catch (error) {
    hangUp();
    throw error;
  }
  return { gone, hangUp };
}

/** What pg's client has and its types do not say. */
function socketOf(client: Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}
