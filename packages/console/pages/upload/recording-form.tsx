import { useQuery } from '@tanstack/react-query';
import { type SyntheticEvent, useId, useState } from 'react';
import { api, send } from '../../api/client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import * as format from '../../i18n/format.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { uploadTexts } from './texts.ts';
import type { RecordingDetails } from './uploads.ts';

interface Props {
  readonly recordings: readonly File[];
  readonly onSend: (details: RecordingDetails) => void;
  readonly onClose: () => void;
}

/** "2026-11-22T14:05", as an input for local times wants it. */
function localTime(instant: number): string {
  const date = new Date(instant);
  return new Date(instant - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What a recording does not tell itself: who spoke, when and about what. */
export function RecordingForm({ recordings, onSend, onClose }: Props) {
  const t = uploadTexts.use();
  const shell = shellTexts.use();
  const list = useId();
  const [operatorSide, setOperatorSide] = useState<'left' | 'right'>('left');
  // The firm's segment types that have a scorecard are offered. Others can be typed.
  const scorecards = useQuery({
    queryKey: ['scorecards', 'segment-types'],
    queryFn: ({ signal }) => send(api.GET('/api/v1/scorecards', { params: { query: { size: 100 } }, signal })),
  });
  const types = new Set((scorecards.data?.items ?? []).flatMap(({ segment_type }) => segment_type ?? []));

  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const direction = text('direction');
    onSend({
      client_phone_number: text('client_phone_number'),
      operator_name: text('operator_name'),
      start_time: new Date(text('start_time')).toISOString(),
      segment_type: text('segment_type'),
      left_channel: operatorSide === 'left' ? 'operator' : 'client',
      right_channel: operatorSide === 'left' ? 'client' : 'operator',
      ...((direction === 'inbound' || direction === 'outbound') && { direction }),
    });
  };

  return (
    <Dialog
      title={t('recording.title', { n: recordings.length, count: format.number(recordings.length) })}
      onClose={onClose}
    >
      <p className="muted foreign">{recordings.map(({ name }) => name).join(', ')}</p>
      <form onSubmit={submit} className="upload-form">
        <label className="field">
          <span className="field-label">{t('recording.operator')}</span>
          <input className="input" name="operator_name" required maxLength={255} autoComplete="off" />
        </label>
        <label className="field">
          <span className="field-label">{t('recording.client')}</span>
          <input
            className="input"
            name="client_phone_number"
            type="tel"
            required
            pattern="\+?[0-9]{7,15}"
            title={t('recording.clientRule')}
            placeholder="+998901234567"
            autoComplete="off"
          />
        </label>
        <label className="field">
          <span className="field-label">{t('recording.start')}</span>
          <input
            className="input"
            name="start_time"
            type="datetime-local"
            required
            defaultValue={localTime(recordings[0]?.lastModified ?? Date.now())}
          />
        </label>
        <label className="field">
          <span className="field-label">{t('recording.segmentType')}</span>
          <input className="input" name="segment_type" required maxLength={255} list={list} autoComplete="off" />
          <datalist id={list}>
            {[...types].map((type) => (
              <option key={type} value={type} />
            ))}
          </datalist>
        </label>
        <label className="field">
          <span className="field-label">{t('recording.operatorSide')}</span>
          <select
            className="input"
            value={operatorSide}
            onChange={({ target }) => setOperatorSide(target.value === 'left' ? 'left' : 'right')}
          >
            <option value="left">{t('recording.left')}</option>
            <option value="right">{t('recording.right')}</option>
          </select>
        </label>
        <label className="field">
          <span className="field-label">{t('recording.direction')}</span>
          <select className="input" name="direction" defaultValue="">
            <option value="">{t('recording.unknown')}</option>
            <option value="inbound">{t('recording.inbound')}</option>
            <option value="outbound">{t('recording.outbound')}</option>
          </select>
        </label>
        <div className="dialog-actions upload-form-actions">
          <button type="button" className="button" onClick={onClose}>
            {shell('cancel')}
          </button>
          <button type="submit" className="button button-primary">
            {t('recording.send')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
