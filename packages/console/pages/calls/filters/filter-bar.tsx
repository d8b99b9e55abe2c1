import { type ReactNode, useState } from 'react';
import * as format from '../../../i18n/format.ts';
import { addDays, dayIn, FIRST_DAY, LAST_DAY, startOfDay } from '../../../i18n/zone/days.ts';
import { timeZone } from '../../../i18n/zone/zone.ts';
import { Button, Check, Form, Popup, PopupItem, TextField } from '../../../widgets/controls.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { callsTexts } from '../../texts.ts';
import { type CallSearch, fieldsOf, type Filter, type FilterKey, FILTERS, isFiltered } from '../call-search.ts';
import { ALWAYS, filterName, optionName, useCounts, useFilterValue, useNames, useValues } from './filters.ts';

interface Props {
  readonly search: CallSearch;
  readonly onChange: (changed: Partial<CallSearch>) => void;
  /** Before the filters. */
  readonly children?: ReactNode;
}

/** The filters as chips: those in use, those that are always offered, and a way to add any other. */
export function FilterBar({ search, onChange, children }: Props) {
  const t = callsTexts.use();
  const [added, setAdded] = useState<readonly FilterKey[]>([]);
  const keys = Object.keys(FILTERS) as FilterKey[];
  const isUsed = (key: FilterKey) => fieldsOf(FILTERS[key]).some((field) => search[field] !== undefined);
  const shown = keys.filter((key) => ALWAYS.includes(key) || isUsed(key) || added.includes(key));
  const others = keys.filter((key) => !shown.includes(key));
  return (
    <div className="calls-filters" role="group" aria-label={t('filters')}>
      {children}
      {shown.map((key) => (
        <FilterChip key={key} filterKey={key} isNew={added.includes(key) && !isUsed(key)} {...{ search, onChange }} />
      ))}
      <Popup className="chip" icon="plus" iconSize={13} label={t('addFilter')}>
        {others.map((key) => (
          <PopupItem key={key} onClick={() => setAdded([...added, key])}>
            {filterName(key)}
          </PopupItem>
        ))}
      </Popup>
      {isFiltered(search) && (
        <Button
          kind="quiet"
          isSmall
          onClick={() => {
            setAdded([]);
            onChange(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])));
          }}
        >
          {t('clearFilters')}
        </Button>
      )}
    </div>
  );
}

function FilterChip({ filterKey, isNew, search, onChange }: Props & { filterKey: FilterKey; isNew: boolean }) {
  const value = useFilterValue(filterKey, search);
  const name = filterName(filterKey);
  return (
    <Popup
      className={value === null ? 'chip' : 'chip chip-on'}
      name={value === null ? name : `${name}: ${value}`}
      opensAtOnce={isNew}
      label={
        <>
          {value === null ? name : `${name}:`}
          {value !== null && <span className="chip-value foreign-line">{value}</span>}
          <Icon name="down" size={12} />
        </>
      }
    >
      {(close) => <FilterForm {...{ filterKey, search, onChange, close }} />}
    </Popup>
  );
}

interface FormProps extends Pick<Props, 'search' | 'onChange'> {
  readonly filterKey: FilterKey;
  readonly close: () => void;
}

function FilterForm(props: FormProps) {
  const filter: Filter = FILTERS[props.filterKey];
  if (filter.kind === 'any-of') return <AnyOf {...props} filter={filter} />;
  if (filter.kind === 'one-of') return <OneOf {...props} filter={filter} />;
  if (filter.kind === 'text') return <Text {...props} filter={filter} />;
  return <FromTo {...props} filter={filter} />;
}

type Of<Kind extends Filter['kind']> = FormProps & { filter: Extract<Filter, { kind: Kind }> };

function AnyOf({ filterKey, filter: { field, options: fixed }, search, onChange }: Of<'any-of'>) {
  const chosen = search[field] ?? [];
  const found = useValues(search, field, fixed.length === 0);
  const options = fixed.length > 0 ? fixed : [...new Set([...chosen, ...found])].sort();
  const counts = useCounts(search, field, options);
  return options.map((option, index) => (
    <Check
      className="popup-item"
      key={option}
      checked={chosen.includes(option)}
      onTick={(isTicked) => {
        const next = isTicked ? [...chosen, option] : chosen.filter((each) => each !== option);
        onChange({ [field]: next.length === 0 ? undefined : next });
      }}
    >
      <span className="foreign">{optionName(filterKey, option)}</span>
      <span className="count">{counts[index]}</span>
    </Check>
  ));
}

function OneOf({ filterKey, filter: { field, options, by }, search, onChange }: Of<'one-of'>) {
  const t = callsTexts.use();
  const names = useNames(by);
  const found = useValues(search, field, options.length === 0);
  const values = options.length > 0 ? options : by === undefined ? found : [...names.keys()];
  // There may be hundreds of people, and each number is a request.
  const counts = useCounts(search, field, by === 'person' ? [] : values);
  const chosen = search[field];
  return (
    <>
      {values.map((value, index) => (
        <PopupItem
          key={value}
          aria-pressed={chosen === value}
          onClick={() => onChange({ [field]: chosen === value ? undefined : value })}
        >
          <span className="popup-tick">{chosen === value ? '✓' : ''}</span>
          <span className="foreign">{names.get(value) ?? optionName(filterKey, value)}</span>
          <span className="count">{counts[index]}</span>
        </PopupItem>
      ))}
      {chosen !== undefined && <PopupItem onClick={() => onChange({ [field]: undefined })}>{t('any')}</PopupItem>}
    </>
  );
}

function Text({ filterKey, filter, search, onChange, close }: Of<'text'>) {
  const t = callsTexts.use();
  return (
    <Form
      className="form filter-form"
      onSend={(text) => {
        close();
        onChange({ [filter.field]: text('value') || undefined });
      }}
    >
      <TextField label={filterName(filterKey)} name="value" defaultValue={search[filter.field] ?? ''} maxLength={255} />
      <Button kind="primary" isSubmit>
        {t('apply')}
      </Button>
    </Form>
  );
}

function FromTo({ filter, search, onChange, close }: Of<'numbers' | 'days'>) {
  const t = callsTexts.use();
  const isDays = filter.kind === 'days';
  const [from, setFrom] = useState(isDays ? dayOf(search[filter.from]) : (search[filter.from] ?? ''));
  const [to, setTo] = useState(isDays ? dayOf(search[filter.to], 1) : (search[filter.to] ?? ''));
  const most = filter.kind === 'numbers' ? filter.most : undefined;
  const bounds = isDays
    ? { type: 'date', min: FIRST_DAY, max: LAST_DAY }
    : { type: 'number', min: 0, max: most, step: 'any' };
  const isReversed = from !== '' && to !== '' && (isDays ? from > to : Number(from) > Number(to));
  const choose = (start: string, end: string) => {
    close();
    onChange({ [filter.from]: start || undefined, [filter.to]: end || undefined });
  };
  return (
    <Form
      className="form filter-form"
      onSend={() => (isDays ? choose(startOf(from), startOf(to, 1)) : choose(from, to))}
    >
      {isDays && (
        <div className="filter-quick">
          {[1, 7, 30].map((days) => (
            <Button isSmall key={days} onClick={() => choose(startOf(dayOf(new Date().toISOString()), 1 - days), '')}>
              {t('lastDays', { n: days, days: format.number(days) })}
            </Button>
          ))}
        </div>
      )}
      <div className="filter-range">
        <TextField label={t('rangeFrom')} {...bounds} value={from} onText={setFrom} />
        <TextField label={t('rangeTo')} {...bounds} value={to} onText={setTo} />
      </div>
      {isReversed && <p role="alert">{t('reversed')}</p>}
      <Button kind="primary" isSubmit disabled={isReversed}>
        {t('apply')}
      </Button>
    </Form>
  );
}

/** The day of an instant, as a date field has it. */
function dayOf(instant: string | undefined, before = 0): string {
  if (instant === undefined || Number.isNaN(Date.parse(instant))) return '';
  return dayIn(new Date(Date.parse(instant) - before), timeZone());
}

/** The first moment of a day, or of the day that many days later. */
function startOf(day: string, later = 0): string {
  return day === '' ? '' : startOfDay(addDays(day, later), timeZone());
}
