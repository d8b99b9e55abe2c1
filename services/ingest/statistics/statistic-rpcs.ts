import { Grouping, SortableNumber } from '@call-analysis/api/statistics';
import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Caller } from '@call-analysis/proto/ingest/v1/Caller';
import type { ListCallsRequest } from '@call-analysis/proto/ingest/v1/ListCallsRequest';
import type { Handlers } from '@call-analysis/rpc';
import type { Firms } from '@call-analysis/service/firms';
import { z } from 'zod';
import { answerOf } from '../answer.ts';
import type { CallFilter } from '../listing/call-filter.ts';
import { readStatistics, type StatisticDeps } from './read-statistics.ts';

const Limit = z.int().min(1).max(1000);

/** The RPC of statistics. `filterOf` translates the filter of a listing. */
export function statisticRpcs(
  { firms, ...deps }: StatisticDeps & { readonly firms: Firms },
  filterOf: (request: ListCallsRequest, caller: Caller | null) => CallFilter,
): Pick<Handlers<typeof ingest>, 'readStatistics'> {
  return {
    readStatistics: async (request) => {
      const firmUuid = Uuid.parse(request.caller?.firm_uuid);
      const { sort } = request;
      const groupBy = Grouping.parse(request.group_by);
      const tz = request.tz ?? (await firms.find(firmUuid)).timeZone;
      const { items, total } = await readStatistics(deps, firmUuid, {
        groupBy,
        filter: filterOf(request.filter!, request.caller),
        tz,
        sort:
          sort === undefined
            ? null
            : { by: SortableNumber.parse(sort.replace('-', '')), isDescending: sort.startsWith('-') },
        limit: Limit.parse(request.limit),
      });
      return answerOf({ group_by: groupBy, tz, items, total });
    },
  };
}
