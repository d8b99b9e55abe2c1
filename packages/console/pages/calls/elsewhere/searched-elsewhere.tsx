import { useQuery } from '@tanstack/react-query';
import { get } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { Chip } from '../../../widgets/controls.tsx';
import { callsTexts } from '../../texts.ts';
import type { CallSearch } from '../call-search.ts';
import { filterName } from '../filters/filters.ts';
import { nearest, respelled } from './nearest.ts';

const LEAST_CHARS = 3;
const MOST_OPERATORS = 3;

interface Props {
  readonly q: string;
  readonly isNothingFound: boolean;
  readonly onChange: (changed: Partial<CallSearch>) => void;
}

/** What else the searched words may be. */
export default function SearchedElsewhere({ q, isNothingFound, onChange }: Props) {
  const t = callsTexts.use();
  const { digits, byNumber, byId, operators } = useMeant(q, q, MOST_OPERATORS);
  const searches = useRespelled(q, isNothingFound);
  const offers = [
    { key: 'client_phone_number', name: q, count: byNumber.count, value: digits } as const,
    { key: 'partner_call_id', name: q, count: byId.count, value: q } as const,
    ...operators.map(({ name, calls }) => ({ key: 'operator_name', name, count: calls, value: name }) as const),
  ].filter(({ key, count }) => count > 0 && (key !== 'operator_name' || q.length >= LEAST_CHARS));
  if (offers.length + searches.length === 0) return null;
  return (
    <div className="calls-filters" role="group" aria-label={t('also')}>
      <span className="muted">{t('also')}</span>
      {searches.map((search) => (
        <Chip key={search} onClick={() => onChange({ q: search })}>
          <span className="chip-value foreign-line">{search}</span>
        </Chip>
      ))}
      {offers.map(({ key, name, count, value }) => (
        <Chip key={`${key} ${name}`} onClick={() => onChange({ q: undefined, [key]: value })}>
          {filterName(key)}: <span className="chip-value foreign-line">{name}</span>
          <span className="muted number">{format.number(count)}</span>
        </Chip>
      ))}
    </div>
  );
}

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
function useRespelled(q: string, isWanted: boolean): readonly string[] {
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
  return { count: data?.count ?? 0, items: data?.items ?? [], isFetching };
}
