import type { Event, EventType } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';

/**
 * Moves events between services. Every transport keeps the promises below; the suite in `contract/` tests them.
 *
 * - **Publishing** is part of a database transaction. The events exist if, and only if, the transaction commits.
 * - **Delivery** is at least once, to every consumer of the event's type. A consumer is a name; processes that subscribe
 *   under the same name share its events.
 * - **Acknowledging** is returning: when `handle` returns, the events it was given are done.
 * - **Retrying** follows throwing: the event is delivered again later, after growing pauses, a bounded number of times.
 *   A consumer whose process dies loses its lease, and another process gets the event.
 * - **Poison** is an event that can never succeed. A handler says so by throwing `Poison`, which skips the retries.
 * - **Postponing** is for an event that has to wait for something that is away. A handler says so by throwing `Postponed`:
 *   the event is delivered again after the pause that it names, and the attempt does not count.
 * - **Dead letters** are the events that a consumer gave up: poison, or out of retries. Each is kept with the reason, and
 *   can be listed and replayed (`dead-letters.ts`).
 * - **Priority** is a number on the event, lower first. Among the events that wait for a consumer, those of a lower
 *   priority are delivered first.
 * - **Order** is not promised otherwise: events may arrive late, repeatedly and in any order.
 *
 * Because delivery can repeat, a handler stores its result by `once` (`claim.ts`), which claims the event's id in the
 * same transaction. The claim succeeds once for each consumer and event:
 *
 *     async handle([event]) {
 *       const result = await slowWork(event.data);                      // may repeat
 *       await once({ db, consumer }, [event], async (tx) => {
 *         await saveResult(tx, result);
 *         await bus.publish(tx, [createEvent('reports', ReportReady, event.subject, event, result)]);
 *       });
 *     }
 */
export interface Bus {
  /**
   * Publishes events when, and only when, the transaction commits. There is no other way to publish.
   * While an event waits, another with the same id may be dropped. Publishing many events in one call costs less than
   * publishing each alone.
   */
  publish(tx: Sql, events: readonly Event[]): Promise<void>;

  /**
   * Delivers events to a consumer. The consumer's name gets every event published after its first subscription, also
   * while no process is subscribed. A transport that keeps a history also delivers the events from before.
   * A name is data: a renamed consumer loses its waiting events, or replays the history if the transport keeps one.
   * Resolves when the events that arrive are delivered; `ready` says whether any can arrive.
   */
  subscribe(subscription: SubscriptionOptions): Promise<Subscription>;

  /**
   * Calls `onEvent` for events as they are published: at most once, and only while connected. Every listener gets every
   * event. Meant for caches that lose nothing by being emptied too often. May connect in the background; `ready` says
   * whether it is connected.
   */
  listen(type: EventType, onEvent: (event: Event) => void): Promise<Subscription>;

  /**
   * When the transaction commits, removes a firm's events about the subject that wait or are dead letters, for every
   * consumer. Events of the types `except` stay: those that announce the removal itself, and those that must outlast it.
   * Events that are being handled stay until they are done. Events that are on their way, or wait at other services, still arrive, so handlers must know which
   * subjects were removed. A transport's own history may keep them for its retention period.
   */
  removePending(tx: Sql, firmUuid: string, subject: string, except: readonly EventType[]): Promise<RemovedEvents>;

  /**
   * As `removePending`, for all events of a firm, except those of some types. A call removes
   * `limit` events or a little more; call it until nothing is left.
   */
  removePendingOfFirm(tx: Sql, firmUuid: string, except: readonly EventType[], limit: number): Promise<RemovedEvents>;

  /** Counts of waiting, active and dead events for each consumer; `outbox` counts events that wait to leave this service. */
  depths(): Promise<ConsumerDepth[]>;

  /**
   * Resolves while events travel; otherwise rejects with Fault UNAVAILABLE that names what does not answer. Publishing
   * works either way: events wait until they can travel.
   */
  ready(): Promise<void>;

  /** Stops every subscription and listener. Events that are still being handled after a while are delivered again later. */
  close(): Promise<void>;
}

/** A bus for processes that only listen. */
export type Listener = Pick<Bus, 'listen' | 'ready' | 'close'>;

export interface SubscriptionOptions {
  /** Lower-case letters, digits, dots and hyphens. A constant: never derive it from a file's name. */
  readonly consumer: string;
  /** At most one for each event type. */
  readonly routes: readonly AnyRoute[];
  /** The most events in one delivery. Default 1. */
  readonly batchSize?: number;
  /** The most deliveries at the same time in this process. Default 1. */
  readonly concurrency?: number;
  /** Attempts after the first. Events that were published together may get one more. Default 5. */
  readonly retries?: number;
  /** Seconds before the first retry. Doubles for each further retry, with jitter. Default 1. */
  readonly retryDelaySeconds?: number;
}

interface Route<Body> {
  readonly event: EventType<Body>;
  /** Only events from this source; default from every source. Other events are not delivered at all, which costs nothing. */
  readonly from?: string;
  /**
   * Handles the events of one delivery. Their bodies fit the schema; an event whose body does not is poison and never gets
   * here. When a delivery of several events fails, each is delivered again immediately by itself, so that one bad event
   * does not hold up the others. Only a failure of a single event counts as an attempt.
   */
  handle(events: readonly Event<Body>[]): Promise<void>;
  /**
   * Called when the event is given up: at least once, until it returns. `event.data` is unparsed if it does not fit the
   * schema. Returning DISCARD keeps no dead letter, for an event that no one may read any more.
   */
  giveUp?(event: Event, reason: FailureReason): Promise<GiveUpResult>;
}

export const DISCARD = 'unwanted';

/** Returned by `giveUp`: nothing to keep the dead letter, or DISCARD. */
export type GiveUpResult = void | typeof DISCARD;

// Handlers are contravariant in their body; a list of routes of different bodies needs the bivariant form.
export type AnyRoute = Omit<Route<never>, 'event'> & { readonly event: EventType };

/** Why an event was given up. */
export interface FailureReason {
  /** The message of the error that was thrown last. */
  readonly message: string;
  /** The code of the Fault or Poison that was thrown, otherwise INTERNAL. */
  readonly code: string;
  /** How many attempts there were. */
  readonly attempts: number;
}

export interface Subscription {
  /**
   * Takes no new events and waits for running handlers, at most `withinMs`. Handlers that run longer go on until the bus
   * is closed, which does not wait for them again. New events wait for the consumer's next subscription.
   */
  stop(withinMs?: number): Promise<void>;
}

export interface RemovedEvents {
  /** The number of removed events, counted once for each consumer. */
  readonly removed: number;
  /** The number of running deliveries that hold such an event. Call again later to see whether they have ended. */
  readonly inProgress: number;
}

export interface ConsumerDepth {
  readonly consumer: string;
  readonly waiting: number;
  /** Being handled. */
  readonly active: number;
  /** Dead letters. */
  readonly dead: number;
  /** The age of the oldest waiting event; null when none waits. */
  readonly oldestSeconds: number | null;
}

/** Thrown by a handler for an event that can never succeed: it becomes a dead letter without further attempts. */
export class Poison extends Error {
  override readonly name = 'Poison';
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Thrown by a handler for an event that has to wait: it is delivered again after the pause, and the attempt does not count. */
export class Postponed extends Error {
  override readonly name = 'Postponed';
  readonly pauseMs: number;

  /** The message is for the log: what the event waits for. */
  constructor(message: string, pauseMs: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.pauseMs = pauseMs;
  }
}

/** Checks a route's handler against its event's body; returns the route unchanged. */
export function route<Body>(definition: Route<Body>): AnyRoute {
  return definition as unknown as AnyRoute;
}

/** An event that a consumer gave up. Its body is not included: bodies hold conversations. */
export interface DeadLetter extends FailureReason {
  /** The event's id. */
  readonly id: string;
  readonly type: string;
  readonly consumer: string;
  readonly subject: string;
  readonly firmUuid: string;
  /** When it was given up. */
  readonly at: Date;
}

/** Selects the dead letters that match every given property. */
export interface DeadLetterFilter {
  readonly ids?: readonly string[];
  readonly consumer?: string;
  readonly type?: string;
  readonly firmUuid?: string;
  readonly code?: string;
}

/** How a dead letter is replayed. */
export interface ReplayAction {
  /** Deliver the event again, only to the consumer that gave it up. */
  readonly redeliver: boolean;
  /** Publish these events to all their consumers. */
  readonly publish: readonly Event[];
}

/** Chooses the action for an event, whose body is unparsed, and the consumer that gave it up. */
export type ChooseReplayAction = (event: Event, consumer: string) => ReplayAction;

export interface ReplayResult {
  readonly replayed: number;
  /** The number of dead letters in place of which events were published. */
  readonly published: number;
}

export const REDELIVER: ReplayAction = { redeliver: true, publish: [] };

/** The dead letters of all consumers of a system, for its administrators. */
export interface DeadLetters {
  /** Newest first. Dead letters that were replayed are not listed. */
  list(filter: DeadLetterFilter, limit: number): Promise<DeadLetter[]>;
  /**
   * Replays dead letters and removes them from the list. `choose` defaults to REDELIVER. Events that become dead
   * letters during the replay, for the first time or again, are left for the next one.
   */
  replay(filter: DeadLetterFilter, choose?: ChooseReplayAction): Promise<ReplayResult>;
  close(): Promise<void>;
}
