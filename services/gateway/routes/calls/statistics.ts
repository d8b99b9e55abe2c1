import { SpokenWords, SpokenWordsQuery, Statistics, StatisticsQuery } from '@call-analysis/api/statistics';
import { EVERY_ROLE } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { servedBy, type Services } from '../rpc-caller.ts';

/** A year of ten million calls that no sums are stored for is added up call by call. */
const DEADLINE_MS = 60_000;

/** docs/api.md, "Statistics" and "Words". */
export function statistics({ ingest }: Services): Endpoint[] {
  const endpoint = servedBy(ingest, { tag: 'Calls', roles: EVERY_ROLE });
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/statistics',
      query: StatisticsQuery,
      id: 'getStatistics',
      summary: 'Add up calls by group',
      description:
        'What the calls that match the filters of Get Calls add up to. A call counts under each of its topics and of its answered questions; calls without the thing have `key` null. Without another filter than the start time, stored sums make it quick.',
      responses: { 200: { description: 'The groups and the total.', schema: Statistics } },
      rpc: 'readStatistics',
      deadlineMs: DEADLINE_MS,
    }),
    endpoint({
      method: 'GET',
      path: '/api/v1/words',
      query: SpokenWordsQuery,
      id: 'countSpokenWords',
      summary: 'Count spoken words',
      description:
        'The words that were said in the newest 100 calls that match the filters of Get Calls, in lower case, those of the most calls first, at most 5,000. For suggestions where a search for words finds nothing.',
      responses: { 200: { description: 'The words.', schema: SpokenWords } },
    }),
  ];
}
