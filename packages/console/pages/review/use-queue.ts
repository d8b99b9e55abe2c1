import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import { beforeSignOut, currentSession } from '../../session/session.ts';
import { done } from '../../widgets/actions.tsx';
import { useEvents } from '../../widgets/use-events.ts';
import { reviewTexts } from '../texts.ts';

const POLL_MS = 15_000;
/** A third of a lease, so that one request that fails leaves time for another. */
const EXTEND_MS = 5 * 60_000;
/** As many as the service accepts. */
const MOST_SKIPPED = 1000;

/** The call that this window has a lease of, once the requests before have been answered: none overtakes another. */
let held: Promise<string | null> = Promise.resolve(null);

/** Which calls a person wants: filters of Get Calls, and the sampling rule that has chosen them. */
export type Wanted = Pick<Schemas['TakeNextCallRequest'], 'filter' | 'rule_uuid'>;

let lastWanted: Wanted = {};

/** Leases the next call, or extends the lease of the one that the person has. */
function take(skip: readonly string[], wanted: Wanted): Promise<string | null> {
  // Whoever has a call would get it again, also where it is not one of those that are wanted now.
  if (JSON.stringify(wanted) !== JSON.stringify(lastWanted)) void giveBack();
  lastWanted = wanted;
  const ask = async () => {
    // Not aborted with the query: a call that is leased and not shown would be kept from others.
    const taken = await send(
      api.POST('/api/v1/review-queue/next', { body: { ...wanted, skip: skip.slice(-MOST_SKIPPED) } }),
    );
    return taken?.call.uuid ?? null;
  };
  held = held.then(ask, ask);
  return held;
}

function giveBack(): Promise<unknown> {
  held = held
    .then(async (call_uuid) => {
      if (call_uuid === null || currentSession() === null) return;
      // The browser sends it also when the window is being closed.
      const request = { params: { path: { call_uuid } }, keepalive: true };
      await send(api.DELETE('/api/v1/review-queue/leases/{call_uuid}', request));
    })
    // The lease ends by itself.
    .catch(() => {})
    .then(() => null);
  return held;
}

/**
 * The calls to review, one at a time. Nobody else gets the call that is shown: its lease is extended while the page can be
 * seen, and ends when the person leaves the page, goes on to another call, or finishes the review.
 */
export function useQueue(wanted: Wanted) {
  const t = reviewTexts.use();
  /** Tells apart the visits of the page: the call of an earlier one was given back. */
  const [visit] = useState(() => performance.now());
  // Those that are finished are among them: an open dispute keeps a call in the queue.
  const [passed, setPassed] = useState<readonly string[]>([]);
  const taken = useQuery({
    queryKey: ['review-queue', 'next', visit, passed, wanted],
    queryFn: () => take(passed, wanted),
    refetchInterval: ({ state }) => (typeof state.data === 'string' ? EXTEND_MS : POLL_MS),
    gcTime: 0,
  });
  const { data: uuid = null, isSuccess, refetch } = taken;
  const { filter, rule_uuid } = wanted;
  const numbers = useQuery({
    ...get(['review-queue', 'numbers', uuid, wanted], '/api/v1/review-queue', { query: { ...filter, rule_uuid } }),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
    // Before, the call of this window would count as one that waits.
    enabled: isSuccess,
  });

  useEvents(window, ['pagehide'], () => void giveBack());
  useEvents<PageTransitionEvent>(window, ['pageshow'], ({ persisted }) => {
    if (persisted) void refetch();
  });
  useEffect(() => {
    const forget = beforeSignOut(giveBack);
    return () => {
      forget();
      void giveBack();
    };
  }, []);

  const asked = JSON.stringify(wanted);
  const before = useRef<{ readonly uuid: string | null; readonly asked: string }>({ uuid, asked });
  useEffect(() => {
    if (!isSuccess) {
      if (before.current.asked !== asked) before.current = { uuid: null, asked };
      return;
    }
    const { uuid: had, asked: of } = before.current;
    // Where other calls are wanted now, the one before was not lost.
    if (had !== null && had !== uuid && of === asked && !passed.includes(had)) done(t('lost'));
    before.current = { uuid, asked };
  }, [isSuccess, uuid, asked, passed, t]);

  return {
    taken,
    uuid,
    /** Null until they are known. */
    numbers: numbers.data ?? null,
    /** Calls that remain of those that the person wants, with this one. Those that were put off count. */
    remaining: (numbers.data?.waiting ?? 0) + (uuid === null ? 0 : 1),
    /** All that remain were put off. */
    hasSkipped: passed.length > 0 && (numbers.data?.waiting ?? 0) > 0,
    next: () => uuid !== null && setPassed([...passed, uuid]),
    startOver: () => setPassed([]),
  };
}
