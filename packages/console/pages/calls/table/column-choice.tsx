import { Icon } from '../../../widgets/icon.tsx';
import { Popup } from '../../../widgets/popup.tsx';
import { callsTexts } from '../texts.ts';
import { type ColumnName, COLUMNS } from './columns.tsx';

interface Props {
  readonly columns: readonly ColumnName[];
  readonly onChange: (columns: readonly ColumnName[]) => void;
}

/** Which columns the table has. One always stays. */
export function ColumnChoice({ columns, onChange }: Props) {
  const t = callsTexts.use();
  const names = Object.keys(COLUMNS) as ColumnName[];
  return (
    <Popup
      label={
        <>
          <Icon name="columns" />
          <span className="wide-only">{t('columns')}</span>
        </>
      }
      name={t('columns')}
    >
      {() =>
        names.map((name) => (
          <label key={name} className="popup-item">
            <input
              type="checkbox"
              checked={columns.includes(name)}
              disabled={columns.length === 1 && columns.includes(name)}
              onChange={({ target }) =>
                onChange(names.filter((each) => (each === name ? target.checked : columns.includes(each))))
              }
            />
            {t(`column.${name}`)}
          </label>
        ))
      }
    </Popup>
  );
}
