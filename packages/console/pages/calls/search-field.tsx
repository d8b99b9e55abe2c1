import { useEffect, useState } from 'react';
import { nearest } from '../../app/find/nearest.ts';
import { useCount, useOperators } from '../../app/find/use-found.ts';
import * as format from '../../i18n/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import type { CallSearch } from './call-search.ts';
import { callsTexts } from './texts.ts';

const TYPING_MS = 300;
const LEAST_CHARS = 3;
const LEAST_DIGITS = 5;
const MOST_OPERATORS = 3;

/** Searches the words of conversations when the user stops typing. */
export function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = callsTexts.use();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    // The service refuses a search without a word.
    if (typed.trim() === value || (typed.trim() !== '' && !/[\p{L}\p{N}]/u.test(typed))) return;
    const timer = setTimeout(() => onChange(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className="calls-search" role="search">
      <Icon name="search" />
      <input
        type="search"
        className="input"
        maxLength={255}
        value={typed}
        placeholder={t('search')}
        aria-label={t('search')}
        onChange={({ target }) => setTyped(target.value)}
      />
    </div>
  );
}

/** What else the searched words may be: the number of a client, an external id, or an operator, also misspelled. */
export function SearchedElsewhere({ q, onChange }: { q: string; onChange: (changed: Partial<CallSearch>) => void }) {
  const t = callsTexts.use();
  const isLong = q.length >= LEAST_CHARS;
  const digits = /^[+\d\s()-]+$/u.test(q) ? q.replaceAll(/\D/gu, '') : '';
  const byNumber = useCount({ client_phone_number: digits }, digits.length >= LEAST_DIGITS);
  const byId = useCount({ partner_call_id: q }, isLong);
  const operators = nearest(q, useOperators(isLong), ({ name }) => name).slice(0, MOST_OPERATORS);
  const offers = [
    ...(byNumber.count > 0
      ? [
          {
            key: 'client_phone_number',
            name: q,
            count: byNumber.count,
            search: { client_phone_number: digits },
          } as const,
        ]
      : []),
    ...(byId.count > 0
      ? [{ key: 'partner_call_id', name: q, count: byId.count, search: { partner_call_id: q } } as const]
      : []),
    ...(isLong
      ? operators.map(
          ({ name, calls }) => ({ key: 'operator_name', name, count: calls, search: { operator_name: name } }) as const,
        )
      : []),
  ];
  if (offers.length === 0) return null;
  return (
    <div className="calls-filters" role="group" aria-label={t('also')}>
      <span className="muted">{t('also')}</span>
      {offers.map(({ key, name, count, search }) => (
        <button
          key={`${key} ${name}`}
          type="button"
          className="chip"
          onClick={() => onChange({ q: undefined, ...search })}
        >
          {t(`filter.${key}`)}: <span className="chip-value foreign-line">{name}</span>
          <span className="muted number">{format.number(count)}</span>
        </button>
      ))}
    </div>
  );
}
