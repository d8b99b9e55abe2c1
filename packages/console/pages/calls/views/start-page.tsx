import { useQuery } from '@tanstack/react-query';
import { Navigate, useRouterState, getRouteApi } from '@tanstack/react-router';
import { get } from '../../../api/client.ts';
import { LoadingOrFailed } from '../../../widgets/page.tsx';
import type { CallSearch } from '../call-search.ts';
import { searchOf, startView, useViews } from './use-views.ts';

/** The start of the console: the view that the person, or else the firm, has chosen for it, otherwise all calls. */
export function StartPage() {
  const views = useViews();
  if (views.isLoading) return <LoadingOrFailed query={views} />;
  const view = startView(views.data ?? []);
  return <ToCalls search={view === undefined ? {} : searchOf(view)} />;
}

/** Goes on to the calls, unless the person has chosen another page meanwhile. */
export function ToCalls({ search }: { search: CallSearch }) {
  const isLeaving = useRouterState({
    select: ({ location, resolvedLocation }) =>
      resolvedLocation !== undefined && resolvedLocation.href !== location.href,
  });
  return isLeaving ? null : <Navigate to="/calls" search={search} replace />;
}

const route = getRouteApi('/views/$uuid');

/** The link of a view. */
export function ViewLink() {
  const { uuid } = route.useParams();
  const view = useQuery(get(['view', uuid], '/api/v1/views/{uuid}', { path: { uuid } }));
  if (view.data === undefined) return <LoadingOrFailed query={view} />;
  return <ToCalls search={searchOf(view.data)} />;
}
