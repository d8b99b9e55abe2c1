import { get, type Schemas } from '../../api/client.ts';
import { usePages } from '../../widgets/list.tsx';

export type InboxItem = Schemas['InboxItem'];

const POLL_MS = 30_000;

/** What waits for the person, the newest first. The navigation asks for one, to know how many there are. */
export function useInbox(size?: number) {
  return usePages((query) => get(['inbox', query], '/api/v1/inbox', { query }), {
    refetchInterval: POLL_MS,
    staleTime: 0,
    ...(size !== undefined && { size }),
  });
}
