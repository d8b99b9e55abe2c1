import { useQueries } from '@tanstack/react-query';
import * as format from '../../i18n/format.ts';
import { callQuery } from '../call/use-call.ts';
import { calibrationTexts } from './texts.ts';
import type { CalibratedCall } from './use-calibrations.ts';

/** What to call the calls of a calibration: operator and start; a number until they are known, or where they are erased. */
export function useCallNames(calls: readonly Pick<CalibratedCall, 'call_uuid'>[]): (uuid: string) => string {
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
