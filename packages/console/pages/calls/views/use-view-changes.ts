import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, send } from '../../../api/client.ts';
import { failed } from '../../../widgets/toasts.tsx';
import type { CallSearch } from '../call-search.ts';
import { type View, VIEWS } from './use-views.ts';

type Fields = Partial<Pick<View, 'name' | 'shared' | 'start_page'>>;

export function useViewChanges() {
  const client = useQueryClient();
  const options = { onSettled: () => client.invalidateQueries({ queryKey: VIEWS }), onError: failed };
  return {
    create: useMutation({
      ...options,
      mutationFn: ({ name, search, shared = false }: { name: string; search: CallSearch; shared?: boolean }) =>
        send(api.POST('/api/v1/views', { body: { name, query: { ...search }, shared } })),
    }),
    change: useMutation({
      ...options,
      mutationFn: ({ uuid, ...body }: Fields & { uuid: string }) =>
        send(api.PATCH('/api/v1/views/{uuid}', { params: { path: { uuid } }, body })),
    }),
    remove: useMutation({
      ...options,
      mutationFn: (uuid: string) => send(api.DELETE('/api/v1/views/{uuid}', { params: { path: { uuid } } })),
    }),
  };
}
