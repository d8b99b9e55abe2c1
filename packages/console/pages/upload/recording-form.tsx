import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { get } from '../../api/client.ts';
import { type Fields, FormDialog } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { instantOf, localInput } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { SelectField, TextField } from '../../widgets/controls.tsx';
import { uploadTexts } from '../texts.ts';
import type { RecordingDetails } from './uploads.ts';

const SIDES = ['left', 'right'] as const;
const DIRECTIONS = ['unknown', 'inbound', 'outbound'] as const;

interface Props {
  readonly recordings: readonly File[];
  readonly onSend: (details: RecordingDetails) => void;
  readonly onClose: () => void;
}

/** The metadata that a recording does not contain: who spoke, when and about what. */
export function RecordingForm({ recordings, onSend, onClose }: Props) {
  const t = uploadTexts.use();
  const list = useId();
  // The firm's segment types that have a scorecard are offered. Others can be typed.
  const scorecards = useQuery(get(['scorecards', 'segment-types'], '/api/v1/scorecards', { query: { size: 100 } }));
  const types = new Set((scorecards.data?.items ?? []).flatMap(({ segment_type }) => segment_type ?? []));

  const send = async ({ text }: Fields) => {
    const direction = text('direction');
    const isLeft = text('operator_side') === 'left';
    onSend({
      client_phone_number: text('client_phone_number'),
      operator_name: text('operator_name'),
      start_time: instantOf(text('start_time'), timeZone()),
      segment_type: text('segment_type'),
      left_channel: isLeft ? 'operator' : 'client',
      right_channel: isLeft ? 'client' : 'operator',
      ...((direction === 'inbound' || direction === 'outbound') && { direction }),
    });
  };
  return (
    <FormDialog
      title={t('recording.title', { n: recordings.length, count: format.number(recordings.length) })}
      about={<p className="muted foreign">{recordings.map(({ name }) => name).join(', ')}</p>}
      action={t('recording.send')}
      draft={`recording ${recordings.map(({ name }) => name).join(' ')}`}
      save={send}
      onClose={onClose}
    >
      <TextField label={t('recording.operator')} name="operator_name" required maxLength={255} autoComplete="off" />
      <TextField
        label={t('recording.client')}
        name="client_phone_number"
        type="tel"
        required
        pattern="\+?[0-9]{7,15}"
        title={t('recording.clientRule')}
        placeholder="+998901234567"
        autoComplete="off"
      />
      <TextField
        label={t('recording.start')}
        name="start_time"
        type="datetime-local"
        required
        defaultValue={localInput(recordings[0]?.lastModified ?? Date.now(), timeZone())}
      />
      <TextField
        label={t('recording.segmentType')}
        name="segment_type"
        required
        maxLength={255}
        list={list}
        autoComplete="off"
      />
      <datalist id={list}>
        {[...types].map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <SelectField
        label={t('recording.operatorSide')}
        name="operator_side"
        options={SIDES}
        nameOf={(side) => t(`recording.${side}`)}
      />
      <SelectField
        label={t('recording.direction')}
        name="direction"
        options={DIRECTIONS}
        nameOf={(direction) => t(`recording.${direction}`)}
      />
    </FormDialog>
  );
}
