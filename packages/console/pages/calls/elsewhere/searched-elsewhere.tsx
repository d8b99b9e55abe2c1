import * as format from '../../../i18n/format.ts';
import { Chip } from '../../../widgets/controls.tsx';
import { callsTexts } from '../../texts.ts';
import type { CallSearch } from '../call-search.ts';
import { filterName } from '../filters/filters.ts';
import { useMeant, useRespelled } from './meant.ts';

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
