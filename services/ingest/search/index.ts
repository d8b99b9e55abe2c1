import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@call-analysis/postgres';
import type { CallFilter, CallQuery, Page, Position } from './call-query.ts';
import { indexDocuments } from './indexer/index-documents.ts';
import {
  backfillEntries,
  indexEntries,
  removeCall,
  settleEntries,
  type StoredAnalyses,
} from './indexer/index-entries.ts';
import {
  changesSoFar,
  hasBackfill,
  hasPending,
  hasPendingDocuments,
  isFarBehind,
  isPending,
  isStale,
  lastChange,
  noteNewCalls,
} from './indexer/pending-changes.ts';
import { countCalls } from './queries/count-calls.ts';
import { countEntries } from './queries/count-entries.ts';
import { countPending } from './queries/count-pending.ts';
import { countDocuments, findDocuments, hasWords, parseWords } from './queries/find-documents.ts';
import { findEntries, matchesEntry } from './queries/find-entries.ts';
import { resolveFilter } from './queries/resolve-filter.ts';

/*
 * The search index of the call catalogue: an inverted index in tables of its own. Uploads write only the `call` table,
 * and the index follows within moments. Its tables and their columns keep the names they were created with.
 *
 * Tables
 * - `facet`        One row for each value that calls of a firm share (an operator, a day, a status with its outcome):
 *                  an integer id and the facet count, the number of indexed calls with the value. The facet of kind
 *                  `all` stands for the firm.
 * - `call_search`  One entry for each call: facet ids, start time and score. Every facet column has a B-tree index on
 *                  (firm, facet, uuid): a posting list for each value, in the order of creation. The indexes include
 *                  the other columns, so that most filters read no table rows.
 *                  The columns from `tags` on come from the current analysis: `tags` holds ids of further facets under
 * one
 *                  GIN index, the others are what statistics/ adds up.
 * - `call_search_new` Entries of calls that have not changed since they were accepted. It inherits from `call_search`,
 *   whose
 *                  queries read both, and a call is in one of them. It has two indexes instead of twelve, so that a
 * large
 *                  upload is indexed within moments. Its calls leave it when they change or, in the background, when
 *                  nothing else is pending.
 * - `call_points`  The points of each answered question, for statistics by question.
 * - `call_backfill` Calls whose entries were written before a column existed.
 * - `call_text`    One document for each transcript: its words as a tsvector with a GIN index. Tags, words that begin
 *                  with `#`, hold the document's language and the facets that never change. Column `shelf` is the
 *                  facet id of the document's block: about 32,000 documents with consecutive uuids.
 * - `call_change`  The queue of calls to index: single calls, or all new calls between two uuids.
 * - `text_change`  The queue of documents to index. A row is `ripe` when the language of the call is settled.
 * - `cursor_key`   The key that signs the cursors of listings.
 *
 * What writes the queues
 * - Triggers on `call` (after UPDATE and DELETE) and on `transcript` (after INSERT and UPDATE) add to `call_change`, in
 *   the transaction of the change. So no code that changes calls can forget the index.
 * - New calls are added by `noteNewCalls`, one row for a whole batch: a trigger would cost time for each uploaded row.
 * - The indexer adds to `text_change` when a call's words or language are new.
 *
 * The indexer (indexer/)
 * `indexEntries` takes pending calls and updates entries and facet counts; `indexDocuments` does the same for words.
 * Each run is a short transaction that also removes what it took from the queue, so a crash only repeats work. An
 * advisory lock admits one writer at a time. `runIndexer` runs both in the background. While little is pending,
 * `catchUp` runs them for one firm before a listing, which therefore shows everything committed before it. While much
 * is pending, a listing shows what the index says, but waits for changes that are older than a few seconds (`refresh`).
 *
 * Queries (queries/)
 * A filter is resolved to facet ids (`resolveFilter`). Without words, `plansFor` chooses how to read the posting lists
 * from the facet counts, because PostgreSQL has no statistics for single firms. With words, documents are searched
 * block by block, newest first, until the page is full. A query returns positions; listing/ reads the calls themselves.
 *
 * Counts
 * - No filter, one filter, or whole days: the facet count is the exact answer.
 * - Several filters: exact if the shortest posting list has at most 20,000 entries. Otherwise an estimate: entries are
 *   sampled at 16 positions of that list, and the share that matches is scaled up to its length.
 * - Words: an estimate from the newest 8 blocks, scaled up to all blocks, if it exceeds 400. Otherwise matches are
 *   counted one by one, up to 20,000.
 * - The last page of a listing knows the exact count, and no count is lower than the calls already shown.
 */

const NO_RESULTS: Page = { positions: [], count: { count: 0, isEstimate: false } };

/** How long to wait for another process that is indexing. */
const WAIT_MS = 5;

export function search(db: Database, analyses: StoredAnalyses) {
  const indexEntriesOf = (firmUuid: string | null) => indexEntries(db, analyses, firmUuid);

  return {
    noteNewCalls,
    removeCall,
    parseWords: (q: string) => parseWords(db, q),
    hasWords: (firmUuid: string, callUuid: string, words: string) => hasWords(db, firmUuid, callUuid, words),

    /** Index the next calls or documents, of one firm or of all, and return how many there were. */
    indexEntries: indexEntriesOf,
    indexDocuments: (firmUuid: string | null) => indexDocuments(db, firmUuid),
    settleEntries: (firmUuid: string | null, before: string | null) => settleEntries(db, analyses, firmUuid, before),
    backfillEntries: () => backfillEntries(db, analyses),
    hasBackfill: (firmUuid: string) => hasBackfill(db, firmUuid),
    changesSoFar: () => changesSoFar(db),
    hasPending: () => hasPending(db),

    /** How many calls the firm has, pending ones included. */
    count: (firmUuid: string) => countCalls(db, firmUuid),

    /**
     * Indexes what the firm has committed so far, documents only if `words` is true. Returns false when that takes
     * longer than `withinMs`.
     */
    async catchUp(firmUuid: string, { words, withinMs }: { words: boolean; withinMs: number }): Promise<boolean> {
      const deadline = performance.now() + withinMs;
      const last = await lastChange(db, firmUuid);
      const hasPendingEntries = async () => last !== null && isPending(db, firmUuid, last);
      if (!(await repeat(hasPendingEntries, () => indexEntriesOf(firmUuid), deadline))) return false;
      return (
        !words ||
        repeat(
          () => hasPendingDocuments(db, firmUuid),
          async () => (await settleEntries(db, analyses, firmUuid, null)) + (await indexDocuments(db, firmUuid)),
          deadline,
        )
      );
    },

    /**
     * Indexes what the firm committed longer ago than `olderThanMs`. Returns false when that takes longer than
     * `withinMs`.
     */
    refresh(firmUuid: string, { olderThanMs, withinMs }: { olderThanMs: number; withinMs: number }): Promise<boolean> {
      return repeat(
        () => isStale(db, firmUuid, olderThanMs),
        () => indexEntriesOf(firmUuid),
        performance.now() + withinMs,
      );
    },

    /** The filter as ids of facets, words and partner_call_id excepted; null when no call can match. */
    resolve: (firmUuid: string, filter: CallFilter) => resolveFilter(db, firmUuid, filter),

    /** Whether the entry of one call matches the filter, words and partner_call_id excepted. */
    async matches(firmUuid: string, callUuid: string, given: CallFilter): Promise<boolean> {
      const filter = await resolveFilter(db, firmUuid, given);
      return filter !== null && matchesEntry(db, filter, callUuid);
    },

    /** Whether too much is pending for a listing to wait until the firm is indexed. */
    isFarBehind: (firmUuid: string) => isFarBehind(db, firmUuid),

    /** By how many calls the count of `find` differs from the catalogue, because changes are pending. */
    async countPending(firmUuid: string, filter: CallFilter): Promise<number> {
      return countPending(db, firmUuid, filter, await resolveFilter(db, firmUuid, filter));
    },

    /** As `find`, without counting what matches. */
    async positions(query: CallQuery, words: string | null): Promise<readonly Position[]> {
      const filter = await resolveFilter(db, query.firmUuid, query.filter);
      if (filter === null) return [];
      return words === null ? findEntries(db, query, filter) : findDocuments(db, query, filter, words);
    },

    /** `words` is a result of `parseWords`; null searches no words. The filter must have no partner_call_id. */
    async find(query: CallQuery, words: string | null): Promise<Page> {
      const filter = await resolveFilter(db, query.firmUuid, query.filter);
      if (filter === null) return NO_RESULTS;
      const { after, offset, limit } = query;
      const positions = await (words === null
        ? findEntries(db, query, filter)
        : findDocuments(db, query, filter, words));
      // The last page gives the exact count.
      const isLast = positions.length < limit && (positions.length > 0 || offset === 0);
      if (isLast && after === null)
        return { positions, count: { count: offset + positions.length, isEstimate: false } };
      const { count, isEstimate } = await (words === null
        ? countEntries(db, filter)
        : countDocuments(db, query, filter, words));
      // An estimate must not be lower than what was found.
      const found = positions.length === 0 ? 0 : offset + positions.length;
      return { positions, count: { count: Math.max(count, found), isEstimate } };
    },
  };
}

/** Runs `work` while something is pending. Returns false when the deadline passes first. */
async function repeat(
  isPendingNow: () => Promise<boolean>,
  work: () => Promise<number>,
  deadline: number,
): Promise<boolean> {
  while (await isPendingNow()) {
    if (performance.now() > deadline) return false;
    // Another process is indexing the pending changes.
    if ((await work()) === 0) await pause(WAIT_MS);
  }
  return true;
}

export { needsIndex, NO_FILTER, scoreRange } from './call-query.ts';
export type { CallFilter, CallQuery, Count, Page, Position, Sort } from './call-query.ts';
export { matchesFilter } from './matches-filter.ts';
