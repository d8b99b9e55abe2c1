import { useQueries, useQuery } from '@tanstack/react-query';
import { get, type Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { callQuery } from '../call/use-call.ts';
import { calibrationTexts } from '../texts.ts';

export type Calibration = Schemas['Calibration'];
export type Agreement = NonNullable<Calibration['agreement']>;

const POLL_MS = 10_000;

export const CALIBRATIONS = ['calibrations'] as const;

/** Fetched again while it is open and others may answer. */
export function useCalibration(uuid: string) {
  return useQuery({
    ...get([...CALIBRATIONS, uuid], '/api/v1/calibrations/{uuid}', { path: { uuid } }),
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

/** What to call the calls of a calibration: operator and start; a number until they are known, or where they are erased. */
export function useCallNames({ calls }: Pick<Calibration, 'calls'>): (uuid: string) => string {
  const t = calibrationTexts.use();
  const found = useQueries({
    queries: calls.map(({ call_uuid }) => ({ ...callQuery(call_uuid), staleTime: Infinity })),
  });
  return (uuid) => {
    const at = calls.findIndex(({ call_uuid }) => call_uuid === uuid);
    const call = found[at]?.data;
    if (call === undefined) return t('callNumber', { number: format.number(at + 1) });
    return `${call.operator_name}, ${format.shortDateTime(call.start_time)}`;
  };
}
