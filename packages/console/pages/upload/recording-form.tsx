import { useQuery } from '@tanstack/react-query';
import { type SyntheticEvent, useId, useState } from 'react';
import { api, send } from '../../api/client.ts';
import { leaveForm } from '../../drafts/leave-question.tsx';
import { useFormDraft } from '../../drafts/use-form-draft.ts';
import * as format from '../../i18n/format.ts';
import { instantOf, localInput } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Field } from '../../widgets/field.tsx';
import { uploadTexts } from './texts.ts';
import type { RecordingDetails } from './uploads.ts';

interface Props {
  readonly recordings: readonly File[];
  readonly onSend: (details: RecordingDetails) => void;
  readonly onClose: () => void;
}

/** The metadata that a recording does not contain: who spoke, when and about what. */
export function RecordingForm({ recordings, onSend, onClose }: Props) {
  const t = uploadTexts.use();
  const list = useId();
  const key = `recording ${recordings.map(({ name }) => name).join(' ')}`;
  const draft = useFormDraft(key);
  const leave = () => void leaveForm(key, draft.isChanged, onClose);
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
    draft.discard();
    onSend({
      client_phone_number: text('client_phone_number'),
      operator_name: text('operator_name'),
      start_time: instantOf(text('start_time'), timeZone()),
      segment_type: text('segment_type'),
      left_channel: operatorSide === 'left' ? 'operator' : 'client',
      right_channel: operatorSide === 'left' ? 'client' : 'operator',
      ...((direction === 'inbound' || direction === 'outbound') && { direction }),
    });
  };

  return (
    <Dialog
      title={t('recording.title', { n: recordings.length, count: format.number(recordings.length) })}
      onClose={leave}
    >
      <p className="muted foreign">{recordings.map(({ name }) => name).join(', ')}</p>
      <form onSubmit={submit} className="upload-form" {...draft.form}>
        <Field label={t('recording.operator')}>
          <input className="input" name="operator_name" required maxLength={255} autoComplete="off" />
        </Field>
        <Field label={t('recording.client')}>
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
        </Field>
        <Field label={t('recording.start')}>
          <input
            className="input"
            name="start_time"
            type="datetime-local"
            required
            defaultValue={localInput(recordings[0]?.lastModified ?? Date.now(), timeZone())}
          />
        </Field>
        <Field label={t('recording.segmentType')}>
          <input className="input" name="segment_type" required maxLength={255} list={list} autoComplete="off" />
          <datalist id={list}>
            {[...types].map((type) => (
              <option key={type} value={type} />
            ))}
          </datalist>
        </Field>
        <Field label={t('recording.operatorSide')}>
          <select
            className="input"
            value={operatorSide}
            onChange={({ target }) => setOperatorSide(target.value === 'left' ? 'left' : 'right')}
          >
            <option value="left">{t('recording.left')}</option>
            <option value="right">{t('recording.right')}</option>
          </select>
        </Field>
        <Field label={t('recording.direction')}>
          <select className="input" name="direction" defaultValue="">
            <option value="">{t('recording.unknown')}</option>
            <option value="inbound">{t('recording.inbound')}</option>
            <option value="outbound">{t('recording.outbound')}</option>
          </select>
        </Field>
        <DialogActions onClose={leave}>
          <button type="submit" className="button button-primary">
            {t('recording.send')}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
