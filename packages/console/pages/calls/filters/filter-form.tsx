import { useState } from 'react';
import * as format from '../../../i18n/format.ts';
import { addDays, dayIn, startOfDay } from '../../../i18n/zone/days.ts';
import { timeZone } from '../../../i18n/zone/zone.ts';
import { Button, Check, Form, TextField, PopupItem } from '../../../widgets/controls.tsx';
import { callsTexts } from '../../texts.ts';
import type { CallSearch, SingleFilter } from '../call-search.ts';
import type { Call } from '../use-calls.ts';
import { useCounts, useNames, useValues } from './filter-counts.ts';
import { optionName, type Filter, type FilterKey, filterOf, filterName } from './filters.ts';

interface Props {
  readonly filterKey: FilterKey;
  readonly search: CallSearch;
  readonly calls: readonly Call[];
  readonly onChange: (changed: Partial<CallSearch>) => void;
  readonly close: () => void;
}

/** The form that a chip opens. */
export function FilterForm(props: Props) {
  const filter: Filter = filterOf(props.filterKey);
  if (filter.kind === 'any-of') return <AnyOf {...props} filter={filter} />;
  if (filter.kind === 'one-of') return <OneOf {...props} filter={filter} />;
  if (filter.kind === 'named') return <Named {...props} filter={filter} />;
  if (filter.kind === 'text') return <Text {...props} filter={filter} />;
  return <FromTo {...props} filter={filter} />;
}

type Of<Kind extends Filter['kind']> = Props & { filter: Extract<Filter, { kind: Kind }> };

function AnyOf({ filterKey, filter, search, calls, onChange }: Of<'any-of'>) {
  const chosen = search[filter.field] ?? [];
  const found = useValues(search, filter.field, filter.options.length === 0);
  const options =
    filter.options.length > 0
      ? filter.options
      : [...new Set([...chosen, ...calls.map(({ segment_type }) => segment_type), ...found])].sort();
  const counts = useCounts(search, filter.field, options);
  return options.map((option, index) => (
    <Check
      className="popup-item"
      key={option}
      checked={chosen.includes(option)}
      onTick={(isTicked) => {
        const next = isTicked ? [...chosen, option] : chosen.filter((each) => each !== option);
        onChange({ [filter.field]: next.length === 0 ? undefined : next });
      }}
    >
      <span className="foreign">{optionName(filterKey, option)}</span>
      <span className="count">{counts[index]}</span>
    </Check>
  ));
}

function OneOf({ filterKey, filter, ...props }: Of<'one-of'>) {
  const found = useValues(props.search, filter.field, filter.options.length === 0);
  const values = filter.options.length > 0 ? filter.options : found;
  const options = values.map((option) => ({ option, name: optionName(filterKey, option) }));
  return <Options {...props} field={filter.field} options={options} />;
}

function Named({ filter, ...props }: Of<'named'>) {
  const options = [...useNames(filter.by, true)].map(([option, name]) => ({ option, name }));
  return <Options {...props} field={filter.field} options={options} />;
}

interface OptionsProps extends Pick<Props, 'search' | 'onChange'> {
  readonly field: SingleFilter;
  readonly options: readonly { readonly option: string; readonly name: string }[];
}

function Options({ field, options, search, onChange }: OptionsProps) {
  const t = callsTexts.use();
  const counts = useCounts(
    search,
    field,
    options.map(({ option }) => option),
  );
  const chosen = search[field];
  return (
    <>
      {options.map(({ option, name }, index) => (
        <PopupItem
          key={option}
          aria-pressed={chosen === option}
          onClick={() => onChange({ [field]: chosen === option ? undefined : option })}
        >
          <span className="popup-tick">{chosen === option ? '✓' : ''}</span>
          <span className="foreign">{name}</span>
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
  const bounds = isDays ? { type: 'date' } : { type: 'number', min: 0, max: most, step: 'any' };
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
