import * as format from '../../i18n/format.ts';
import { Button } from '../../widgets/controls.tsx';
import { Table } from '../../widgets/list.tsx';
import { uploadTexts } from '../texts.ts';
import { RefusedRows, FileButton } from './parts.tsx';
import { type RowErrors, sendCorrected, skipFaults, type Upload } from './uploads.ts';

/** The faults of a refused CSV, by row and column, and what to do next. */
export function Faults({ upload, errors }: { upload: Upload; errors: RowErrors }) {
  const t = uploadTexts.use();
  const { rows, valid, invalid, faults, faults_truncated, rejected_csv_url } = errors;
  return (
    <div className="upload-faults">
      <p role="alert">
        <strong>{t('refused', { n: invalid, invalid: format.number(invalid), rows: format.number(rows) })}</strong>{' '}
        {t('refused.how')}
      </p>
      <div className="row upload-ways">
        <RefusedRows url={rejected_csv_url} />
        <FileButton
          icon="upload"
          name={t('corrected')}
          accept=".csv"
          onFiles={([file]) => file !== undefined && sendCorrected(upload, file)}
        />
        {valid > 0 && (
          <Button onClick={() => skipFaults(upload)}>{t('skip', { n: valid, valid: format.number(valid) })}</Button>
        )}
      </div>
      <Table
        label={t('faults')}
        className="table-frame upload-table"
        items={faults}
        // One row may have the same fault twice.
        keyOf={(_, index) => index}
        columns={({ plain, number, text, actions }) => [
          number(t('fault.row'), ({ row }) => row ?? '–'),
          plain(t('fault.column'), ({ column }) => (column === null ? '–' : <code>{column}</code>)),
          text(t('fault.value'), ({ value }) => value, { className: 'foreign upload-value' }),
          actions(t('fault.what'), ({ code, message }) => (
            <>
              <strong>{t(`code.${code}`)}</strong>
              <span className="muted foreign upload-message">{message}</span>
            </>
          )),
        ]}
      />
      {faults_truncated && <p className="muted">{t('faults.more')}</p>}
    </div>
  );
}
