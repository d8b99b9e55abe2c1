import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, type Schemas, send } from '../../api/client.ts';

export type InboxItem = Schemas['InboxItem'];

const POLL_MS = 30_000;

/** What waits for the person, the newest first. The navigation asks for the count alone. */
export function useInbox(page: number, size: number) {
  return useQuery({
    queryKey: ['inbox', page, size],
    queryFn: ({ signal }) => send(api.GET('/api/v1/inbox', { params: { query: { page, size } }, signal })),
    refetchInterval: POLL_MS,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
}
