import type { Event } from '@call-analysis/events';
import type { FailureReason } from './port.ts';

/** An event that a consumer gave up on. Its body is not shown: bodies hold conversations. */
export interface DeadLetter extends FailureReason {
  /** Of the event. */
  readonly id: string;
  readonly type: string;
  readonly consumer: string;
  readonly subject: string;
  readonly firmUuid: string;
  /** When it was given up. */
  readonly at: Date;
}

/** Which dead letters: those that everything given here is true of. */
export interface DeadLetterFilter {
  readonly ids?: readonly string[];
  readonly consumer?: string;
  readonly type?: string;
  readonly firmUuid?: string;
  readonly code?: string;
}

/** What is done to replay an event. */
export interface ReplayAction {
  /** The event goes once more to the consumer that gave it up, and to no other. */
  readonly redeliver: boolean;
  /** Events to publish to every consumer of theirs. */
  readonly publish: readonly Event[];
}

/** Chooses for an event, its body unparsed, and the consumer that gave it up. Absent, every event goes again. */
export type Choose = (event: Event, consumer: string) => ReplayAction;

export interface Replayed {
  readonly replayed: number;
  /** For how many of them an event was published. */
  readonly published: number;
}

export const REDELIVER: ReplayAction = { redeliver: true, publish: [] };

/** The dead letters of all consumers of one system, for those who administer it. */
export interface DeadLetters {
  /** Newest first. What has been replayed is not among them. */
  list(which: DeadLetterFilter, limit: number): Promise<DeadLetter[]>;
  /** What dies meanwhile, or again, is left for the next time. */
  replay(which: DeadLetterFilter, choose?: Choose): Promise<Replayed>;
  close(): Promise<void>;
}
