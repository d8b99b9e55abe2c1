import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, type Schemas, send } from '../../api/client.ts';

export type Calibration = Schemas['Calibration'];
export type Agreement = NonNullable<Calibration['agreement']>;
export type CalibratedCall = Calibration['calls'][number];

const POLL_MS = 10_000;
export const PAGE_SIZE = 20;

export const CALIBRATIONS = ['calibrations'] as const;

export function useCalibrations(page: number) {
  return useQuery({
    queryKey: [...CALIBRATIONS, 'page', page],
    queryFn: ({ signal }) =>
      send(api.GET('/api/v1/calibrations', { params: { query: { page, size: PAGE_SIZE } }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** Fetched again while it is open and others may answer. */
export function useCalibration(uuid: string) {
  return useQuery({
    queryKey: [...CALIBRATIONS, uuid],
    queryFn: ({ signal }) => send(api.GET('/api/v1/calibrations/{uuid}', { params: { path: { uuid } }, signal })),
    refetchInterval: ({ state }) => (state.data?.status === 'closed' ? false : POLL_MS),
  });
}

/** The call that a person answers next; undefined when they have answered all. */
export function nextToAnswer({ calls }: Calibration, userUuid: string, after?: string): string | undefined {
  const at = calls.findIndex(({ call_uuid }) => call_uuid === after);
  const inOrder = [...calls.slice(at + 1), ...calls.slice(0, at + 1)];
  return inOrder.find(({ call_uuid, answered_by }) => call_uuid !== after && !answered_by.includes(userUuid))
    ?.call_uuid;
}
