import { type FailureReason, type GiveUpResult, Postponed, route, type SubscriptionOptions } from '@call-analysis/bus';
import type { Event, EventType } from '@call-analysis/events';
import { isOutage } from '@call-analysis/fault';

/** A consumer of a service: which events it takes and what handles them. `Deps` is what the handlers work with. */
export interface Consumer<Deps> {
  /** Names the queue and the consumer group. Constant: a new name loses what waits under the old one. */
  readonly consumer: string;
  /** Events in one delivery, at most. Default 1. */
  readonly batchSize?: number;
  /** Deliveries at the same time in one process. Default 1. */
  readonly concurrency?: number | ((deps: Deps) => number);
  /** Retries after the first failure. Default 5. */
  readonly retries?: number;
  readonly routes: readonly ConsumerRoute<Deps & Registered>[];
}

/** What a handler gets besides the service's dependencies: the name of its consumer, under which it claims events. */
export interface Registered {
  readonly consumer: string;
}

/** One event type of a consumer; made by `consume`. */
export interface ConsumerRoute<Deps> {
  readonly event: EventType;
  bind(deps: Deps): SubscriptionOptions['routes'][number];
}

interface Handlers<Deps, Body> {
  /** Only events that this service publishes are delivered. Absent: events of every publisher. */
  readonly from?: string;
  /** Handles a delivery. Give either `handle` or `each`. */
  handle?(deps: Deps, events: readonly Event<Body>[]): Promise<unknown>;
  /** Handles the events of a delivery in sequence. */
  each?(deps: Deps, event: Event<Body>): Promise<unknown>;
  /** As `Route.giveUp` of the bus. Absent: the event becomes a dead letter and nothing else happens. */
  giveUp?(deps: Deps, event: Event, reason: FailureReason): Promise<GiveUpResult>;
}

/**
 * How a consumer handles one type of event. An event waits while a part is away that its handler needs, which uses up none
 * of its tries.
 */
export function consume<Deps, Body>(event: EventType<Body>, handlers: Handlers<Deps, Body>): ConsumerRoute<Deps> {
  const { from, handle, each, giveUp } = handlers;
  return {
    event,
    bind(deps) {
      const outage = new Outage();
      return route({
        event,
        ...(from !== undefined && { from }),
        async handle(events) {
          try {
            await handle?.(deps, events);
            if (each !== undefined) for (const one of events) await each(deps, one);
          } catch (error) {
            throw outage.postpones(events, error);
          }
          outage.end();
        },
        ...(giveUp !== undefined && { giveUp: (failed, reason) => giveUp(deps, failed, reason) }),
      });
    },
  };
}

const FIRST_PAUSE_MS = 1_000;
/** A part that is back is noticed after this at the latest. */
const LONGEST_PAUSE_MS = 30_000;
const LONGEST_WAIT_MS = 86_400_000;

/** An outage of a part that a route's handlers need, as far as this process sees it. */
class Outage {
  #since: number | undefined;

  end(): void {
    this.#since = undefined;
  }

  /**
   * The error to throw in the place of `error`: Postponed in an outage. After a day an event waits no longer, unless only
   * the outage keeps the consumer from everything: a part that answers others in time has something against this event.
   */
  postpones(events: readonly Event[], error: unknown): unknown {
    const [event] = events;
    // Several events of a delivery are delivered again, each by itself.
    if (!isOutage(error) || event === undefined || events.length > 1) return error;
    const now = Date.now();
    const ageMs = now - Date.parse(event.time);
    const awayMs = now - (this.#since ??= now);
    const isWaiting = ageMs < LONGEST_WAIT_MS || (awayMs > 0 && awayMs < LONGEST_WAIT_MS);
    if (!isWaiting) return error;
    return new Postponed(error.message, Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, ageMs / 4)), error);
  }
}

/** The subscription of a consumer. `retries` overrides the consumer's own. */
export function subscriptionOf<Deps>(
  { consumer, batchSize, concurrency, retries: usual, routes }: Consumer<Deps>,
  deps: Deps,
  retries = usual,
): SubscriptionOptions {
  return {
    consumer,
    routes: routes.map((each) => each.bind({ ...deps, consumer })),
    ...(batchSize !== undefined && { batchSize }),
    ...(concurrency !== undefined && {
      concurrency: typeof concurrency === 'function' ? concurrency(deps) : concurrency,
    }),
    ...(retries !== undefined && { retries }),
  };
}

/** The event types that consumers take, each once: their topics have to exist. */
export function consumedBy(consumers: readonly Consumer<never>[]): EventType[] {
  return [...new Set(consumers.flatMap(({ routes }) => routes.map(({ event }) => event)))];
}
