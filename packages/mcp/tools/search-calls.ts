import { CallFilter, CallSort } from '@call-analysis/api/call-query';
import { z } from 'zod';
import { bytesOf, fit, MAX_BYTES } from '../pages.ts';
import { cursor, tool } from './tool.ts';

const MOST = 50;

export const searchCalls = tool({
  name: 'search_calls',
  title: 'Search calls',
  description:
    "Finds the firm's calls that match all filters, with status, operator, time and score (0 to 100), but without the conversation: read that with get_call. To count or to compare use get_statistics. next_cursor is null on the last page. With q, matches says in which utterances the words occur.",
  input: z.strictObject({
    ...CallFilter.shape,
    sort: CallSort.optional(),
    limit: z.int().min(1).max(MOST).default(10),
    cursor,
  }),
  async run(api, { limit, ...query }) {
    for (let size = limit; ; size = Math.max(1, Math.floor(size / 2))) {
      // The API's own cursor continues after the last item, so fewer items are asked for until they fit.
      const page = await api.listCalls({ ...query, size });
      if (bytesOf(page) <= MAX_BYTES || size === 1) return JSON.stringify(fit(page, MAX_BYTES));
    }
  },
});
