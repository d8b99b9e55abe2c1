import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { api, type Schemas, send, get } from '../../../api/client.ts';
import { useAction } from '../../../widgets/actions.tsx';
import { callKey, FOLLOW_MS } from '../use-call.ts';

export type Dispute = Schemas['Dispute'];

/** The call whose questions are shown. Null where nothing can be done about them. */
export const DeskOf = createContext<string | null>(null);

const deskKey = (uuid: string | null) => ['desk', uuid] as const;

/** Whose task the call is, who has acknowledged its review, and its disputes. */
export function useCallDesk(uuid: string | null) {
  return useQuery({
    ...get(deskKey(uuid), '/api/v1/calls/{uuid}/desk', { path: { uuid: uuid ?? '' } }),
    enabled: uuid !== null,
    refetchInterval: FOLLOW_MS,
  });
}

/** The disputes of a question of the call that is shown, the oldest first. */
export function useDisputes(questionUuid: string): readonly Dispute[] {
  const { data } = useCallDesk(useContext(DeskOf));
  return (data?.disputes ?? []).filter(({ question_uuid }) => question_uuid === questionUuid);
}

type Decision = Schemas['DecideDisputeRequest'] & { readonly uuid: string };

export function useDeskChanges(uuid: string) {
  const path = { uuid };
  const options = { changes: [deskKey(uuid), callKey(uuid), ['inbox'], ['calls']] };
  return {
    assign: useAction(
      (body: Schemas['AssignCallRequest']) =>
        send(api.PUT('/api/v1/calls/{uuid}/assignment', { params: { path }, body })),
      options,
    ),
    acknowledge: useAction(() => send(api.POST('/api/v1/calls/{uuid}/acknowledge', { params: { path } })), options),
    dispute: useAction(
      (body: Schemas['DisputeAnswerRequest']) =>
        send(api.POST('/api/v1/calls/{uuid}/disputes', { params: { path }, body })),
      options,
    ),
    decide: useAction(
      ({ uuid: dispute, ...body }: Decision) =>
        send(api.PATCH('/api/v1/disputes/{uuid}', { params: { path: { uuid: dispute } }, body })),
      options,
    ),
  };
}
