import { useRef } from 'react';
import { saveFile } from '../../api/save-file.ts';
import * as format from '../../i18n/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import { failed } from '../../widgets/toasts.tsx';
import { uploadTexts } from './texts.ts';
import { type RowErrors, sendCorrected, skipFaults, type Upload } from './uploads.ts';

/** What is wrong in a refused CSV, by row and column, and the ways on. */
export function Faults({ upload, errors }: { upload: Upload; errors: RowErrors }) {
  const t = uploadTexts.use();
  const input = useRef<HTMLInputElement>(null);
  const { rows, valid, invalid, faults, faults_truncated, rejected_csv_url } = errors;
  return (
    <div className="upload-faults">
      <p role="alert">
        <strong>{t('refused', { n: invalid, invalid: format.number(invalid), rows: format.number(rows) })}</strong>{' '}
        {t('refused.how')}
      </p>
      <div className="upload-ways">
        {rejected_csv_url !== null && (
          <button
            type="button"
            className="button"
            onClick={() => void saveFile(rejected_csv_url, t('rejectedName')).catch(failed)}
          >
            <Icon name="download" />
            {t('rejected')}
          </button>
        )}
        <button type="button" className="button" onClick={() => input.current?.click()}>
          <Icon name="upload" />
          {t('corrected')}
        </button>
        {valid > 0 && (
          <button type="button" className="button" onClick={() => skipFaults(upload)}>
            {t('skip', { n: valid, valid: format.number(valid) })}
          </button>
        )}
        <input
          ref={input}
          type="file"
          hidden
          accept=".csv"
          aria-label={t('corrected')}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file !== undefined) sendCorrected(upload, file);
            target.value = '';
          }}
        />
      </div>
      <div className="table-frame upload-table" tabIndex={0} role="region" aria-label={t('faults')}>
        <table role="table" className="table table-stack">
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col" className="number">
                {t('fault.row')}
              </th>
              <th role="columnheader" scope="col">
                {t('fault.column')}
              </th>
              <th role="columnheader" scope="col">
                {t('fault.value')}
              </th>
              <th role="columnheader" scope="col">
                {t('fault.what')}
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {faults.map((fault, index) => (
              // One row may have the same fault twice.
              // oxlint-disable-next-line react/no-array-index-key
              <tr role="row" key={index}>
                <td role="cell" className="number" data-column={t('fault.row')}>
                  {fault.row ?? '–'}
                </td>
                <td role="cell" data-column={t('fault.column')}>
                  {fault.column === null ? '–' : <code>{fault.column}</code>}
                </td>
                <td role="cell" className="foreign upload-value" data-column={t('fault.value')}>
                  {fault.value}
                </td>
                <td role="cell">
                  <strong>{t(`code.${fault.code}`)}</strong>
                  <span className="muted foreign upload-message">{fault.message}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {faults_truncated && <p className="muted">{t('faults.more')}</p>}
    </div>
  );
}
