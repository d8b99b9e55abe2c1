import { api, send } from './client.ts';

/** The settings of the user's firm, which every role may read. */
export const firmQuery = {
  queryKey: ['firm'],
  queryFn: ({ signal }: { signal: AbortSignal }) => send(api.GET('/api/v1/firm', { signal })),
};
