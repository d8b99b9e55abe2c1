import type { ReactNode } from 'react';
import { failureText } from '../../../i18n/faults/texts.ts';
import * as format from '../../../i18n/format.ts';
import { shellTexts } from '../../../i18n/texts.ts';
import { Score, StatusBadge } from '../../../widgets/call-facts.tsx';
import { Check, Popup, Select } from '../../../widgets/controls.tsx';
import { useMedia } from '../../../widgets/use-media.ts';
import { callsTexts } from '../../texts.ts';
import { type Sort, SORTS } from '../call-search.ts';
import type { Call } from '../use-calls.ts';

interface Column {
  /** A track of the grid. */
  readonly width: string;
  readonly isNumber?: boolean;
  /** The sort that the column's heading switches to, without its direction. */
  readonly sort?: 'start_time' | 'created_at' | 'score';
  readonly cell: (call: Call) => ReactNode;
}

const translate = callsTexts.translate;

const foreign = (text: string | null) => (text === null ? '' : <span className="foreign-line">{text}</span>);

/** The columns of the table of calls. Their names are also keys of the texts. */
const COLUMNS = {
  start_time: {
    width: 'minmax(134px, 1.1fr)',
    sort: 'start_time',
    cell: ({ start_time }) => <time dateTime={start_time}>{format.shortDateTime(start_time)}</time>,
  },
  operator_name: { width: 'minmax(130px, 1.6fr)', cell: ({ operator_name }) => foreign(operator_name) },
  score: { width: 'minmax(68px, 0.5fr)', isNumber: true, sort: 'score', cell: ({ score }) => <Score value={score} /> },
  needs_review: {
    width: 'minmax(88px, 0.6fr)',
    isNumber: true,
    cell: ({ needs_review: n }) => {
      if (n === null || n === 0) return '';
      // The number alone under the heading of its column, and in words where there is none.
      return (
        <>
          <span className="wide-only">{format.number(n)}</span>
          <span className="narrow-only muted">{translate('toReview', { n, count: format.number(n) })}</span>
        </>
      );
    },
  },
  status: { width: 'minmax(100px, 0.8fr)', cell: ({ status }) => <StatusBadge status={status} /> },
  operator_group_name: { width: 'minmax(110px, 1fr)', cell: (call) => foreign(call.operator_group_name) },
  client_phone_number: { width: 'minmax(152px, 1fr)', cell: (call) => foreign(call.client_phone_number) },
  segment_type: { width: 'minmax(92px, 1fr)', cell: ({ segment_type }) => foreign(segment_type) },
  direction: {
    width: 'minmax(96px, 0.6fr)',
    cell: ({ direction }) => (direction === null ? '' : translate(`direction.${direction}`)),
  },
  source: { width: 'minmax(110px, 0.6fr)', cell: ({ source }) => translate(`source.${source}`) },
  duration: {
    width: 'minmax(108px, 0.5fr)',
    isNumber: true,
    cell: ({ duration }) => (duration === null ? '–' : format.duration(duration)),
  },
  language: {
    width: 'minmax(112px, 0.7fr)',
    cell: ({ language }) => (language === null ? '' : shellTexts.inWords('language.', language)),
  },
  answered: {
    width: 'minmax(104px, 0.5fr)',
    isNumber: true,
    cell: ({ answered, questions }) => {
      if (answered === null || questions === null) return '';
      const open = questions - answered;
      return (
        <span className="calls-answered">
          {translate('answeredOf', { answered: format.number(answered), questions: format.number(questions) })}
          {open > 0 && <small className="muted">{translate('open', { n: open, count: format.number(open) })}</small>}
        </span>
      );
    },
  },
  reviewed_at: {
    width: 'minmax(128px, 1.1fr)',
    cell: ({ reviewed_at }) => (reviewed_at === null ? '' : format.shortDateTime(reviewed_at)),
  },
  partner_call_id: { width: 'minmax(110px, 1fr)', cell: ({ partner_call_id }) => foreign(partner_call_id) },
  disconnect_reason: { width: 'minmax(110px, 1fr)', cell: (call) => foreign(call.disconnect_reason) },
  failure: {
    width: 'minmax(140px, 1.5fr)',
    cell: ({ failure }) => foreign(failure === null ? null : failureText(failure)),
  },
  created_at: {
    width: 'minmax(128px, 1.1fr)',
    sort: 'created_at',
    cell: ({ created_at }) => <time dateTime={created_at}>{format.shortDateTime(created_at)}</time>,
  },
} as const satisfies Record<string, Column>;

/** A window in which a row is a card, and the table has no headings. */
export const NARROW = '(max-width: 700px)';

export type ColumnName = keyof typeof COLUMNS;

export const columnOf = (name: ColumnName): Column => COLUMNS[name];

const DEFAULTS: readonly ColumnName[] = [
  'start_time',
  'operator_name',
  'score',
  'needs_review',
  'status',
  'client_phone_number',
  'segment_type',
  'duration',
  'language',
  'answered',
];
const STORED = 'console.calls.columns';

/** The user's choice, in the order of `COLUMNS`. */
export function storedColumns(): readonly ColumnName[] {
  const stored = localStorage.getItem(STORED)?.split(',') ?? [];
  const known = (Object.keys(COLUMNS) as ColumnName[]).filter((name) => stored.includes(name));
  return known.length === 0 ? DEFAULTS : known;
}

export function storeColumns(names: readonly ColumnName[]): void {
  localStorage.setItem(STORED, names.join());
}

interface ChoiceProps {
  readonly columns: readonly ColumnName[];
  readonly onChange: (columns: readonly ColumnName[]) => void;
}

/** Which columns the table has. One always stays. */
export function ColumnChoice({ columns, onChange }: ChoiceProps) {
  const t = callsTexts.use();
  const names = Object.keys(COLUMNS) as ColumnName[];
  return (
    <Popup icon="columns" label={<span className="wide-only">{t('columns')}</span>} name={t('columns')}>
      {names.map((name) => (
        <Check
          className="popup-item"
          key={name}
          checked={columns.includes(name)}
          disabled={columns.length === 1 && columns.includes(name)}
          onTick={(isTicked) => onChange(names.filter((each) => (each === name ? isTicked : columns.includes(each))))}
        >
          {t(`column.${name}`)}
        </Check>
      ))}
    </Popup>
  );
}

interface SortProps {
  readonly sort: Sort;
  readonly columns: readonly ColumnName[];
  readonly onSort: (sort: Sort) => void;
}

/** By what the list is sorted, where no heading of the table says it. */
export function SortChoice({ sort, columns, onSort }: SortProps) {
  const t = callsTexts.use();
  const isNarrow = useMedia(NARROW);
  if (!isNarrow && columns.some((name) => columnOf(name).sort === sort.replace('-', ''))) return null;
  return (
    <Select
      className="chip"
      aria-label={t('sort')}
      options={SORTS}
      nameOf={(each) => t(`sort.${each}`)}
      value={sort}
      onChoose={onSort}
    />
  );
}
