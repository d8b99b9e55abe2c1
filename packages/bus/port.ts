import type { Event, EventType } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';

/**
 * Moves facts between services. Three promises, whatever carries them:
 * at least once; one delivery per consumer name; returning acknowledges, throwing delivers again later with
 * back-off and, after a bounded number of tries, puts the event with its reason among the dead letters.
 * Order between events is not promised. Events of a lower turn are delivered before events of a higher one
 * that wait in the same place.
 */
export interface Bus {
  /**
   * Publishes facts when, and only when, the transaction commits. There is no other way to publish.
   * An event id that comes again may be ignored while the first one waits; what is given twice all the same, the
   * consumer's claims know. Events that are published together cost less than as many alone.
   */
  publish(tx: Sql, events: readonly Event[]): Promise<void>;

  /**
   * Receives facts under a consumer's name, from the first time that name subscribes on at the latest: where facts stay
   * with what carries them, a new name also gets those that were told before. Names are data: renaming one loses what
   * waited, and where facts stay it replays them. Resolves when what arrives is handed over; `ready` says whether
   * anything arrives.
   */
  subscribe(subscription: SubscriptionOptions): Promise<Subscription>;

  /**
   * Hears facts as they happen, at most once and only while connected: for caches that may be emptied too often.
   * Every listener hears every fact. Connects in the background when it must; `ready` says whether it is.
   */
  listen(type: EventType, hear: (event: Event) => void): Promise<Subscription>;

  /**
   * Takes out what waits or lies dead of a firm's subject, for every consumer, when the transaction commits; only facts of
   * the type `but`, which tell of the erasure itself, stay. What a consumer has in hand stays until it is done with it,
   * and what is still on its way, or waits at other services, arrives later: handlers tell by `buried` that nothing shall
   * come of it. What carries facts between services may keep them for a time of its own, Kafka as long as its topics do.
   */
  removePending(tx: Sql, firmUuid: string, subject: string, but: EventType): Promise<RemovedEvents>;

  /** Waiting and dead events by consumer name; `outbox` is what waits to leave this service. */
  depths(): Promise<ConsumerDepth[]>;

  /**
   * Resolves when facts travel now, else rejects with Fault UNAVAILABLE naming what does not answer. Publishing works all the
   * same: facts wait.
   */
  ready(): Promise<void>;

  close(): Promise<void>;
}

/** A bus for those who only listen. */
export type Listener = Pick<Bus, 'listen' | 'ready' | 'close'>;

export interface SubscriptionOptions {
  /** Constant, never derived from a file's name. */
  readonly consumer: string;
  readonly routes: readonly AnyRoute[];
  /** Events handed over at once, at most. Default 1. */
  readonly batchSize?: number;
  /** Hand-overs at the same time in this process. Default 1. */
  readonly concurrency?: number;
  /** Tries after the first. Events that were published together may get one more. Default 5. */
  readonly retries?: number;
  /** Seconds before the first retry, doubled for each further one, with jitter. Default 1. */
  readonly retryDelaySeconds?: number;
}

export interface Route<Body> {
  readonly event: EventType<Body>;
  /** Hears what this source tells alone; absent, what anybody tells. A million facts of another's are not even delivered. */
  readonly from?: string;
  /**
   * Handles events that came together. When it throws and there were several, each is tried again by itself at
   * once, so that one bad event cannot hold up its neighbours. Throwing Poison for a single event skips its retries.
   * Bodies have been parsed; a body that does not fit its schema is poison and never gets here.
   */
  handle(events: readonly Event<Body>[]): Promise<void>;
  /**
   * Told once tries are used up, at least once, until it returns. `event.data` is unparsed when the body was at fault.
   * After DISCARD no dead letter is kept: nobody may look into the event any more.
   */
  giveUp?(event: Event, reason: FailureReason): Promise<GiveUpResult>;
}

export const DISCARD = 'unwanted';

/** What giving an event up comes to, beside that it was taken note of. */
export type GiveUpResult = void | typeof DISCARD;

// Handlers are contravariant in their body; a list of routes of different bodies needs the bivariant form.
export type AnyRoute = {
  readonly event: EventType;
  readonly from?: string;
  handle(events: readonly never[]): Promise<void>;
  giveUp?(event: Event, reason: FailureReason): Promise<GiveUpResult>;
};

export interface FailureReason {
  /** What was thrown, in words. */
  readonly message: string;
  /** The code of a Fault or of Poison, else INTERNAL. */
  readonly code: string;
  /** How often it was tried. */
  readonly attempts: number;
}

export interface Subscription {
  /**
   * Takes nothing new and waits for what is in hand, at most `withinMs`; what is in hand after that goes on by itself until
   * the bus is closed, which does not wait for it again. Events go on to arrive for the consumer.
   */
  stop(withinMs?: number): Promise<void>;
}

export interface RemovedEvents {
  /** Events that were taken out, each once for every consumer it waited for. */
  readonly removed: number;
  /** How many hand-overs have one in them: asking again later finds whether they have ended. */
  readonly inProgress: number;
}

export interface ConsumerDepth {
  readonly consumer: string;
  readonly waiting: number;
  readonly active: number;
  readonly dead: number;
  /** How long the oldest of those waiting has been there; null when none waits. */
  readonly oldestSeconds: number | null;
}

/** Thrown by a handler: this event will never work, so do not try again. */
export class Poison extends Error {
  override readonly name = 'Poison';
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Ties a route's handler to its event's body; returns it as it stands. */
export function route<Body>(definition: Route<Body>): AnyRoute {
  return definition as unknown as AnyRoute;
}
