import { Fault } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import type { Admin, Kafka as Client } from 'kafkajs';
import type { Log, Kafka } from '../../config.ts';
import { explain, within } from '../connection/explain.ts';
import { topicOf } from './topic.ts';
import { ensureTopics } from './topics.ts';

// Callers retry by themselves.
const retry = { initialRetryTime: 50, maxRetryTime: 500, retries: 3 };
const ANSWER_WITHIN_MS = 3_000;
const CREATE_WITHIN_MS = 15_000;
const REMEMBER_MS = 1_000;

export type KnownTopics = ReturnType<typeof createKnownTopics>;

/** The brokers and topics that this process knows. */
export function createKnownTopics(client: Client, kafka: Kafka, log: Log) {
  const known = new Set<string>();
  let connected: Promise<Admin> | undefined;
  let ensuring: Promise<unknown> = Promise.resolve();
  let last: { at: number; answer: Promise<void> } | undefined;

  /**
   * Replaces a connection that failed. Retries once if the connection is old, because it may have been lost unnoticed.
   */
  async function ask<T>(ms: number, work: (admin: Admin) => Promise<T>): Promise<T> {
    const isNew = connected === undefined;
    const mine = (connected ??= connect());
    try {
      return await within(ms, mine.then(work));
    } catch (error) {
      if (connected === mine) connected = undefined;
      void disconnect(mine);
      if (isNew || error instanceof Fault || error instanceof StartFault) throw explain(error, kafka);
      return ask(ms, work);
    }
  }

  async function connect(): Promise<Admin> {
    const admin = client.admin({ retry });
    await admin.connect();
    return admin;
  }

  async function ensureMissing(types: readonly string[]): Promise<void> {
    const missing = types.filter((type) => !known.has(type));
    if (missing.length === 0) return;
    const topics = missing.map((type) => topicOf(kafka, type));
    await ask(CREATE_WITHIN_MS, (admin) => ensureTopics(admin, topics, kafka, log));
    for (const type of missing) known.add(type);
  }

  return {
    /** Creates the missing topics of these event types, or throws why it may not. Asks the brokers once for each type. */
    async ensure(types: readonly string[]): Promise<void> {
      if (types.every((type) => known.has(type))) return;
      // In sequence, so that two callers do not create the same topics.
      const mine = ensuring.then(() => ensureMissing(types));
      ensuring = mine.catch(() => {});
      await mine;
    },
    /** Forgets which topics exist: they may have been deleted. */
    reset: () => known.clear(),
    /** Rejects unless the brokers answer within a few seconds. Remembers the answer for one second. */
    checkBrokers(): Promise<void> {
      if (last === undefined || Date.now() - last.at > REMEMBER_MS) {
        const answer = ask(ANSWER_WITHIN_MS, async (admin) => void (await admin.describeCluster()));
        answer.catch(() => {});
        last = { at: Date.now(), answer };
      }
      return last.answer;
    },
    async close(): Promise<void> {
      await disconnect(connected);
    },
  };
}

async function disconnect(connected: Promise<Admin> | undefined): Promise<void> {
  await connected?.then((admin) => admin.disconnect()).catch(() => {});
}
