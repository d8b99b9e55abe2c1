import { Fault } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import type { Admin, Kafka as Client } from 'kafkajs';
import type { Log } from '../../queue/queues.ts';
import type { Kafka } from '../config.ts';
import { explain } from '../connection/explain.ts';
import { haveTopics, topicOf } from './topics.ts';
import { within } from '../connection/within.ts';

// Whoever needs a topic tries again by itself.
const retry = { initialRetryTime: 50, maxRetryTime: 500, retries: 3 };
const answerWithinMs = 3_000;
const makeWithinMs = 15_000;
const rememberMs = 1_000;

/** What this process has seen of the brokers and their topics. */
export interface KnownTopics {
  /** Makes those of these types that are missing, or says why it may not; asks for each only once. */
  have(types: readonly string[]): Promise<void>;
  /** They may have been deleted. */
  doubt(): void;
  /** Rejects unless the brokers answer, within a few seconds. Remembers the answer for one. */
  answers(): Promise<void>;
  close(): Promise<void>;
}

export function createKnownTopics(client: Client, kafka: Kafka, log: Log): KnownTopics {
  const known = new Set<string>();
  let connected: Promise<Admin> | undefined;
  let making: Promise<unknown> = Promise.resolve();
  let last: { at: number; answer: Promise<void> } | undefined;

  /** A connection that has failed is not used again; one that was there already may have been lost unnoticed. */
  async function ask<T>(ms: number, work: (admin: Admin) => Promise<T>): Promise<T> {
    const isNew = connected === undefined;
    const mine = (connected ??= connect());
    try {
      return await within(ms, mine.then(work));
    } catch (error) {
      if (connected === mine) connected = undefined;
      void leave(mine);
      if (isNew || error instanceof Fault || error instanceof StartFault) throw explain(error, kafka);
      return ask(ms, work);
    }
  }

  async function connect(): Promise<Admin> {
    const admin = client.admin({ retry });
    await admin.connect();
    return admin;
  }

  async function make(types: readonly string[]): Promise<void> {
    const missing = types.filter((type) => !known.has(type));
    if (missing.length === 0) return;
    await ask(makeWithinMs, (admin) =>
      haveTopics(
        admin,
        missing.map((type) => topicOf(kafka, type)),
        kafka,
        log,
      ),
    );
    for (const type of missing) known.add(type);
  }

  return {
    async have(types) {
      if (types.every((type) => known.has(type))) return;
      // In turn, so that two who need the same topics do not both make them.
      const mine = making.then(() => make(types));
      making = mine.catch(() => {});
      await mine;
    },
    doubt: () => known.clear(),
    answers() {
      if (last === undefined || Date.now() - last.at > rememberMs) {
        last = { at: Date.now(), answer: ask(answerWithinMs, async (admin) => void (await admin.describeCluster())) };
        last.answer.catch(() => {});
      }
      return last.answer;
    },
    async close() {
      await leave(connected);
    },
  };
}

async function leave(connected: Promise<Admin> | undefined): Promise<void> {
  await connected?.then((admin) => admin.disconnect()).catch(() => {});
}
