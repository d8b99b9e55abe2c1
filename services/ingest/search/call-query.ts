/** What is asked of the catalogue (api.md, section 6). What is empty or null lets every call through. */
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
}

export const EVERYTHING: CallFilter = {
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
};

/** Calls of the same time or score stand in the order of their uuids; calls without a score come last, either way. */
export interface Sort {
  readonly by: 'created_at' | 'start_time' | 'score';
  readonly isDescending: boolean;
}

/** Where a call stands in a sort. */
export interface Place {
  readonly uuid: string;
  readonly startTime: Date;
  /** Tenths, -1 without a score. */
  readonly score: number;
}

export interface Question {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  readonly sort: Sort;
  /** Only what comes behind it. */
  readonly after: Place | null;
  readonly offset: number;
  readonly limit: number;
}

export interface Count {
  readonly count: number;
  readonly isEstimate: boolean;
}

/** Up to so many calls are counted one by one. */
export const COUNTED = 10_000;
/** The same where words are asked for: to know how many have them, each document is visited, and at worst read from disk. */
export const COUNTED_BY_WORDS = 200;
/** As far as one count reads through what matches only in part. */
export const READ_THROUGH = 20_000;
/** A sample that lets expect more than this many times what is counted one by one is taken at its word. */
export const CLEARLY = 2;

/** The lowest and the highest score that match, in tenths; null when any will do, a missing one too. */
export function scoreRange({ scoreMin, scoreMax }: CallFilter): { low: number; high: number } | null {
  if (scoreMin === null && scoreMax === null) return null;
  // Scores have one decimal; what a binary fraction adds behind it is no difference.
  const tenths = (score: number) => Math.round(score * 1e7) / 1e6;
  return { low: Math.ceil(tenths(scoreMin ?? 0)), high: Math.floor(tenths(scoreMax ?? 100)) };
}
