import { ApiError } from '@call-analysis/client/errors';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { allPages, api, follow, type Schemas, send } from '../../api/client.ts';

export type CallDetail = Schemas['CallDetail'];
export type Analysis = Schemas['Analysis'];
export type Question = Schemas['Question'];
export type Utterance = Schemas['Utterance'];

const POLL_MS = 2_000;
/** An open call shows what others do with it. */
export const FOLLOW_MS = 4_000;
const IN_PROGRESS = ['queued', 'transcribing', 'analyzing'];

const isGone = (error: unknown) => error instanceof ApiError && error.status === 404;

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

/** A call with everything. Fetched again while it is processed, and when others change it, until it is erased. */
export function useCall(uuid: string) {
  const { data, error, isError, isPending, refetch } = useQuery({
    ...callQuery(uuid),
    refetchInterval: ({ state }) => !isGone(state.error) && (isInProgress(state.data) ? POLL_MS : FOLLOW_MS),
  });
  const gone = isGone(error);
  return { data: gone ? undefined : data, isGone: gone, error, isError, isPending, refetch };
}

export function isInProgress(call: CallDetail | undefined): boolean {
  return call !== undefined && IN_PROGRESS.includes(call.status);
}

/** The comments on a call, oldest first. */
export function commentsQuery(uuid: string) {
  return queryOptions({ queryKey: ['comments', uuid], queryFn: ({ signal }) => fetchComments(uuid, signal) });
}

export function fetchComments(uuid: string, signal: AbortSignal | null = null) {
  return allPages((query) =>
    send(api.GET('/api/v1/calls/{uuid}/comments', { params: { path: { uuid }, query }, signal })),
  );
}
