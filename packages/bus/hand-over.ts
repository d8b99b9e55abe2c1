import type { Event } from '@call-analysis/events';
import type { Job, JobResult } from 'pg-boss';
import { type AnyRoute, Poison } from './port.ts';
import type { Queues } from './queues.ts';
import { readEvent, type Routes } from './read-event.ts';
import { reasonOf } from './reason.ts';

interface Held {
  readonly job: Job<unknown>;
  readonly event: Event;
}

/** One handful of a queue on its way through the routes. */
export class HandOver {
  readonly #queues: Queues;
  readonly #consumer: string;
  readonly #routes: Routes;
  readonly #results: JobResult[] = [];

  constructor(queues: Queues, consumer: string, routes: Routes) {
    this.#queues = queues;
    this.#consumer = consumer;
    this.#routes = routes;
  }

  async run(jobs: readonly Job<unknown>[]): Promise<JobResult[]> {
    const byRoute = new Map<AnyRoute, Held[]>();
    for (const job of jobs) {
      const read = readEvent(this.#routes, job.data);
      if ('poison' in read) {
        this.#fail(job, read.poison);
        continue;
      }
      const held = byRoute.get(read.route) ?? [];
      byRoute.set(read.route, held);
      held.push({ job, event: read.event });
    }
    for (const [route, held] of byRoute) {
      // PostgreSQL returns what was taken in any order.
      await this.#handle(
        route,
        held.toSorted((a, b) => a.event.turn - b.event.turn),
      );
    }
    // A failure noted while the database is away would be lost with its reason.
    if (this.#results.some(({ status }) => status !== 'completed')) {
      await this.#queues.insist(() => this.#queues.query('SELECT 1'));
    }
    return this.#results;
  }

  async #handle(route: AnyRoute, held: readonly Held[]): Promise<void> {
    try {
      await route.handle(held.map(({ event }) => event as never));
    } catch (error) {
      const [only] = held;
      if (held.length === 1 && only !== undefined) return this.#fail(only.job, error, only.event);
      for (const each of held) await this.#handle(route, [each]);
      return;
    }
    await this.#complete(held.map(({ job }) => job));
  }

  /**
   * Takes what is done out of the queue: conversations do not outlive their use, and the queue does not grow. The ids
   * are the condition of the index, not a join, which PostgreSQL would answer by reading the whole queue.
   */
  async #complete(jobs: readonly Job<unknown>[]): Promise<void> {
    const { query, insist, schema } = this.#queues;
    const values = [this.#consumer, jobs.map((job) => job.id), jobs.map((job) => job.retryCount)];
    await insist(() =>
      query(
        `DELETE FROM ${schema}.job WHERE name = $1 AND id = ANY($2::uuid[]) AND state = 'active'
            AND retry_count = ($3::int[])[array_position($2::uuid[], id)]`,
        values,
      ),
    );
    for (const { id } of jobs) this.#results.push({ id, status: 'completed' });
  }

  #fail(job: Job<unknown>, error: unknown, event?: Event): void {
    const reason = reasonOf(error, job.retryCount + 1);
    const fields = {
      consumer: this.#consumer,
      event: job.id,
      type: event?.type,
      code: reason.code,
      attempts: reason.attempts,
      err: error,
    };
    if (error instanceof Poison) this.#queues.log.error(fields, 'An event is poison and goes to the dead letters.');
    else this.#queues.log.warn(fields, 'An event could not be handled.');
    this.#results.push({ id: job.id, status: error instanceof Poison ? 'deadletter' : 'failed', output: reason });
  }
}
