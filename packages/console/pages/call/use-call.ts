import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, follow, type Schemas } from '../../api/client.ts';

export type CallDetail = Schemas['CallDetail'];
export type Analysis = Schemas['Analysis'];
export type Question = Schemas['Question'];
export type Utterance = Schemas['Utterance'];

const POLL_MS = 2_000;
/** An open call shows what others do with it. */
export const FOLLOW_MS = 4_000;
const IN_PROGRESS = ['queued', 'transcribing', 'analyzing'];

export const callKey = (uuid: string) => ['call', uuid] as const;

export function callQuery(uuid: string) {
  return queryOptions({
    queryKey: callKey(uuid),
    queryFn: ({ signal, client }) =>
      follow(client.getQueryData<CallDetail>(callKey(uuid)), (header) =>
        api.GET('/api/v1/calls/{uuid}', { params: { path: { uuid }, header }, signal }),
      ),
    structuralSharing: false,
  });
}

/** A call with everything. Fetched again while it is processed, and when others change it. */
export function useCall(uuid: string) {
  return useQuery({
    ...callQuery(uuid),
    refetchInterval: ({ state }) =>
      state.data !== undefined && IN_PROGRESS.includes(state.data.status) ? POLL_MS : FOLLOW_MS,
  });
}
