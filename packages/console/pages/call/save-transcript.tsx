import { useState } from 'react';
import { saveFile } from '../../api/save-file.ts';
import { SERVICE_URL } from '../../session/session.ts';
import { failed } from '../../widgets/actions.tsx';
import { Popup, PopupItem } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { callTexts } from '../texts.ts';
import type { CallDetail } from './use-call.ts';

const FORMATS = [
  { name: 'txt', label: 'TXT', needsTimes: false },
  { name: 'srt', label: 'SRT', needsTimes: true },
  { name: 'vtt', label: 'WebVTT', needsTimes: true },
  { name: 'json', label: 'JSON', needsTimes: false },
] as const;

/** Downloads the transcript. Subtitles are offered where the utterances have times. */
export function SaveTranscript({ call }: { call: CallDetail }) {
  const t = callTexts.use();
  const [isBusy, setBusy] = useState(false);
  const hasTimes = call.transcript?.utterances.every(({ start, end }) => start !== null && end !== null) ?? false;
  const save = (format: string) => {
    setBusy(true);
    saveFile(`${SERVICE_URL}/api/v1/calls/${call.uuid}/transcript?format=${format}`, `${call.uuid}.${format}`)
      .catch(failed)
      .finally(() => setBusy(false));
  };
  return (
    <Popup
      className="button button-quiet button-small"
      isDisabled={isBusy}
      name={t('saveTranscript')}
      label={
        <>
          <Icon name="download" size={14} />
          {t('saveTranscript')}
        </>
      }
    >
      {(close) =>
        FORMATS.filter(({ needsTimes }) => hasTimes || !needsTimes).map(({ name, label }) => (
          <PopupItem
            key={name}
            onClick={() => {
              close();
              save(name);
            }}
          >
            {label}
          </PopupItem>
        ))
      }
    </Popup>
  );
}
