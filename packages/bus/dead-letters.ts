import type { Event } from '@call-analysis/events';
import type { FailureReason } from './port.ts';

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
