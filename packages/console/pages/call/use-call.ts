import { useQuery } from '@tanstack/react-query';
import { api, type Schemas, send } from '../../api/client.ts';

export type CallDetail = Schemas['CallDetail'];
export type Analysis = Schemas['Analysis'];
export type Question = Schemas['Question'];
export type Utterance = Schemas['Utterance'];

const POLL_MS = 2_000;
const IN_PROGRESS = ['queued', 'transcribing', 'analyzing'];

export const callKey = (uuid: string) => ['call', uuid] as const;

/** A call with everything. Fetched again while it is processed. */
export function useCall(uuid: string) {
  return useQuery({
    queryKey: callKey(uuid),
    queryFn: ({ signal }) => send(api.GET('/api/v1/calls/{uuid}', { params: { path: { uuid } }, signal })),
    refetchInterval: ({ state }) =>
      state.data !== undefined && IN_PROGRESS.includes(state.data.status) ? POLL_MS : false,
  });
}
