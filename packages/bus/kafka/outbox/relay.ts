import { setTimeout as pause } from 'node:timers/promises';
import { translateError } from '@call-analysis/postgres';
import { Client } from 'pg';
import { planner, type Queues } from '../../queue/queues.ts';
import { Bell } from './wake-up.ts';
import { outboxChannel, type OutboxRow } from './outbox.ts';
import type { Sender } from './sender.ts';

/** Rows read at once: some two thousand events when these were told together. */
const rowsAtOnce = 80;
/** Notifications wake the relay; this is for the one that was lost. */
const pollMs = 1_000;
const firstPauseMs = 200;
const longestPauseMs = 5_000;
// Deleting what was sent may be lost in a crash of the database: it is then sent twice, which it may be anyway.
const commit = '-c synchronous_commit=off';
// A machine that vanished lets go of the lock when the database misses its answers.
const lostAfter = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';
const answerWithinMs = 30_000;

export interface Relay {
  /** Why the outbox, or what is in it for one topic, does not flow, as far as this process knows. */
  readonly fault: Error | undefined;
  /** Finishes what it is sending and hands over to another process. */
  close(): Promise<void>;
}

/**
 * Takes the outbox to Kafka, in the order of turn and then of writing. Of all processes that share an outbox one does so
 * at a time: the one whose connection holds a lock of the session, and which therefore loses the right with the
 * connection. What is sent is deleted after Kafka has acknowledged it, so that whatever dies, nothing is lost and
 * something may be sent twice. A transaction that commits late leaves rows before those that were sent already; the next
 * look begins at the beginning and finds them.
 */
export function startRelay(queues: Queues, { url, sender }: { url: string; sender: Sender }): Relay {
  const { schema, name, log, complain } = queues;
  const bell = new Bell();
  const ending = new AbortController();
  let fault: Error | undefined;

  const rest = (ms: number) => pause(ms, undefined, { signal: ending.signal }).catch(() => {});

  const running = (async () => {
    let pauseMs = firstPauseMs;
    while (!ending.signal.aborted) {
      try {
        await lead(() => {
          pauseMs = firstPauseMs;
        });
      } catch (error) {
        complain(translateError(error));
      }
      await rest(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  })();

  /** Waits for its turn on a new connection, then relays until that connection is lost. */
  async function lead(connected: () => void): Promise<void> {
    const client = new Client({
      connectionString: url,
      application_name: `${name} relay`,
      options: `${planner} ${commit} ${lostAfter}`,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: 10_000,
      query_timeout: answerWithinMs,
    });
    let lost: Error | undefined;
    client.on('error', (error) => {
      lost = error;
      bell.ring();
    });
    client.on('notification', () => bell.ring());
    try {
      await client.connect();
      await client.query(`LISTEN "${outboxChannel(schema)}"`);
      connected();
      while (!ending.signal.aborted && !(await mine(client))) {
        await bell.wait(pollMs);
        if (lost !== undefined) throw lost;
      }
      if (ending.signal.aborted) return;
      log.info({}, 'This process sends what the outbox holds.');
      await relay(client, () => lost);
      // Another one waits for this word, or for its next look.
      await client.query(`SELECT pg_advisory_unlock(${lock}), pg_notify($2, '')::text`, [
        schema,
        outboxChannel(schema),
      ]);
    } finally {
      fault = undefined;
      await client.end().catch(() => {});
    }
  }

  const lock = `hashtext('outbox'), hashtext($1)`;

  async function mine(client: Client): Promise<boolean> {
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${lock}) AS mine`, [schema]);
    return (rows[0] as { mine: boolean }).mine;
  }

  async function relay(client: Client, lost: () => Error | undefined): Promise<void> {
    let pauseMs = firstPauseMs;
    let inProgress: readonly OutboxRow[] = [];
    let reading = read(client, []);
    let deleting: Promise<void> = Promise.resolve();
    try {
      while (!ending.signal.aborted) {
        inProgress = await reading;
        await deleting;
        if (inProgress.length === 0) {
          await bell.wait(pollMs);
          const error = lost();
          if (error !== undefined) throw error;
          reading = read(client, []);
          continue;
        }
        // What comes next is read while this is sent.
        const sending = sender.send(inProgress);
        reading = read(client, inProgress);
        const outcome = await sending.then(
          (sent) => ({ sent }),
          (error: unknown) => ({ error }),
        );
        if ('error' in outcome) {
          fault = outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error));
          complain(fault);
          await reading;
          await rest(pauseMs);
          pauseMs = Math.min(pauseMs * 2, longestPauseMs);
          reading = read(client, []);
          continue;
        }
        fault = undefined;
        pauseMs = firstPauseMs;
        deleting = remove(client, outcome.sent);
        deleting.catch(() => {});
      }
      await reading;
      await deleting;
    } finally {
      reading.catch(() => {});
    }
  }

  /** The first rows but these, and none for a topic that stands aside. */
  async function read(client: Client, but: readonly OutboxRow[]): Promise<OutboxRow[]> {
    bell.silence();
    const { rows } = await client.query({
      name: 'outbox',
      text: `SELECT turn, seq, topic, headers, data FROM ${schema}.outbox
              WHERE seq <> ALL($1::bigint[]) AND topic <> ALL($2::text[]) ORDER BY turn, seq LIMIT ${rowsAtOnce}`,
      values: [but.map(({ seq }) => seq), sender.aside()],
    });
    return rows as OutboxRow[];
  }

  async function remove(client: Client, sent: readonly OutboxRow[]): Promise<void> {
    if (sent.length === 0) return;
    await client.query({
      name: 'sent',
      text: `DELETE FROM ${schema}.outbox o USING unnest($1::int[], $2::bigint[]) AS sent (turn, seq)
              WHERE o.turn = sent.turn AND o.seq = sent.seq`,
      values: [sent.map(({ turn }) => turn), sent.map(({ seq }) => seq)],
    });
  }

  return {
    get fault() {
      return fault ?? sender.refusal;
    },
    async close() {
      ending.abort();
      bell.ring();
      await running;
    },
  };
}
