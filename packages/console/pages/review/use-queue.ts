import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, send } from '../../api/client.ts';

const PAGE_SIZE = 50;
const POLL_MS = 15_000;

/** The calls with answers that need a person, the oldest first, one at a time. */
export function useQueue() {
  const [passed, setPassed] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string | null>(null);
  const list = useQuery({
    queryKey: ['review-queue'],
    queryFn: ({ signal }) =>
      send(
        api.GET('/api/v1/calls', {
          params: { query: { needs_review: true, reviewed: false, sort: 'start_time', size: PAGE_SIZE } },
          signal,
        }),
      ),
    refetchInterval: POLL_MS,
  });
  const waiting = (list.data?.items ?? []).filter(({ uuid }) => !passed.has(uuid));
  // A call stays until it is finished, also when its first saved answer takes it off the list.
  const uuid = current !== null && !passed.has(current) ? current : (waiting[0]?.uuid ?? null);
  if (uuid !== current) setCurrent(uuid);
  const isListed = waiting.some((call) => call.uuid === uuid);
  return {
    list,
    uuid,
    /** To be fetched ahead. */
    following: waiting.find((call) => call.uuid !== uuid)?.uuid ?? null,
    /** Calls that remain, with this one. Those that were put off count. */
    remaining: (list.data?.count ?? 0) + (uuid !== null && !isListed ? 1 : 0),
    isEstimate: list.data?.count_is_estimate ?? false,
    /** All that remain were put off. */
    hasSkipped: passed.size > 0 && (list.data?.count ?? 0) > 0,
    next: () => {
      if (uuid !== null) setPassed(new Set([...passed, uuid]));
      void list.refetch();
    },
    startOver: () => {
      setPassed(new Set());
      void list.refetch();
    },
  };
}
