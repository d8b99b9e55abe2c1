import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { api, type Schemas, send } from '../../../api/client.ts';
import { failed } from '../../../widgets/toasts.tsx';
import { callKey, FOLLOW_MS } from '../use-call.ts';

export type Dispute = Schemas['Dispute'];

/** The call whose questions are shown. Null where nothing can be done about them. */
export const DeskOf = createContext<string | null>(null);

const deskKey = (uuid: string | null) => ['desk', uuid] as const;

/** Whose task the call is, who has acknowledged its review, and its disputes. */
export function useCallDesk(uuid: string | null) {
  return useQuery({
    queryKey: deskKey(uuid),
    queryFn: ({ signal }) =>
      send(api.GET('/api/v1/calls/{uuid}/desk', { params: { path: { uuid: uuid ?? '' } }, signal })),
    enabled: uuid !== null,
    refetchInterval: FOLLOW_MS,
  });
}

/** The disputes of a question of the call that is shown, the oldest first. */
export function useDisputes(questionUuid: string): readonly Dispute[] {
  const { data } = useCallDesk(useContext(DeskOf));
  return (data?.disputes ?? []).filter(({ question_uuid }) => question_uuid === questionUuid);
}

interface Assignment {
  /** Null: nobody. */
  readonly userUuid: string | null;
  /** ISO 8601. */
  readonly due?: string;
}
type Decision = Schemas['DecideDisputeRequest'] & { readonly uuid: string };

export function useDeskChanges(uuid: string) {
  const client = useQueryClient();
  const path = { uuid };
  const options = {
    onSettled: () =>
      Promise.all(
        [deskKey(uuid), callKey(uuid), ['inbox'], ['calls']].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
    onError: failed,
  };
  return {
    assign: useMutation({
      ...options,
      mutationFn: ({ userUuid, due }: Assignment) =>
        send(
          api.PUT('/api/v1/calls/{uuid}/assignment', {
            params: { path },
            body: { user_uuid: userUuid, ...(due !== undefined && { due }) },
          }),
        ),
    }),
    acknowledge: useMutation({
      ...options,
      mutationFn: () => send(api.POST('/api/v1/calls/{uuid}/acknowledge', { params: { path } })),
    }),
    dispute: useMutation({
      ...options,
      mutationFn: (body: Schemas['DisputeAnswerRequest']) =>
        send(api.POST('/api/v1/calls/{uuid}/disputes', { params: { path }, body })),
    }),
    decide: useMutation({
      ...options,
      mutationFn: ({ uuid: dispute, ...body }: Decision) =>
        send(api.PATCH('/api/v1/disputes/{uuid}', { params: { path: { uuid: dispute } }, body })),
    }),
  };
}
