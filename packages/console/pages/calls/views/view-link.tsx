import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Navigate } from '@tanstack/react-router';
import { api, send } from '../../../api/client.ts';
import { LoadingOrFailed } from '../../../widgets/states.tsx';
import { searchOf } from './use-views.ts';

const route = getRouteApi('/views/$uuid');

/** The link of a view. */
export function ViewLink() {
  const { uuid } = route.useParams();
  const view = useQuery({
    queryKey: ['view', uuid],
    queryFn: ({ signal }) => send(api.GET('/api/v1/views/{uuid}', { params: { path: { uuid } }, signal })),
  });
  if (view.data === undefined) return <LoadingOrFailed query={view} />;
  return <Navigate to="/calls" search={searchOf(view.data)} replace />;
}
