import type { Analysis, Language, Utterance } from '@call-analysis/events';
import type { Scorecard } from '../scorecards/scorecard.ts';

/** What an analyst is given of a call. Its text is data: never instructions, never a pattern. */
export interface Conversation {
  /** Null when nobody could tell; answers are then marked for review. */
  readonly language: Language | null;
  /** Role tags as they were written, lower-case. */
  readonly tags: readonly string[];
  readonly segmentType: string;
  /** Seconds, where known. */
  readonly duration: number | null;
  readonly utterances: readonly Utterance[];
}

/** What an analyst finds; who found it, when and under which revision is added by whoever asked. */
export type Verdict = Omit<Analysis, 'scorecard' | 'analyst' | 'created_at'>;

/**
 * Answers every question of a scorecard about a conversation, in the scorecard's order.
 * Quotes are verbatim at their places; points and totals are added up by code (totals.ts), whoever answers.
 * Rejects with a Fault when it cannot answer; a conversation without utterances is answered, with a score of null.
 */
export interface Analyst {
  readonly name: string;
  /** Changes whenever the same conversation could be answered differently. */
  readonly version: string;
  analyze(conversation: Conversation, scorecard: Scorecard): Promise<Verdict>;
}
