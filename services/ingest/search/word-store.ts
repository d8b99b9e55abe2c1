import { setTimeout as pause } from 'node:timers/promises';
import { invalidFields } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import { indexWords } from './index-words.ts';
import { configurations, configurationTag, webSearchText } from './tokenizer.ts';

const WAIT_MS = 5;

/** The words of a search, and the firm's number in its documents. */
export interface SearchedWords {
  readonly query: string;
  readonly firmNumber: number;
}

/**
 * The words of transcripts, which are indexed after the call: a document for each in `call_text`, its words as a tsvector under a GIN
 * index. Extra words that begin with `#` hold the document's language and the number of its firm. Triggers of `call` and
 * `transcript` queue what is to be indexed.
 */
export function words(db: Database) {
  return {
    /**
     * Parses the words of a query into a tsquery that matches documents of every language, each by its own stems. Null when the
     * text has no word. Quotes make a phrase and a minus excludes a word, as in web searches. No text is invalid.
     */
    async parse(firmUuid: string, q: string): Promise<SearchedWords | null> {
      const [row] = await db.query<{ queries: string[]; number: number | null }>(
        `SELECT array_agg(websearch_to_tsquery(configuration::regconfig, text)::text ORDER BY position) AS queries,
           (SELECT number FROM firm_number WHERE firm_uuid = $3) AS number
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS parsed (configuration, text, position)`,
        [configurations, configurations.map((configuration) => webSearchText(q, configuration)), firmUuid],
      );
      const { queries, number } = row!;
      // No firm has 0.
      return queries.at(-1) === '' ? null : { query: inAnyLanguage(queries), firmNumber: number ?? 0 };
    },

    /** The same; null without a query. Fault VALIDATION_ERROR for a query without a word. */
    async require(firmUuid: string, q: string | undefined, field = 'q'): Promise<SearchedWords | null> {
      if (q === undefined) return null;
      const parsed = await this.parse(firmUuid, q);
      if (parsed === null) throw invalidFields([{ field, code: 'INVALID', message: 'must have a word in it' }]);
      return parsed;
    },

    /** Indexes the words of all firms, while there are any, for up to `forMs`. */
    async indexAll(forMs: number): Promise<void> {
      const deadline = performance.now() + forMs;
      while ((await indexWords(db, null)) > 0 && performance.now() < deadline);
    },

    /** Indexes the firm's words. False when that takes longer than `withinMs`. */
    async catchUp(firmUuid: string, withinMs: number): Promise<boolean> {
      const deadline = performance.now() + withinMs;
      while ((await this.until(firmUuid)) !== null) {
        if (performance.now() > deadline) return false;
        // Another process is indexing.
        if ((await indexWords(db, firmUuid)) === 0) await pause(WAIT_MS);
      }
      return true;
    },

    /** When the first call ended whose words are not indexed yet; null when all are. */
    async until(firmUuid: string): Promise<Date | null> {
      const [row] = await db.query<{ at: Date | null }>('SELECT min(at) AS at FROM queued_words WHERE firm_uuid = $1', [
        firmUuid,
      ]);
      return row?.at ?? null;
    },
  };
}

/** `queries`: what is searched for in documents of each configuration. */
function inAnyLanguage(queries: readonly string[]): string {
  const [query] = queries;
  // A query that is equal in all languages needs no tags. With only excluded words it does: otherwise it would have no
  // posting list to read.
  if (queries.every((each) => each === query && !each.includes('!'))) return query!;
  return configurations
    .flatMap((configuration, index) =>
      queries[index] === '' ? [] : [`( '${configurationTag(configuration)}' & ( ${queries[index]} ) )`],
    )
    .join(' | ');
}

export type Words = ReturnType<typeof words>;
