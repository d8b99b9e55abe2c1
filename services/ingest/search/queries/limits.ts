/** Counts up to this are exact. */
export const EXACT_COUNT = 10_000;
/** The same for words: counting their matches visits each document, at worst on disk. */
export const EXACT_WORD_COUNT = 200;
/** The most entries that one count reads, and the most that a plan reads before another plan is tried. */
export const MAX_READS = 20_000;
/** An estimate from a small sample is used when it exceeds the limit of exact counts by this factor. */
export const CERTAIN_FACTOR = 2;
