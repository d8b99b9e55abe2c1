import { useQuery } from '@tanstack/react-query';
import { allPages, api, type Schemas, send } from '../../../api/client.ts';
import { useMay, currentSession } from '../../../session/session.ts';
import { useAction } from '../../../widgets/actions.tsx';
import { callSearch, type CallSearch } from '../call-search.ts';

export type View = Schemas['View'];

export const VIEWS = ['views'] as const;
const STALE_MS = 30_000;

export const viewsQuery = {
  queryKey: VIEWS,
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    allPages((query) => send(api.GET('/api/v1/views', { params: { query }, signal }))),
  staleTime: STALE_MS,
};

/** The person's own views, then those of others in the firm. */
export function useViews() {
  return useQuery({ ...viewsQuery, enabled: useMay('review') });
}

/** The view that opens first. The person's own ones come before those of others. */
export function startView(views: readonly View[]): View | undefined {
  return views.find(({ start_page }) => start_page);
}

/** The filters of a view, as in the URL of the calls page. What this console does not know is left out. */
export function searchOf({ query }: Pick<View, 'query'>): CallSearch {
  return callSearch(query);
}

export function isSameSearch(one: CallSearch, other: CallSearch): boolean {
  const text = (search: CallSearch) => JSON.stringify(Object.entries(callSearch(search)).toSorted());
  return text(one) === text(other);
}

type Fields = Partial<Pick<View, 'name' | 'shared' | 'start_page'>>;

export function useViewChanges() {
  const options = { changes: [VIEWS] };
  return {
    create: useAction(
      ({ name, search, shared = false }: { name: string; search: CallSearch; shared?: boolean }) =>
        send(api.POST('/api/v1/views', { body: { name, query: { ...search }, shared } })),
      options,
    ),
    change: useAction(
      ({ uuid, ...body }: Fields & { uuid: string }) =>
        send(api.PATCH('/api/v1/views/{uuid}', { params: { path: { uuid } }, body })),
      options,
    ),
    remove: useAction(
      (uuid: string) => send(api.DELETE('/api/v1/views/{uuid}', { params: { path: { uuid } } })),
      options,
    ),
  };
}

/** Where an earlier console has stored the views of a person in this browser. */
export const storageKey = () => `console.calls.views.${currentSession()?.userUuid ?? ''}`;
