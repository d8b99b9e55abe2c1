import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { type Unreadable, unreadableJob } from '../../delivery/read-event.ts';
import { jobListsOf } from '../../queue/event-batch.ts';
import { insertJobs, removeFailedJobs } from '../../queue/queue-store.ts';
import type { Queues } from '../../queue/queues.ts';

/** Messages of one partition, in order. */
export interface ReadMessages {
  readonly events: Event[];
  readonly unreadable: Unreadable[];
  /** The ids of events that were given up here before. */
  readonly replayed: string[];
}

interface PendingWrite extends ReadMessages {
  readonly written: PromiseWithResolvers<void>;
}

/**
 * Returns a function that resolves when messages are in the inbox. Messages of several partitions that arrive at the same time
 * are written together. Retries while the database does not respond; rejects when `isGivenUp` says that another member reads
 * them now. `sql` must commit synchronously: once the offset is committed, the messages are not read again.
 */
export function createInboxWriter(queues: Queues, sql: Sql, consumer: string, isGivenUp: () => boolean) {
  let pending: PendingWrite[] = [];
  let writing: Promise<void> | undefined;

  const retryUntilAnswered = (statement: () => Promise<void>) => queues.retryUntilAnswered(statement, isGivenUp);

  async function insert(events: readonly Event[]): Promise<void> {
    for (const jobs of jobListsOf(events)) await retryUntilAnswered(() => insertJobs(queues, sql, consumer, jobs));
  }

  async function writeTogether(writes: readonly ReadMessages[]): Promise<void> {
    const unreadable = writes.flatMap((each) => each.unreadable);
    const replayed = writes.flatMap((each) => each.replayed);
    if (replayed.length > 0) await retryUntilAnswered(() => removeFailedJobs(sql, queues.schema, consumer, replayed));
    // The relay may have sent an event twice.
    const events = [...new Map(writes.flatMap((each) => each.events).map((event) => [event.id, event])).values()];
    try {
      await insert(events);
    } catch (error) {
      if (error instanceof Fault) throw error;
      unreadable.push(...(await insertOneByOne(events)));
    }
    if (unreadable.length > 0) {
      const jobs = unreadable.map((each) => unreadableJob(consumer, each));
      await retryUntilAnswered(() => insertJobs(queues, sql, consumer, jobs));
    }
  }

  /** Returns the events that the database refuses, so that they do not hold up the others. */
  async function insertOneByOne(events: readonly Event[]): Promise<Unreadable[]> {
    const refused: Unreadable[] = [];
    for (const event of events) {
      try {
        await insert([event]);
      } catch (error) {
        if (error instanceof Fault) throw error;
        const { message } = error instanceof Error ? error : new Error(String(error));
        refused.push({ why: `The database refuses it: ${message}`, origin: event.id, message: { ...event } });
      }
    }
    return refused;
  }

  async function writeAll(): Promise<void> {
    while (pending.length > 0) {
      const writes = pending;
      pending = [];
      await writeTogether(writes).then(
        () => writes.forEach(({ written }) => written.resolve()),
        (error: unknown) => writes.forEach(({ written }) => written.reject(error)),
      );
    }
    writing = undefined;
  }

  return (messages: ReadMessages): Promise<void> => {
    const written = Promise.withResolvers<void>();
    pending.push({ ...messages, written });
    // The client passes on the partitions of one response one after the other: wait for all of them.
    writing ??= new Promise(setImmediate).then(writeAll);
    return written.promise;
  };
}
