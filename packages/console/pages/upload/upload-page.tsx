import './upload.css';
import { useState } from 'react';
import { Icon } from '../../widgets/icon.tsx';
import { Page } from '../../widgets/page.tsx';
import { uploadTexts } from '../texts.ts';
import { Batches, SingleRecordings } from './batches.tsx';
import { FileButton } from './parts.tsx';
import { RecordingForm } from './recording-form.tsx';
import { Refusals } from './refusals.tsx';
import { UploadCard } from './upload-card.tsx';
import { startUpload, useUploads } from './uploads.ts';

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

/** Takes files that are dropped on it or chosen. */
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
