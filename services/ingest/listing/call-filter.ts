import type { ReviewStatus } from '@call-analysis/api/call-query';
import type { z } from 'zod';

/** The filters of a list (docs/api.md, "Calls"). An empty or null field matches every call. */
export interface CallFilter {
  readonly status: readonly string[];
  readonly outcome: readonly string[];
  readonly segmentType: readonly string[];
  readonly direction: readonly string[];
  readonly operatorName: string | null;
  readonly operatorGroupName: string | null;
  readonly partnerCallId: string | null;
  readonly batch: string | null;
  readonly campaign: string | null;
  readonly source: string | null;
  /** Inclusive. */
  readonly startedFrom: Date | null;
  /** Exclusive. */
  readonly startedTo: Date | null;
  readonly scoreMin: number | null;
  readonly scoreMax: number | null;
  readonly q: string | null;
  /** Whether an answer needs a review. */
  readonly needsReview: boolean | null;
  readonly reviewed: boolean | null;
  readonly operatorId: string | null;
  readonly clientPhoneNumber: string | null;
  readonly language: string | null;
  readonly topic: string | null;
  readonly resolution: string | null;
  readonly autoFailed: boolean | null;
  /** The uuid of a question that lost the call points. */
  readonly lostPoints: string | null;
  /** Seconds, inclusive. */
  readonly durationMin: number | null;
  readonly durationMax: number | null;
  /** The user whose task the review is. */
  readonly assignedTo: string | null;
  /** The user who has changed the review of the current analysis last. */
  readonly reviewedBy: string | null;
  readonly reviewStatus: readonly z.infer<typeof ReviewStatus>[];
  readonly autoFailSuspected: boolean | null;
  /** Calls with one of these operator ids, so none where there are none: what an OPERATOR sees. Null: all calls. */
  readonly seenOperators: readonly string[] | null;
}

export const NO_FILTER: CallFilter = {
  status: [],
  outcome: [],
  segmentType: [],
  direction: [],
  operatorName: null,
  operatorGroupName: null,
  partnerCallId: null,
  batch: null,
  campaign: null,
  source: null,
  startedFrom: null,
  startedTo: null,
  scoreMin: null,
  scoreMax: null,
  q: null,
  needsReview: null,
  reviewed: null,
  operatorId: null,
  clientPhoneNumber: null,
  language: null,
  topic: null,
  resolution: null,
  autoFailed: null,
  lostPoints: null,
  durationMin: null,
  durationMax: null,
  assignedTo: null,
  reviewedBy: null,
  reviewStatus: [],
  autoFailSuspected: null,
  seenOperators: null,
};

/** A filter that was stored as JSON: times are text, and what later releases have added is missing. */
export function storedFilter(stored: Partial<CallFilter>): CallFilter {
  const time = (text: Date | null | undefined) => (text ? new Date(text) : null);
  const { startedFrom, startedTo } = stored;
  return { ...NO_FILTER, ...stored, startedFrom: time(startedFrom), startedTo: time(startedTo) };
}

/**
 * Calls with the same time or score are ordered by uuid. Calls without a score come last in both directions. Uuids
 * begin with the creation time, so `created_at` is the order of uuids.
 */
export interface Sort {
  readonly by: 'created_at' | 'start_time' | 'score';
  readonly isDescending: boolean;
}

/** The position of a call in every sort order. */
export interface Position {
  readonly uuid: string;
  readonly startTime: Date;
  /** Tenths; -1 without a score. */
  readonly score: number;
}

export interface CallQuery {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  readonly sort: Sort;
  /** Only calls after this position; null starts at the first. */
  readonly after: Position | null;
  readonly offset: number;
  readonly limit: number;
}

export interface Count {
  readonly count: number;
  readonly isEstimate: boolean;
}

/** Durations are compared in whole milliseconds. */
export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

/** The lowest and the highest matching score in tenths; null when the filter matches any score, and none. */
export function scoreRange({ scoreMin, scoreMax }: CallFilter): { low: number; high: number } | null {
  if (scoreMin === null && scoreMax === null) return null;
  // Scores have one decimal. Rounding removes the error of binary fractions.
  const tenths = (score: number) => Math.round(score * 1e7) / 1e6;
  return { low: Math.ceil(tenths(scoreMin ?? 0)), high: Math.floor(tenths(scoreMax ?? 100)) };
}
