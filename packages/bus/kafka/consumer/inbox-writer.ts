import { setTimeout as pause } from 'node:timers/promises';
import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { removeFailedJobs, insertJobs, statementsOf } from '../../queue/queue-store.ts';
import type { Queues } from '../../queue/queues.ts';
import { unreadableJob, type Unreadable } from '../../delivery/unreadable.ts';

/** What was read of one partition, in order. */
export interface Read {
  readonly events: readonly Event[];
  readonly unreadable: readonly Unreadable[];
  /** Ids of events that died here before. */
  readonly replayed: readonly string[];
}

interface Waiting extends Read {
  readonly written: PromiseWithResolvers<void>;
}

export interface InboxWriter {
  /**
   * Resolves when all of it is in the inbox; what comes from several partitions at once goes in together. Goes on while
   * the database is away; rejects when `given up` says that others read it now.
   */
  write(read: Read): Promise<void>;
}

const againMs = 250;

/** `sql` keeps what it has committed, also in a crash: what is in the inbox is not read again. */
export function createInboxWriter(queues: Queues, sql: Sql, consumer: string, givenUp: () => boolean): InboxWriter {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;

  async function insist(statement: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await statement();
      } catch (error) {
        if (!(error instanceof Fault) || givenUp()) throw error;
        queues.complain(error);
        await pause(againMs);
        if (givenUp()) throw error;
      }
    }
  }

  async function put(reads: readonly Read[]): Promise<void> {
    const unreadable = reads.flatMap((each) => each.unreadable);
    const replayed = reads.flatMap((each) => each.replayed);
    if (replayed.length > 0) await insist(() => removeFailedJobs(sql, queues.schema, consumer, replayed));
    // The same event twice at once is one that was sent twice.
    const events = [...new Map(reads.flatMap((each) => each.events).map((event) => [event.id, event])).values()];
    try {
      for (const jobs of statementsOf(events)) await insist(() => insertJobs(queues, sql, consumer, jobs));
    } catch (error) {
      if (error instanceof Fault) throw error;
      unreadable.push(...(await putOneByOne(events)));
    }
    if (unreadable.length > 0) {
      const jobs = unreadable.map((each) => unreadableJob(consumer, each));
      await insist(() => insertJobs(queues, sql, consumer, jobs));
    }
  }

  /** One event that the database does not take must not hold up the others. */
  async function putOneByOne(events: readonly Event[]): Promise<Unreadable[]> {
    const refused: Unreadable[] = [];
    for (const event of events) {
      try {
        for (const jobs of statementsOf([event])) await insist(() => insertJobs(queues, sql, consumer, jobs));
      } catch (error) {
        if (error instanceof Fault) throw error;
        const { message } = error instanceof Error ? error : new Error(String(error));
        refused.push({ why: `The database does not take it: ${message}`, place: event.id, message: { ...event } });
      }
    }
    return refused;
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      await put(taken).then(
        () => taken.forEach(({ written }) => written.resolve()),
        (error: unknown) => taken.forEach(({ written }) => written.reject(error)),
      );
    }
    writing = undefined;
  }

  return {
    write(read) {
      const written = Promise.withResolvers<void>();
      waiting.push({ ...read, written });
      // Partitions of one answer are handed out one after the other.
      writing ??= new Promise(setImmediate).then(writeAll);
      return written.promise;
    },
  };
}
