import { useQuery } from '@tanstack/react-query';
import { api, type Schemas, send, get } from '../../../api/client.ts';
import { useAction } from '../../../widgets/actions.tsx';
import { callKey, FOLLOW_MS } from '../use-call.ts';

export type Dispute = Schemas['Dispute'];

const deskKey = (uuid: string) => ['desk', uuid] as const;

/** Whose task the call is, who has acknowledged its review, and its disputes. */
export function useCallDesk(uuid: string) {
  return useQuery({
    ...get(deskKey(uuid), '/api/v1/calls/{uuid}/desk', { path: { uuid } }),
    refetchInterval: FOLLOW_MS,
  });
}

/** The disputes of a question of a call, the oldest first. */
export function useDisputes(callUuid: string, questionUuid: string): readonly Dispute[] {
  const { data } = useCallDesk(callUuid);
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
