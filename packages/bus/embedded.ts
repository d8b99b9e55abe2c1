import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { JobInsert } from 'pg-boss';
import { depths, watchDepths } from './depths.ts';
import { forget } from './forget.ts';
import { createInbox, type Inbox, openInbox } from './inbox.ts';
import { broadcast, createListeners, LISTENERS } from './listen.ts';
import type { BusOptions } from './options.ts';
import { published } from './outcome.ts';
import { jobsOf } from './parcel.ts';
import type { Bus, SubscriptionOptions } from './port.ts';
import { putBackAbandoned } from './put-back.ts';
import { type Queues, startQueues } from './queues.ts';
import { caused } from './trace.ts';

const jobsInStatement = 1_000;
const charactersInStatement = 4 * 1024 * 1024;
const defaultCloseWithinMs = 8_000;
const defaultLeaseSeconds = 30;
const farewellMs = 2_000;

/** Everything in one PostgreSQL schema: what is published lands in the inboxes with the transaction that says it. */
export async function openEmbedded(
  { url, schema, exclusive = false }: { url: string; schema: string; exclusive?: boolean | undefined },
  options: BusOptions,
): Promise<Bus> {
  const { name, log, closeWithinMs = defaultCloseWithinMs } = options;
  const queues = await startQueues({
    url,
    schema,
    name,
    log,
    leaseSeconds: options.leaseSeconds ?? defaultLeaseSeconds,
  });
  const listeners = createListeners(queues);
  const inboxes: Inbox[] = [];
  const consumers: string[] = [];
  const unwatch = watchDepths(queues, consumers);
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    unwatch();
    const deaf = listeners.close();
    const stopped = Promise.all(inboxes.map((inbox) => inbox.stop())).then(() => true);
    const late = new AbortController();
    const left = new AbortController();
    const inTime = await Promise.race([stopped, pause(closeWithinMs, false, { signal: late.signal })]);
    late.abort();
    const farewell = (async () => {
      if (!inTime) await Promise.allSettled(inboxes.map((inbox) => inbox.release()));
      await deaf;
      await queues.close();
    })();
    // A database that has gone silent must not keep the process; leases bring back what is in hand.
    await Promise.race([farewell, pause(farewellMs, undefined, { signal: left.signal })]);
    left.abort();
  }

  return {
    publish: (tx, events) => publish(queues, tx, events),
    async subscribe(subscription) {
      checkConsumer(subscription);
      await createInbox(queues, subscription);
      if (exclusive) await putBackAbandoned(queues, subscription.consumer);
      for (const each of subscription.routes) {
        const topic = each.from === undefined ? each.event.type : topicOf(each.event.type, each.from);
        await queues.boss.subscribe(topic, subscription.consumer);
      }
      const inbox = await openInbox(queues, subscription);
      inboxes.push(inbox);
      consumers.push(subscription.consumer);
      return inbox;
    },
    listen: (type, hear) => listeners.listen(type, hear),
    forget: (tx, firmUuid, subject, but) => forget(tx, queues.schema, { firmUuid, subject, but: but.type }),
    depths: () => depths(queues),
    close: () => (closing ??= close()),
  };
}

function checkConsumer({ consumer, routes }: SubscriptionOptions): void {
  if (!/^[a-z][a-z0-9.-]*$/.test(consumer) || consumer.endsWith('.dead')) {
    throw new Error(`A consumer's name is lower-case letters, digits, dots and hyphens: ${consumer}`);
  }
  const types = routes.map((route) => route.event.type);
  if (new Set(types).size !== types.length) throw new Error(`${consumer} has two routes for one event.`);
}

async function publish(queues: Queues, tx: Sql, events: readonly Event[]): Promise<void> {
  const distinct = [...new Map(events.map((event) => [event.id, caused(event)])).values()];
  for (const { type } of distinct) published.of(queues.name, type).add();
  for (const [consumer, heard] of await audiences(queues, tx, distinct)) {
    if (consumer === LISTENERS) await broadcast(tx, queues.schema, heard);
    else for (const jobs of statementsOf(heard)) await insert(queues, tx, consumer, jobs);
  }
}

/**
 * Which consumer gets which events. Asked in the transaction, so that whoever subscribed before it began is found;
 * in one order, so that two transactions cannot lock each other out.
 */
async function audiences(queues: Queues, tx: Sql, events: readonly Event[]): Promise<Map<string, Event[]>> {
  const audience = new Map<string, Event[]>();
  if (events.length === 0) return audience;
  const subscriptions = await tx.query<{ topic: string; consumer: string }>(
    `SELECT event AS topic, name AS consumer FROM ${queues.schema}.subscription WHERE event = ANY($1) ORDER BY name`,
    [[...new Set(events.flatMap(({ type, source }) => [type, topicOf(type, source)]))]],
  );
  for (const consumer of new Set(subscriptions.map((row) => row.consumer))) {
    const topics = new Set(subscriptions.filter((row) => row.consumer === consumer).map((row) => row.topic));
    audience.set(
      consumer,
      events.filter(({ type, source }) => topics.has(type) || topics.has(topicOf(type, source))),
    );
  }
  return audience;
}

/** What those subscribe to who hear a type of one source alone. */
function topicOf(type: string, source: string): string {
  return `${type}@${source}`;
}

async function insert(queues: Queues, tx: Sql, consumer: string, jobs: JobInsert[]): Promise<void> {
  const executeSql = async (text: string, values?: unknown[]) => ({ rows: await tx.query(text, values) });
  await queues.boss.insert(consumer, jobs, { db: { executeSql } });
}

function* statementsOf(events: readonly Event[]): Generator<JobInsert[]> {
  let jobs: JobInsert[] = [];
  let characters = 0;
  for (const { job, characters: length } of jobsOf(events)) {
    if (jobs.length === jobsInStatement || (jobs.length > 0 && characters + length > charactersInStatement)) {
      yield jobs;
      jobs = [];
      characters = 0;
    }
    jobs.push(job);
    characters += length;
  }
  if (jobs.length > 0) yield jobs;
}
