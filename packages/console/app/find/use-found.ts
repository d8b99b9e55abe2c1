import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useMay } from '../../session/rights.ts';
import type { IconName } from '../../widgets/icon.tsx';
import { shellTexts } from '../shell-texts.ts';
import { nearest } from './nearest.ts';

/** A page of the navigation. */
export interface Page {
  readonly to: string;
  readonly name: string;
  readonly icon: IconName;
}

interface Found {
  readonly key: string;
  readonly icon: IconName;
  readonly name: string;
  readonly hint?: string;
  readonly open: () => void;
}

const TYPING_MS = 200;
const FRESH_MS = 5 * 60_000;
const MOST_OPERATORS = 5;
const MOST_VIEWS = 5;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;
/** An external id that is shorter is hardly one. */
const LEAST_ID = 3;
const LEAST_DIGITS = 5;

/** What a person may mean: pages, calls by id or number, operators, views, and words of conversations. */
export function useFound(typed: string, pages: readonly Page[]): { found: readonly Found[]; isSearching: boolean } {
  const t = shellTexts.use();
  const navigate = useNavigate();
  const text = typed.trim();
  // Only what is asked of the service waits for a pause: Enter may follow the last letter at once.
  const asked = useSettled(text);
  const digits = /^[+\d\s()-]+$/u.test(asked) ? asked.replaceAll(/\D/gu, '') : '';
  const mayReview = useMay('review');
  const views = useQuery({
    queryKey: ['find', 'views'],
    enabled: mayReview,
    queryFn: ({ signal }) => send(api.GET('/api/v1/views', { params: { query: { size: 100 } }, signal })),
    staleTime: FRESH_MS,
  });
  const operators = useOperators(true);
  const byId = useCount({ partner_call_id: asked }, asked.length >= LEAST_ID && !UUID.test(asked));
  const byNumber = useCount({ client_phone_number: digits }, digits.length >= LEAST_DIGITS);

  const go = (search: Record<string, string | string[]>) => () => void navigate({ to: '/calls', search });
  const foundPages = nearest(text, pages, ({ name }) => name).map(({ to, name, icon }): Found => ({
    key: `page ${to}`,
    icon,
    name,
    open: () => void navigate({ to }),
  }));
  if (text === '') return { found: foundPages, isSearching: false };
  const foundOperators = nearest(text, operators, ({ name }) => name).slice(0, MOST_OPERATORS);
  const foundViews = nearest(text, views.data?.items ?? [], ({ name }) => name).slice(0, MOST_VIEWS);
  const found: Found[] = [
    ...(UUID.test(text)
      ? [
          {
            key: 'uuid',
            icon: 'calls' as const,
            name: t('find.call', { id: text }),
            open: () => void navigate({ to: '/calls/$uuid', params: { uuid: text.toLowerCase() } }),
          },
        ]
      : []),
    ...(asked === text ? byId.items : []).map(({ uuid, operator_name }): Found => ({
      key: `call ${uuid}`,
      icon: 'calls',
      name: t('find.call', { id: text }),
      hint: operator_name,
      open: () => void navigate({ to: '/calls/$uuid', params: { uuid } }),
    })),
    ...(byNumber.count > 0 && asked === text
      ? [
          {
            key: 'number',
            icon: 'calls' as const,
            name: t('find.number', { number: text }),
            hint: format.number(byNumber.count),
            open: go({ client_phone_number: digits }),
          },
        ]
      : []),
    ...foundPages,
    ...foundViews.map(({ uuid, name, query }): Found => ({
      key: `view ${uuid}`,
      icon: 'star',
      name: t('find.view', { name }),
      open: go(query),
    })),
    ...foundOperators.map(({ name, calls }): Found => ({
      key: `operator ${name}`,
      icon: 'review',
      name: t('find.operator', { name }),
      hint: format.number(calls),
      open: go({ operator_name: name }),
    })),
    // The service refuses a search without a word.
    ...(/[\p{L}\p{N}]/u.test(text)
      ? [{ key: 'words', icon: 'search' as const, name: t('find.words', { words: text }), open: go({ q: text }) }]
      : []),
  ];
  return { found, isSearching: asked !== text || byId.isFetching || byNumber.isFetching };
}

/** The operators of the firm with their numbers of calls, those with the most first. */
export function useOperators(isWanted: boolean): readonly { readonly name: string; readonly calls: number }[] {
  const { data } = useQuery({
    queryKey: ['calls', 'operators'],
    queryFn: ({ signal }) =>
      send(api.GET('/api/v1/statistics', { params: { query: { group_by: 'operator_name', limit: 1000 } }, signal })),
    enabled: isWanted,
    staleTime: FRESH_MS,
  });
  return (data?.items ?? []).flatMap(({ key, label, calls }) => (key === null ? [] : [{ name: label ?? key, calls }]));
}

/** The calls that one filter finds: the first, and how many. */
export function useCount(filter: { partner_call_id?: string; client_phone_number?: string }, isWanted: boolean) {
  const { data, isFetching } = useQuery({
    queryKey: ['calls', 'find', filter],
    queryFn: ({ signal }) => send(api.GET('/api/v1/calls', { params: { query: { ...filter, size: 1 } }, signal })),
    enabled: isWanted,
    staleTime: FRESH_MS,
  });
  return isWanted
    ? { count: data?.count ?? 0, items: data?.items ?? [], isFetching }
    : { count: 0, items: [], isFetching: false };
}

/** What was typed, once the person pauses. */
function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return typed === '' ? '' : settled;
}
