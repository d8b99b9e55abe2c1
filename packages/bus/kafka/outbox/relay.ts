import { setTimeout as pause } from 'node:timers/promises';
import { limitOptions, translateError } from '@call-analysis/postgres';
import { Client } from 'pg';
import { INDEXES_ONLY, type Queues } from '../../queue/queues.ts';
import { outboxChannel, type OutboxRow, readFirstRows, removeSentRows } from './outbox-store.ts';
import type { Sender } from './sender.ts';

/** Rows in one read: up to two thousand events. */
const READ_ROWS = 80;
/** Notifications wake the relay; polling covers a lost one. */
const POLL_MS = 1_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
// A crash of the database may lose that rows were deleted. They are then sent twice, which may happen anyway.
const ASYNCHRONOUS_COMMIT = '-c synchronous_commit=off';
// Releases the lock of a machine that vanished, once the database notices.
const KEEP_ALIVE = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';
const ANSWER_WITHIN_MS = 30_000;
/** The key of the advisory lock; $1 is the schema. */
const LOCK = `hashtext('outbox'), hashtext($1)`;

/**
 * Sends the outbox to Kafka, by priority and then in the order of writing. One process at a time does so for an outbox: the
 * one whose connection holds an advisory lock, which it loses with that connection. Rows are deleted after Kafka has
 * acknowledged them, so a crash loses nothing and may send events twice. A transaction that commits late may add rows before
 * those that were sent; every read starts at the beginning and finds them.
 */
export function startRelay(
  queues: Pick<Queues, 'schema' | 'name' | 'log' | 'logBackgroundError'>,
  { url, sender }: { url: string; sender: Sender },
) {
  const { schema, name, log, logBackgroundError } = queues;
  /** Aborted when something happens that the relay may wait for. */
  let wakeUp = new AbortController();
  const closing = new AbortController();
  let fault: Error | undefined;

  const untilWoken = async () => {
    await pause(POLL_MS, undefined, { signal: wakeUp.signal }).catch(() => {});
    wakeUp = new AbortController();
  };
  const rest = (ms: number) => pause(ms, undefined, { signal: closing.signal }).catch(() => {});

  const running = (async () => {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      try {
        await relayOnConnection(() => {
          pauseMs = FIRST_PAUSE_MS;
        });
      } catch (error) {
        logBackgroundError(translateError(error));
      }
      await rest(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  })();

  /** Waits for the lock on a new connection, then relays until the connection is lost. */
  async function relayOnConnection(onConnected: () => void): Promise<void> {
    const client = new Client({
      connectionString: url,
      application_name: `${name} relay`,
      options: `${INDEXES_ONLY} ${ASYNCHRONOUS_COMMIT} ${KEEP_ALIVE} ${limitOptions()}`,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: 10_000,
      query_timeout: ANSWER_WITHIN_MS,
    });
    let lost: Error | undefined;
    client.on('error', (error) => {
      lost = error;
      wakeUp.abort();
    });
    client.on('notification', () => wakeUp.abort());
    try {
      await client.connect();
      await client.query(`LISTEN "${outboxChannel(schema)}"`);
      onConnected();
      while (!closing.signal.aborted && !(await tryLock(client))) {
        await untilWoken();
        if (lost !== undefined) throw lost;
      }
      if (closing.signal.aborted) return;
      log.info({}, 'This process sends the events in the outbox.');
      await relay(client, () => lost);
      // The notification lets another process take over without waiting for its next poll.
      await client.query(`SELECT pg_advisory_unlock(${LOCK}), pg_notify($2, '')::text`, [
        schema,
        outboxChannel(schema),
      ]);
    } finally {
      fault = undefined;
      await client.end().catch(() => {});
    }
  }

  async function tryLock(client: Client): Promise<boolean> {
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${LOCK}) AS locked`, [schema]);
    return (rows[0] as { locked: boolean }).locked;
  }

  async function relay(client: Client, lost: () => Error | undefined): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    let current: readonly OutboxRow[] = [];
    let reading = read(client, []);
    let deleting: Promise<void> = Promise.resolve();
    while (!closing.signal.aborted) {
      current = await reading;
      await deleting;
      if (current.length === 0) {
        await untilWoken();
        const error = lost();
        if (error !== undefined) throw error;
        reading = read(client, []);
        continue;
      }
      // The next rows are read while these are sent.
      const sending = sender.send(current);
      reading = read(client, current);
      const outcome = await sending.then(
        (sent) => ({ sent }),
        (error: Error) => ({ error }),
      );
      if ('error' in outcome) {
        fault = outcome.error;
        logBackgroundError(fault);
        await reading;
        await rest(pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
        reading = read(client, []);
        continue;
      }
      fault = undefined;
      pauseMs = FIRST_PAUSE_MS;
      deleting = removeSentRows(client, schema, outcome.sent);
      deleting.catch(() => {});
    }
    await reading;
    await deleting;
  }

  function read(client: Client, except: readonly OutboxRow[]): Promise<OutboxRow[]> {
    wakeUp = new AbortController();
    const rows = readFirstRows(client, schema, { except, exceptTopics: sender.suspendedTopics(), limit: READ_ROWS });
    // The connection may break while Kafka is awaited, and a rejection that nobody handles by then ends the process.
    rows.catch(() => {});
    return rows;
  }

  return {
    /** Why the outbox, or the part of it for one topic, is not being sent, as far as this process knows. */
    get fault(): Error | undefined {
      return fault ?? sender.refusal;
    },
    /** Finishes the current request and lets another process take over. */
    async close(): Promise<void> {
      closing.abort();
      wakeUp.abort();
      await running;
    },
  };
}
