import { useQuery } from '@tanstack/react-query';
import { get } from '../../../api/client.ts';
import { nearest, respelled } from './nearest.ts';

const FRESH_MS = 5 * 60_000;
const LEAST_DIGITS = 5;
/** An external id that is shorter is hardly one. */
const LEAST_ID = 3;
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;

/**
 * What a typed text may name beside words that were said: the number of a client, an external id, or operators, also those
 * that are spelled nearly so. `asked` is the text that is looked for already.
 */
export function useMeant(text: string, asked: string, mostOperators: number) {
  const digits = /^[+\d\s()-]+$/u.test(asked) ? asked.replaceAll(/\D/gu, '') : '';
  const byNumber = useFirst({ client_phone_number: digits }, digits.length >= LEAST_DIGITS);
  const byId = useFirst({ partner_call_id: asked }, asked.length >= LEAST_ID && !UUID.test(asked));
  const operators = nearest(text, useOperators(), ({ name }) => name).slice(0, mostOperators);
  return { digits, byNumber, byId, operators };
}

/** Searches with a word of the newest calls in place of one that nobody said there. */
export function useRespelled(q: string, isWanted: boolean): readonly string[] {
  const { data } = useQuery({
    ...get(['calls', 'words'], '/api/v1/words'),
    enabled: isWanted,
    staleTime: FRESH_MS,
  });
  return isWanted ? respelled(q, data?.items.map(({ word }) => word) ?? []) : [];
}

/** The operators of the firm with their numbers of calls, those with the most first. */
function useOperators(): readonly { readonly name: string; readonly calls: number }[] {
  const { data } = useQuery({
    ...get(['calls', 'operators'], '/api/v1/statistics', { query: { group_by: 'operator_name', limit: 1000 } }),
    staleTime: FRESH_MS,
  });
  return (data?.items ?? []).flatMap(({ key, label, calls }) => (key === null ? [] : [{ name: label ?? key, calls }]));
}

/** The calls that one filter finds: the first, and how many. */
function useFirst(filter: { partner_call_id?: string; client_phone_number?: string }, isWanted: boolean) {
  const { data, isFetching } = useQuery({
    ...get(['calls', 'find', filter], '/api/v1/calls', { query: { ...filter, size: 1 } }),
    enabled: isWanted,
    staleTime: FRESH_MS,
  });
  if (!isWanted) return { count: 0, items: [], isFetching: false };
  return { count: data?.count ?? 0, items: data?.items ?? [], isFetching };
}
