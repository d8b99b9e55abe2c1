import type { Event } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { Job, JobResult } from 'pg-boss';
import { Began, type Place, unreadable } from './outcome.ts';
import { jobsOf, openParcel, type StoredJob } from '../queue/event-batch.ts';
import { type AnyRoute, Poison } from '../port.ts';
import { insertJobs } from '../queue/queue-store.ts';
import type { Queues } from '../queue/queues.ts';
import { readEvent, type Routes } from './read-event.ts';
import { reasonOf } from './failure-reason.ts';
import { type Delivered, delivered, withCauses } from './trace.ts';

/** How long to go on with what was taken; meanwhile others may have come whose turn is first. */
const patienceMs = 1_000;

/** A job and what becomes of it. */
interface Taken {
  readonly job: Job<unknown>;
  /** As they were published; undefined for an event that travels alone. */
  readonly parcel: readonly Event[] | undefined;
  /** Events without an outcome. A lone one that fails keeps its job, and so remains without. */
  open: number;
  /** Events of a parcel that are to have a job of their own. */
  readonly leaving: Event[];
}

interface Held extends Delivered {
  readonly taken: Taken;
  readonly stored: unknown;
}

/** One handful of a queue on its way through the routes. */
export class HandOver {
  readonly #queues: Queues;
  readonly #consumer: string;
  readonly #routes: Routes;
  readonly #batchSize: number;
  readonly #results: JobResult[] = [];

  constructor(queues: Queues, consumer: string, routes: Routes, batchSize: number) {
    this.#queues = queues;
    this.#consumer = consumer;
    this.#routes = routes;
    this.#batchSize = batchSize;
  }

  /** What it has no result for is untouched. */
  async run(jobs: readonly Job<unknown>[]): Promise<JobResult[]> {
    const until = Date.now() + patienceMs;
    const taken = jobs.map(take);
    // When a worker was lost over a parcel, nobody knows which event it was: each is judged by itself.
    const suspect = taken.filter(({ parcel, job }) => parcel !== undefined && job.retryCount > 0);
    await this.#split(suspect, 1);
    // What does not fit into one hand is for several workers.
    const large = taken.filter((each) => !suspect.includes(each) && each.open > this.#batchSize);
    await this.#split(large, this.#batchSize);
    const ready = taken.filter((each) => !suspect.includes(each) && !large.includes(each));
    for (const hand of handsOf(ready, this.#batchSize)) {
      await this.#handOver(hand);
      if (Date.now() > until) break;
    }
    // A failure noted while the database is away would be lost with its reason.
    if (this.#results.some(({ status }) => status !== 'completed')) {
      await this.#queues.insist(() => this.#queues.query('SELECT 1'));
    }
    return this.#results;
  }

  async #handOver(hand: readonly Taken[]): Promise<void> {
    const byRoute = new Map<AnyRoute, Held[]>();
    const ids = new Set<string>();
    for (const taken of hand) {
      for (const stored of taken.parcel ?? [taken.job.data]) {
        const read = readEvent(this.#routes, stored);
        if ('poison' in read) {
          this.#fail(taken, stored, read.poison);
          continue;
        }
        // Claims tell one hand-over from another, but not two of the same event within one: its twin stands for it.
        if (ids.has(read.event.id)) {
          taken.open -= 1;
          continue;
        }
        ids.add(read.event.id);
        const held = byRoute.get(read.route) ?? [];
        byRoute.set(read.route, held);
        held.push({ taken, stored, ...delivered(read.event) });
      }
    }
    await this.#complete(hand);
    for (const [route, held] of byRoute) await this.#handle(route, held);
  }

  async #handle(route: AnyRoute, held: readonly Held[]): Promise<void> {
    const began = new Began();
    try {
      await withCauses(held, () => route.handle(held.map(({ event }) => event as never)));
      for (const { taken } of held) taken.open -= 1;
      began.done(this.#place, held);
    } catch (error) {
      const [only] = held;
      if (held.length !== 1 || only === undefined) {
        for (const each of held) await this.#handle(route, [each]);
        return;
      }
      this.#fail(only.taken, only.stored, error, { began, held: only });
    }
    await this.#complete(new Set(held.map(({ taken }) => taken)));
  }

  /** Takes jobs out of which every event has its outcome, or will have it in a job of its own. */
  async #complete(taken: Iterable<Taken>): Promise<void> {
    const done = [...taken].filter(({ open }) => open === 0);
    await this.#replace(
      done,
      done.flatMap(({ leaving }) => [...jobsOf(leaving, 1)]),
    );
  }

  async #split(parcels: readonly Taken[], most: number): Promise<void> {
    await this.#replace(
      parcels,
      parcels.flatMap(({ parcel = [] }) => [...jobsOf(parcel, most)]),
    );
  }

  /**
   * Takes jobs out of the queue with the transaction that puts others in their place.
   * What is done does not stay: conversations do not outlive their use, and the queue does not grow. The ids
   * are the condition of the index, not a join, which PostgreSQL would answer by reading the whole queue.
   */
  async #replace(taken: readonly Taken[], by: readonly StoredJob[]): Promise<void> {
    if (taken.length === 0) return;
    const { query, transaction, insist, schema } = this.#queues;
    const jobs = [...new Map(by.map(({ job }) => [job.id, job])).values()];
    const remove = `DELETE FROM ${schema}.job WHERE name = $1 AND id = ANY($2::uuid[]) AND state = 'active'
      AND retry_count = ($3::int[])[array_position($2::uuid[], id)]`;
    const removed = [this.#consumer, taken.map(({ job }) => job.id), taken.map(({ job }) => job.retryCount)];
    const replace = async (tx: Sql) => {
      await insertJobs(this.#queues, tx, this.#consumer, jobs);
      await tx.query(remove, removed);
    };
    await insist<unknown>(() => (jobs.length === 0 ? query(remove, removed) : transaction(replace)));
    for (const { job } of taken) this.#results.push({ id: job.id, status: 'completed' });
  }

  get #place(): Place {
    const { log, name } = this.#queues;
    return { log, name, consumer: this.#consumer };
  }

  #fail(taken: Taken, stored: unknown, error: unknown, tried?: { began: Began; held: Held }): void {
    const { job, parcel } = taken;
    if (parcel !== undefined) {
      taken.leaving.push(stored as Event);
      taken.open -= 1;
      return;
    }
    const reason = reasonOf(error, job.retryCount + 1);
    const isDead = error instanceof Poison;
    if (tried === undefined) unreadable(this.#place, job.id, reason, error);
    else tried.began.failed(this.#place, tried.held, reason, isDead, error);
    this.#results.push({ id: job.id, status: isDead ? 'deadletter' : 'failed', output: reason });
  }
}

function take(job: Job<unknown>): Taken {
  const parcel = openParcel(job.data);
  return { job, parcel, open: parcel?.length ?? 1, leaving: [] };
}

/** Handfuls of at most so many events, lower turns first: PostgreSQL returns what was taken in any order. */
function* handsOf(taken: readonly Taken[], batchSize: number): Generator<Taken[]> {
  let hand: Taken[] = [];
  let events = 0;
  for (const each of taken.toSorted((a, b) => priorityOf(a) - priorityOf(b))) {
    if (events + each.open > batchSize) {
      yield hand;
      hand = [];
      events = 0;
    }
    hand.push(each);
    events += each.open;
  }
  if (hand.length > 0) yield hand;
}

function priorityOf({ job, parcel: [first] = [] }: Taken): number {
  if (first !== undefined) return first.priority;
  const { turn } = Object(job.data) as { turn?: unknown };
  return typeof turn === 'number' ? turn : 0;
}
