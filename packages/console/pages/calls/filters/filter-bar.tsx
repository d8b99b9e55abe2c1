import { type ReactNode, useState } from 'react';
import { Button, Popup, PopupItem } from '../../../widgets/controls.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { callsTexts } from '../../texts.ts';
import { type CallSearch, isFiltered } from '../call-search.ts';
import type { Call } from '../use-calls.ts';
import { FilterForm } from './filter-form.tsx';
import { useFilterValue, ALWAYS, fieldsOf, type FilterKey, filterOf, FILTERS, filterName } from './filters.ts';

interface Props {
  readonly search: CallSearch;
  readonly onChange: (changed: Partial<CallSearch>) => void;
  readonly calls: readonly Call[];
  /** Before the filters. */
  readonly children?: ReactNode;
}

/** The filters as chips: those in use, those that are always offered, and a way to add any other. */
export function FilterBar({ search, onChange, calls, children }: Props) {
  const t = callsTexts.use();
  const [added, setAdded] = useState<readonly FilterKey[]>([]);
  const keys = Object.keys(FILTERS) as FilterKey[];
  const isUsed = (key: FilterKey) => fieldsOf(filterOf(key)).some((field) => search[field] !== undefined);
  const shown = keys.filter((key) => ALWAYS.includes(key) || isUsed(key) || added.includes(key));
  const others = keys.filter((key) => !shown.includes(key));
  return (
    <div className="calls-filters" role="group" aria-label={t('filters')}>
      {children}
      {shown.map((key) => (
        <FilterChip
          key={key}
          filterKey={key}
          isNew={added.includes(key) && !isUsed(key)}
          {...{ search, onChange, calls }}
        />
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

function FilterChip({ filterKey, isNew, search, onChange, calls }: Props & { filterKey: FilterKey; isNew: boolean }) {
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
      {(close) => <FilterForm {...{ filterKey, search, calls, onChange, close }} />}
    </Popup>
  );
}
