import { useMedia } from '../../../widgets/use-media.ts';
import { type Sort, SORTS } from '../call-search.ts';
import { callsTexts } from '../texts.ts';
import { columnOf, type ColumnName, NARROW } from './columns.tsx';

interface Props {
  readonly sort: Sort;
  readonly columns: readonly ColumnName[];
  readonly onSort: (sort: Sort) => void;
}

/** By what the list is sorted, where no heading of the table says it. */
export function SortChoice({ sort, columns, onSort }: Props) {
  const t = callsTexts.use();
  const isNarrow = useMedia(NARROW);
  if (!isNarrow && columns.some((name) => columnOf(name).sort === sort.replace('-', ''))) return null;
  return (
    <select
      className="chip"
      aria-label={t('sort')}
      value={sort}
      onChange={({ target }) => onSort(SORTS.find((each) => each === target.value) ?? sort)}
    >
      {SORTS.map((each) => (
        <option key={each} value={each}>
          {t(`sort.${each}`)}
        </option>
      ))}
    </select>
  );
}
