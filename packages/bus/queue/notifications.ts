import { setTimeout as pause } from 'node:timers/promises';
import { settlesWithin } from '@call-analysis/runtime';
import { Client, type ClientConfig } from 'pg';

interface NotificationHandlers {
  /** Called for each notification, with its payload. */
  readonly onNotification: (payload: string) => void;
  /** Called when notifications arrive from now on; earlier ones may have been missed. */
  readonly onConnected: () => void;
  readonly onLost: (error: Error) => void;
}

const CHECK_EVERY_MS = 10_000;
const CONNECT_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const CLOSE_WITHIN_MS = 1_000;

/**
 * Listens to a channel of PostgreSQL on its own connection. Rejects when the first connection fails; a connection that is
 * lost later is replaced, however long that takes.
 */
export async function listenTo(
  config: ClientConfig,
  channel: string,
  { onNotification, onConnected, onLost }: NotificationHandlers,
): Promise<{ close(): Promise<void> }> {
  const closing = new AbortController();
  // A server that is slow to end a closed connection may still send.
  const receive = (payload: string) => {
    if (!closing.signal.aborted) onNotification(payload);
  };
  let connection = await open(config, channel, receive);
  onConnected();
  const reconnecting = reconnect();

  async function reconnect(): Promise<void> {
    for (;;) {
      const error = await connection.ended;
      if (closing.signal.aborted) return;
      onLost(error);
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        await pause(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
        if (closing.signal.aborted) return;
        const next = await open(config, channel, receive).catch(() => null);
        if (next === null) continue;
        connection = next;
        if (closing.signal.aborted) return connection.end();
        break;
      }
      onConnected();
    }
  }

  return {
    async close() {
      closing.abort();
      connection.end();
      await settlesWithin(reconnecting, CLOSE_WITHIN_MS);
    },
  };
}

interface Connection {
  /** Resolves once no more notifications arrive. */
  readonly ended: Promise<Error>;
  end(): void;
}

async function open(
  config: ClientConfig,
  channel: string,
  onNotification: (payload: string) => void,
): Promise<Connection> {
  const client = new Client({ connectionTimeoutMillis: CONNECT_WITHIN_MS, ...config, query_timeout: ANSWER_WITHIN_MS });
  let check: NodeJS.Timeout | undefined;
  const end = () => {
    clearInterval(check);
    void client.end().catch(() => {});
    // A server that does not answer is not waited for.
    setTimeout(() => socketOf(client).destroy(), CLOSE_WITHIN_MS).unref();
  };
  const ended = new Promise<Error>((resolve) => {
    const lose = (error: Error) => {
      end();
      resolve(error);
    };
    // Never removed: the server may send an error while the connection ends, and an unhandled 'error' ends the process.
    client.on('error', lose);
    client.on('end', () => lose(new Error('The connection for notifications has ended.')));
    check = setInterval(() => void client.query('SELECT').catch(lose), CHECK_EVERY_MS).unref();
  });
  client.on('notification', ({ payload }) => {
    if (payload !== undefined) onNotification(payload);
  });
  try {
    await client.connect();
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
  } catch (error) {
    end();
    throw error;
  }
  return { ended, end };
}

/** A property of pg's client that its types lack. */
function socketOf(client: Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}
