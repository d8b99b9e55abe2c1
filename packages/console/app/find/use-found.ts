import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import type { CallSearch } from '../../pages/calls/call-search.ts';
import { UUID, useMeant } from '../../pages/calls/elsewhere/meant.ts';
import { nearest } from '../../pages/calls/elsewhere/nearest.ts';
import { searchOf, useViews } from '../../pages/calls/views/use-views.ts';
import type { IconName } from '../../widgets/icon.tsx';

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
/** Operators, and views. */
const MOST = 5;

/** What a person may mean: pages, calls by id or number, operators, views, and words of conversations. */
export function useFound(typed: string, pages: readonly Page[]): { found: readonly Found[]; isSearching: boolean } {
  const t = shellTexts.use();
  const navigate = useNavigate();
  const text = typed.trim();
  // Only what is asked of the service waits for a pause: Enter may follow the last letter at once.
  const asked = useSettled(text);
  const views = useViews();
  const { digits, byNumber, byId, operators } = useMeant(text, asked, MOST);
  const foundPages = nearest(text, pages, ({ name }) => name).map(({ to, name, icon }): Found => ({
    key: `page ${to}`,
    icon,
    name,
    open: () => void navigate({ to }),
  }));
  if (text === '') return { found: foundPages, isSearching: false };
  const list = (
    icon: IconName,
    kind: 'number' | 'view' | 'operator' | 'words',
    name: string,
    search: CallSearch,
    hint?: number,
  ): Found => ({
    key: `${kind} ${name}`,
    icon,
    name: t(`find.${kind}`, { [kind === 'number' || kind === 'words' ? kind : 'name']: name }),
    ...(hint !== undefined && { hint: format.number(hint) }),
    open: () => void navigate({ to: '/calls', search }),
  });
  const call = (uuid: string, hint?: string): Found => ({
    key: `call ${uuid}`,
    icon: 'calls',
    name: t('find.call', { id: text }),
    ...(hint !== undefined && { hint }),
    open: () => void navigate({ to: '/calls/$uuid', params: { uuid } }),
  });
  const isSettled = asked === text;
  const found: Found[] = [
    ...(UUID.test(text) ? [call(text.toLowerCase())] : []),
    ...(isSettled ? byId.items.map(({ uuid, operator_name }) => call(uuid, operator_name)) : []),
    ...(isSettled && byNumber.count > 0
      ? [list('calls', 'number', text, { client_phone_number: digits }, byNumber.count)]
      : []),
    ...foundPages,
    ...nearest(text, views.data ?? [], ({ name }) => name)
      .slice(0, MOST)
      .map((view) => list('star', 'view', view.name, searchOf(view))),
    ...operators.map(({ name, calls }) => list('person', 'operator', name, { operator_name: name }, calls)),
    // The service refuses a search without a word.
    ...(/[\p{L}\p{N}]/u.test(text) ? [list('search', 'words', text, { q: text })] : []),
  ];
  return { found, isSearching: !isSettled || byId.isFetching || byNumber.isFetching };
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
