import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Navigate, useRouterState } from '@tanstack/react-router';
import { allPages, api, get, type Schemas, send } from '../../../api/client.ts';
import { useMay, currentSession } from '../../../session/session.ts';
import { useAction } from '../../../widgets/actions.tsx';
import { LoadingOrFailed } from '../../../widgets/page.tsx';
import { callSearch, type CallSearch } from '../call-search.ts';

export type View = Schemas['View'];

export const VIEWS = ['views'] as const;
const STALE_MS = 30_000;

/** The person's own views, then those of others in the firm. */
export function useViews() {
  return useQuery({
    queryKey: VIEWS,
    queryFn: ({ signal }) => allPages((query) => send(api.GET('/api/v1/views', { params: { query }, signal }))),
    staleTime: STALE_MS,
    enabled: useMay('review'),
  });
}

export function isSameSearch(one: Record<string, unknown>, other: CallSearch): boolean {
  const text = (search: Record<string, unknown>) => JSON.stringify(Object.entries(callSearch(search)).toSorted());
  return text(one) === text(other);
}

export function useNewView() {
  return useAction(
    ({ name, search, shared = false }: { name: string; search: CallSearch; shared?: boolean }) =>
      send(api.POST('/api/v1/views', { body: { name, query: { ...search }, shared } })),
    { changes: [VIEWS] },
  );
}

/** Where an earlier console has stored the views of a person in this browser. */
export const storageKey = () => `console.calls.views.${currentSession()?.userUuid ?? ''}`;

/** The start of the console: the view that the person, or else the firm, has chosen for it, otherwise all calls. */
export function StartPage() {
  const views = useViews();
  if (views.isLoading) return <LoadingOrFailed query={views} />;
  // The person's own ones come before those of others.
  const view = views.data?.find(({ start_page }) => start_page);
  return <ToCalls search={view === undefined ? {} : callSearch(view.query)} />;
}

/** Goes on to the calls, unless the person has chosen another page meanwhile. */
function ToCalls({ search }: { search: CallSearch }) {
  const isLeaving = useRouterState({
    select: ({ location, resolvedLocation }) =>
      resolvedLocation !== undefined && resolvedLocation.href !== location.href,
  });
  return isLeaving ? null : <Navigate to="/calls" search={search} replace />;
}

const route = getRouteApi('/views/$uuid');

export function ViewLink() {
  const { uuid } = route.useParams();
  const view = useQuery(get(['view', uuid], '/api/v1/views/{uuid}', { path: { uuid } }));
  if (view.data === undefined) return <LoadingOrFailed query={view} />;
  return <ToCalls search={callSearch(view.data.query)} />;
}
