import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@call-analysis/postgres';
import { changesSoFar, countCalls, forget, indexPortion, isBehind, lastChange, noteNewCalls } from './indexer/index-entries.ts';
import { countEntries } from './queries/count-entries.ts';
import { countDocuments, findDocuments, hasWords, wordsOf } from './queries/find-documents.ts';
import { findEntries } from './queries/find-entries.ts';
import type { Count, Place, Question } from './call-query.ts';
import { select } from './queries/resolve-filter.ts';
import { hasTextsWaiting, indexTexts } from './indexer/index-documents.ts';

export interface Found {
  /** In the order of the sort. */
  readonly places: readonly Place[];
  readonly count: Count;
}

const NOTHING: Found = { places: [], count: { count: 0, isEstimate: false } };

/** How long two that index the same firm let each other work. */
const TURN_MS = 5;

/**
 * The index that calls are searched by. What changes in the catalogue is noted in the same transaction, by triggers
 * where a call changes and by `noteNewCalls` where calls come, and taken over in portions.
 */
export function search(db: Database) {
  return {
    noteNewCalls,
    forget,
    wordsOf: (q: string) => wordsOf(db, q),
    hasWords: (firmUuid: string, callUuid: string, words: string) => hasWords(db, firmUuid, callUuid, words),

    /** How many calls, or conversations, the next portion had: of one firm, or of all. */
    indexCalls: (firmUuid: string | null) => indexPortion(db, firmUuid),
    indexTexts: (firmUuid: string | null) => indexTexts(db, firmUuid),
    changesSoFar: () => changesSoFar(db),

    /** Calls of the firm, also those that the index does not know yet. */
    count: (firmUuid: string) => countCalls(db, firmUuid),

    /**
     * Indexes what the firm has committed so far, words too if they are asked for. False when that would have taken
     * longer than `withinMs`.
     */
    async catchUp(firmUuid: string, { words, withinMs }: { words: boolean; withinMs: number }): Promise<boolean> {
      const until = performance.now() + withinMs;
      const last = await lastChange(db, firmUuid);
      const isBehindInCalls = async () => last !== null && isBehind(db, firmUuid, last);
      if (!(await work(isBehindInCalls, () => indexPortion(db, firmUuid), until))) return false;
      return (
        !words ||
        work(
          () => hasTextsWaiting(db, firmUuid),
          () => indexTexts(db, firmUuid),
          until,
        )
      );
    },

    /** `words` as `wordsOf` has them, null when none are asked for. The filter of the question has no partner_call_id. */
    async find(question: Question, words: string | null): Promise<Found> {
      const selection = await select(db, question.firmUuid, question.filter);
      if (selection === null) return NOTHING;
      const { after, offset, limit } = question;
      const places = await (words === null
        ? findEntries(db, question, selection)
        : findDocuments(db, question, selection, words));
      // The last page tells how many there are.
      const isLast = places.length < limit && (places.length > 0 || offset === 0);
      if (isLast && after === null) return { places, count: { count: offset + places.length, isEstimate: false } };
      const { count, isEstimate } = await (words === null
        ? countEntries(db, selection)
        : countDocuments(db, question, selection, words));
      // No sample knows better than what has been found.
      const found = places.length === 0 ? 0 : offset + places.length;
      return { places, count: { count: Math.max(count, found), isEstimate } };
    },
  };
}

/** Portion after portion, as long as something is waiting; false when time was up before that. */
async function work(
  isWaiting: () => Promise<boolean>,
  portion: () => Promise<number>,
  until: number,
): Promise<boolean> {
  while (await isWaiting()) {
    if (performance.now() > until) return false;
    // Somebody else has what is waiting in hand.
    if ((await portion()) === 0) await pause(TURN_MS);
  }
  return true;
}
export { matches } from './matches-filter.ts';
export { EVERYTHING, scoreRange } from './call-query.ts';
export type { CallFilter, Count, Place, Question, Sort } from './call-query.ts';
