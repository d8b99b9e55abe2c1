import { Check, Popup, Select } from '../../../widgets/controls.tsx';
import { useMedia } from '../../../widgets/use-media.ts';
import { callsTexts } from '../../texts.ts';
import { type Sort, SORTS } from '../call-search.ts';
import { type ColumnName, COLUMNS, columnOf, NARROW } from './columns.tsx';

interface Props {
  readonly columns: readonly ColumnName[];
  readonly onChange: (columns: readonly ColumnName[]) => void;
}

/** Which columns the table has. One always stays. */
export function ColumnChoice({ columns, onChange }: Props) {
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
