import { type Event, fromWire, type WireEvent } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { Job, JobResult } from 'pg-boss';
import { type AnyRoute, Poison, Postponed } from '../port.ts';
import { jobsOf, listsOf, type NewJob, readBatch } from '../queue/event-batch.ts';
import { insertJobs, removeJobs, returnJobs } from '../queue/queue-store.ts';
import type { Queues } from '../queue/queues.ts';
import { reasonOf } from './give-up.ts';
import { type ConsumerInfo, type HandlerCall, logUnreadable, startHandlerCall } from './outcome.ts';
import { readEvent, type Routes } from './read-event.ts';
import { inContextOf, traced, type TracedEvent } from './trace.ts';

/** How long to go on with fetched jobs. Events of a lower priority may have arrived meanwhile. */
const DELIVER_FOR_MS = 1_000;

/** A job that a worker has fetched, and how far it is. */
interface FetchedJob {
  readonly job: Job<unknown>;
  /** The stored events of a batch; undefined for a single event. */
  readonly batch: readonly WireEvent[] | undefined;
  /** The number of events without an outcome. A single event that fails keeps its job, and so stays without one. */
  pending: number;
  /** Events of a batch that are to get jobs of their own. */
  readonly separated: Event[];
}

interface FetchedEvent extends TracedEvent {
  readonly fetched: FetchedJob;
  readonly stored: unknown;
}

/** A consumer whose jobs are delivered. */
interface Receiver {
  readonly queues: Queues;
  readonly consumer: string;
  readonly routes: Routes;
  /** The most events in one delivery. */
  readonly batchSize: number;
}

/**
 * Delivers the jobs that one worker has fetched to the consumer's routes. Returns the jobs' results. A job without a result was
 * not touched.
 */
export async function deliver(
  { queues, consumer, routes, batchSize }: Receiver,
  jobs: readonly Job<unknown>[],
): Promise<JobResult[]> {
  const results: JobResult[] = [];
  const info: ConsumerInfo = { log: queues.log, name: queues.name, consumer };
  const until = Date.now() + DELIVER_FOR_MS;
  const fetched = jobs.map(fetchedJob);
  // When a worker was lost while it handled a batch, any event may be the cause: each gets its own attempts.
  const suspect = fetched.filter(({ batch, job }) => batch !== undefined && job.retryCount > 0);
  await split(suspect, 1);
  // A batch that is larger than one delivery is split, so that several workers share it.
  const large = fetched.filter((each) => !suspect.includes(each) && each.pending > batchSize);
  await split(large, batchSize);
  const ready = fetched.filter((each) => !suspect.includes(each) && !large.includes(each));
  // Lower priorities first: PostgreSQL returns fetched jobs in any order.
  const sorted = ready.toSorted((a, b) => priorityOf(a) - priorityOf(b));
  for (const group of listsOf(sorted, { sizeOf: ({ pending }) => pending, total: batchSize })) {
    await deliverGroup(group);
    if (Date.now() > until) break;
  }
  // pg-boss would lose a failure and its reason if it reported it while the database does not respond.
  if (results.some(({ status }) => status !== 'completed')) {
    await queues.retryUntilAnswered(() => queues.query('SELECT 1'));
  }
  return results;

  async function deliverGroup(group: readonly FetchedJob[]): Promise<void> {
    const byRoute = new Map<AnyRoute, FetchedEvent[]>();
    const ids = new Set<string>();
    for (const fetched of group) {
      for (const stored of fetched.batch ?? [fetched.job.data]) {
        const read = readEvent(routes, stored);
        if ('poison' in read) {
          fail(fetched, stored, read.poison);
          continue;
        }
        // Claims reject an event in a later delivery, but not its duplicate within the same one.
        if (ids.has(read.event.id)) {
          fetched.pending -= 1;
          continue;
        }
        ids.add(read.event.id);
        const events = byRoute.get(read.route) ?? [];
        byRoute.set(read.route, events);
        events.push({ fetched, stored, ...traced(read.event) });
      }
    }
    await complete(group);
    for (const [route, events] of byRoute) await handle(route, events);
  }

  async function handle(route: AnyRoute, events: readonly FetchedEvent[]): Promise<void> {
    const call = startHandlerCall(info, route.event);
    try {
      await inContextOf(events, () => route.handle(events.map(({ event }) => event as never)));
      for (const { fetched } of events) fetched.pending -= 1;
      call.succeeded(events);
    } catch (error) {
      const [only] = events;
      if (events.length !== 1 || only === undefined) {
        for (const each of events) await handle(route, [each]);
        return;
      }
      if (error instanceof Postponed && only.fetched.batch === undefined) await postpone(only, call, error);
      else fail(only.fetched, only.stored, error, { call, event: only });
    }
    await complete(new Set(events.map(({ fetched }) => fetched)));
  }

  /** Removes the jobs of which every event has its outcome, or gets it in a job of its own. */
  async function complete(fetched: Iterable<FetchedJob>): Promise<void> {
    const done = [...fetched].filter(({ pending }) => pending === 0);
    await replace(
      done,
      done.flatMap(({ separated }) => [...jobsOf(separated, 1)]),
    );
  }

  async function split(batches: readonly FetchedJob[], most: number): Promise<void> {
    await replace(
      batches,
      batches.flatMap(({ batch = [] }) => [...jobsOf(batch.map(fromWire), most)]),
    );
  }

  /** Removes jobs from the queue in the same transaction that inserts others in their place. */
  async function replace(fetched: readonly FetchedJob[], by: readonly NewJob[]): Promise<void> {
    if (fetched.length === 0) return;
    const inserted = [...new Map(by.map(({ job }) => [job.id, job])).values()];
    const removed = fetched.map(({ job }) => job);
    const remove = (sql: Sql) => removeJobs(queues, sql, consumer, removed);
    const insertAndRemove = async (tx: Sql) => {
      await insertJobs(queues, tx, consumer, inserted);
      await remove(tx);
    };
    await queues.retryUntilAnswered<unknown>(() =>
      inserted.length === 0 ? remove(queues) : queues.transaction(insertAndRemove),
    );
    for (const { id } of removed) results.push({ id, status: 'completed' });
  }

  async function postpone(
    { fetched: { job }, ...event }: FetchedEvent,
    call: HandlerCall,
    error: Postponed,
  ): Promise<void> {
    call.postponed(event, error);
    await queues.retryUntilAnswered(() => returnJobs(queues, consumer, [job], error.pauseMs));
    // It is no longer active, so this changes nothing but that the worker is done with it.
    results.push({ id: job.id, status: 'completed' });
  }

  /** `attempt` is undefined for an event that could not be read. */
  function fail(
    fetched: FetchedJob,
    stored: unknown,
    error: unknown,
    attempt?: { call: HandlerCall; event: FetchedEvent },
  ): void {
    const { job, batch } = fetched;
    if (batch !== undefined) {
      fetched.separated.push(fromWire(stored as WireEvent));
      fetched.pending -= 1;
      return;
    }
    const reason = reasonOf(error, job.retryCount + 1);
    if (attempt === undefined) logUnreadable(info, job.id, reason, error);
    else attempt.call.failed(attempt.event, reason, error);
    results.push({ id: job.id, status: error instanceof Poison ? 'deadletter' : 'failed', output: reason });
  }
}

function fetchedJob(job: Job<unknown>): FetchedJob {
  const batch = readBatch(job.data);
  return { job, batch, pending: batch?.length ?? 1, separated: [] };
}

function priorityOf({ job, batch: [first] = [] }: FetchedJob): number {
  if (first !== undefined) return first.turn;
  const { turn } = Object(job.data) as { turn?: unknown };
  return typeof turn === 'number' ? turn : 0;
}
