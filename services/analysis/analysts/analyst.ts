import type { Analysis, Language, Utterance } from '@call-analysis/events';
import type { Scorecard } from '../scorecards/scorecard.ts';

/** The call as an analyst gets it. Its text is data, never an instruction or a pattern. */
export interface Conversation {
  /** Null when it could not be recognized. The answers are then marked for review. */
  readonly language: Language | null;
  /** Role tags as written in the transcript, in lower case. */
  readonly tags: readonly string[];
  /** The language of the firm: what an analyst writes is in it. Quotes are never translated. */
  readonly firmLanguage: Language;
  /** Whether personal data is replaced in what a language model gets. */
  readonly redactForModel?: boolean;
  readonly segmentType: string;
  /** Null or absent when unknown. Saying it counts as an introduction, and so does the name of the firm. */
  readonly operatorName?: string | null | undefined;
  readonly firmName?: string | null | undefined;
  readonly direction?: 'inbound' | 'outbound' | null | undefined;
  /** ISO 8601. */
  readonly startTime?: string | undefined;
  /** In seconds; null when unknown. */
  readonly duration: number | null;
  readonly utterances: readonly Utterance[];
}

/** An analysis as the analyst makes it. The caller adds the scorecard revision, the analyst and the time. */
export type AnalysisResult = Omit<Analysis, 'scorecard' | 'analyst' | 'created_at'>;

/** Waits until a language model may be asked about one more call. Returns what to call when that has answered. */
export type TakeSlot = () => Promise<() => void>;

/**
 * Answers every question of a scorecard about a conversation, in the order of the scorecard. start.ts chooses the
 * analyst of the service.
 *
 * Quotes are verbatim, at the offsets given with them. Code computes points and totals (scorecards/totals.ts), whatever
 * decides the answers. A conversation without utterances is answered, with a score of null. Rejects with a Fault when
 * the analyst cannot answer.
 */
export interface Analyst {
  readonly name: string;
  /** Changes whenever the analyst might answer the same conversation differently. */
  readonly version: string;
  /** The language model that it asks; null when it asks none. */
  readonly model: string | null;
  /** `takeSlot` is called once, when a request is ready to be sent, and never by an analyst that asks no language model. */
  analyze(
    conversation: Conversation,
    scorecard: Scorecard,
    signal?: AbortSignal,
    takeSlot?: TakeSlot,
  ): Promise<AnalysisResult>;
}
