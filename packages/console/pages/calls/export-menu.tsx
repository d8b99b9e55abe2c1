import { useState } from 'react';
import { saveFile } from '../../api/save-file.ts';
import { stringifySearch } from '../../app/search-params.ts';
import { SERVICE_URL } from '../../session/session.ts';
import { Icon } from '../../widgets/icon.tsx';
import { Popup } from '../../widgets/popup.tsx';
import { failed } from '../../widgets/toasts.tsx';
import type { CallSearch } from './call-search.ts';
import { callsTexts } from './texts.ts';

const FORMATS = { csv: 'CSV', xlsx: 'Excel', ndjson: 'JSON Lines', parquet: 'Parquet' } as const;
type Format = keyof typeof FORMATS;

/** Downloads all calls that the filters show, in a format of the user's choice. */
export function ExportMenu({ search }: { search: CallSearch }) {
  const t = callsTexts.use();
  const [isBusy, setBusy] = useState(false);
  const run = (format: Format) => {
    setBusy(true);
    download(search, format)
      .catch(failed)
      .finally(() => setBusy(false));
  };
  return (
    <Popup
      isDisabled={isBusy}
      label={
        <>
          <Icon name="download" />
          <span className="wide-only">{t(isBusy ? 'exporting' : 'export')}</span>
        </>
      }
      name={t('export')}
    >
      {(close) =>
        (Object.keys(FORMATS) as Format[]).map((format) => (
          <button
            key={format}
            type="button"
            className="popup-item"
            onClick={() => {
              close();
              run(format);
            }}
          >
            {FORMATS[format]}
          </button>
        ))
      }
    </Popup>
  );
}

function download({ sort: _sort, ...filters }: CallSearch, format: Format): Promise<void> {
  return saveFile(`${SERVICE_URL}/api/v1/calls/export${stringifySearch({ ...filters, format })}`, `calls.${format}`);
}
