import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, send } from '../../../api/client.ts';
import { LoadingOrFailed } from '../../../widgets/states.tsx';
import { ToCalls } from './start-page.tsx';
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
  return <ToCalls search={searchOf(view.data)} />;
}
