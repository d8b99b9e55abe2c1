import { CallFilter, rangesInOrder } from '@call-analysis/api/call-query';
import { timeZone, wholeNumber } from '@call-analysis/api/fields';
import { Grouping, SortableNumber, Statistics } from '@call-analysis/api/statistics';
import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { answered, callerOf } from '../rpc-caller.ts';
import { filterFor } from './calls.ts';

const MAX_GROUPS = 1000;
/** A year of ten million calls that no sums are stored for is added up call by call. */
const DEADLINE_MS = 60_000;

const sorts = SortableNumber.options.flatMap((name) => [name, `-${name}`]);

const StatisticsQuery = rangesInOrder(
  z.strictObject({
    ...CallFilter.shape,
    group_by: Grouping,
    tz: timeZone()
      .optional()
      .meta({ description: 'The time zone of `hour`, `day`, `week` and `month`. The firm has a default.' }),
    sort: z
      .enum(sorts as [string, ...string[]])
      .optional()
      .meta({ description: 'Default: times ascending, others by `-calls`.' }),
    limit: wholeNumber(1, MAX_GROUPS).default(MAX_GROUPS),
  }),
);

/** docs/api.md, "Statistics". */
export function statistics(catalogue: Pick<Client<typeof ingest>, 'readStatistics'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/statistics',
      roles: EVERY_ROLE,
      query: StatisticsQuery,
      tag: 'Calls',
      id: 'getStatistics',
      summary: 'Add up calls by group',
      description:
        'What the calls that match the filters of Get Calls add up to. A call counts under each of its topics and of its answered questions; calls without the thing have `key` null. Without another filter than the start time, stored sums make it quick.',
      responses: { 200: { description: 'The groups and the total.', schema: Statistics } },
      async handle({ caller, query }) {
        const { group_by, tz, sort, limit, ...filter } = query;
        const reply = await catalogue.readStatistics(
          {
            caller: callerOf(caller),
            group_by,
            filter: filterFor(caller, filter),
            limit,
            ...(tz !== undefined && { tz }),
            ...(sort !== undefined && { sort }),
          },
          { deadlineMs: DEADLINE_MS },
        );
        return answered(reply);
      },
    }),
  ];
}
