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

/** The exported calls: those of the filters, or calls by uuid. */
type Exported = { readonly search: CallSearch } | { readonly uuids: readonly string[] };

/** Downloads calls in a format of the user's choice. */
export function ExportMenu(calls: Exported) {
  const t = callsTexts.use();
  const [isBusy, setBusy] = useState(false);
  const isChosen = 'uuids' in calls;
  const run = (format: Format) => {
    setBusy(true);
    download(calls, format)
      .catch(failed)
      .finally(() => setBusy(false));
  };
  return (
    <Popup
      isDisabled={isBusy}
      label={
        <>
          <Icon name="download" />
          <span className={isChosen ? '' : 'wide-only'}>{t(isBusy ? 'exporting' : 'export')}</span>
        </>
      }
      name={t(isChosen ? 'exportSelected' : 'export')}
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

function download(calls: Exported, format: Format): Promise<void> {
  const url = `${SERVICE_URL}/api/v1/calls/export`;
  const name = `calls.${format}`;
  if ('uuids' in calls) return saveFile(url, name, { call_uuids: calls.uuids, format });
  return saveFile(url + stringifySearch({ ...calls.search, format }), name);
}
