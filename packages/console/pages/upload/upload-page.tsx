import './upload.css';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { firmQuery } from '../../api/client.ts';
import { type Fields, FormDialog } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { instantOf, localInput } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { SelectField, TextField } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { Page } from '../../widgets/page.tsx';
import { uploadTexts } from '../texts.ts';
import { Batches, SingleRecordings } from './batches.tsx';
import { Refusals } from './refusals.tsx';
import { FileButton, UploadCard } from './upload-card.tsx';
import { type RecordingDetails, startUpload, useUploads } from './uploads.ts';

/** Files of calls: choose them, correct what is refused, and watch until every call is scored. */
export default function UploadPage() {
  const t = uploadTexts.use();
  const uploads = useUploads();
  const [recordings, setRecordings] = useState<readonly File[]>([]);
  const [useless, setUseless] = useState<readonly File[]>([]);

  const choose = (files: readonly File[]) => {
    const chosen = sortFiles(files);
    for (const batch of chosen.batches) startUpload(batch);
    if (chosen.recordings.length > 0) setRecordings(chosen.recordings);
    setUseless(chosen.useless);
  };

  return (
    <Page title={t('title')}>
      <DropZone onFiles={choose} />
      {useless.length > 0 && (
        <p role="alert" className="upload-useless">
          {t('useless', { names: useless.map(({ name }) => name).join(', ') })}
        </p>
      )}
      {recordings.length > 0 && (
        <RecordingForm
          recordings={recordings}
          onSend={(details) => {
            for (const recording of recordings) startUpload({ recording, details });
            setRecordings([]);
          }}
          onClose={() => setRecordings([])}
        />
      )}
      {uploads.length > 0 && (
        <section aria-label={t('uploads')} className="upload-list">
          {uploads.map((upload) => (
            <UploadCard key={upload.id} upload={upload} />
          ))}
        </section>
      )}
      <Refusals shown={uploads.map(({ id }) => id)} />
      <Batches
        shown={uploads.flatMap(({ progress }) => (progress.state === 'accepted' ? progress.result.batch_id : []))}
      />
      <SingleRecordings />
    </Page>
  );
}

function DropZone({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const t = uploadTexts.use();
  const [isOver, setOver] = useState(false);
  return (
    <div
      className={isOver ? 'card upload-drop upload-drop-over' : 'card upload-drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      <Icon name="upload" size={28} />
      <h2>{t('drop.title')}</h2>
      <ul className="upload-kinds">
        <li>{t('drop.transcripts')}</li>
        <li>{t('drop.archive')}</li>
        <li>{t('drop.recordings')}</li>
      </ul>
      <FileButton kind="primary" name={t('drop.choose')} accept={ACCEPTED} isMany onFiles={onFiles} />
    </div>
  );
}

const RECORDING = /\.(?:wav|mp3|flac|ogg|aiff|au)$/i;
const ACCEPTED = '.csv,.zip,.wav,.mp3,.flac,.ogg,.aiff,.au';

const stemOf = ({ name }: File) => name.replace(/\.[^.]*$/, '').toLowerCase();

/**
 * Pairs each CSV with its archive: the one of the same name, or the only one where there is one CSV. A CSV without an
 * archive has transcripts. Useless are archives without a CSV, and files of no use here.
 */
function sortFiles(files: readonly File[]) {
  const tables = files.filter(({ name }) => /\.csv$/i.test(name));
  const archives = new Set(files.filter(({ name }) => /\.zip$/i.test(name)));
  const batches = tables.map((table) => {
    const only = tables.length === 1 && archives.size === 1 ? [...archives][0] : undefined;
    const archive = [...archives].find((each) => stemOf(each) === stemOf(table)) ?? only ?? null;
    if (archive !== null) archives.delete(archive);
    return { table, archive };
  });
  const recordings = files.filter(({ name }) => RECORDING.test(name));
  const useless = files.filter(({ name }) => !/\.(?:csv|zip)$/i.test(name) && !RECORDING.test(name));
  return { batches, recordings, useless: [...useless, ...archives] };
}

const SIDES = ['left', 'right'] as const;
const DIRECTIONS = ['unknown', 'inbound', 'outbound'] as const;

interface FormProps {
  readonly recordings: readonly File[];
  readonly onSend: (details: RecordingDetails) => void;
  readonly onClose: () => void;
}

/** The metadata that a recording does not contain: who spoke, when and about what. */
function RecordingForm({ recordings, onSend, onClose }: FormProps) {
  const t = uploadTexts.use();
  const list = useId();
  const types = useQuery(firmQuery).data?.segment_types ?? [];

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
        {types.map((type) => (
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
