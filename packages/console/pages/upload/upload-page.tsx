import './upload.css';
import { useState } from 'react';
import { Page } from '../../widgets/page.tsx';
import { uploadTexts } from '../texts.ts';
import { Batches } from './batches.tsx';
import { sortFiles } from './choose-files.ts';
import { DropZone } from './drop-zone.tsx';
import { RecordingForm } from './recording-form.tsx';
import { Refusals } from './refusals.tsx';
import { SingleRecordings } from './single-recordings.tsx';
import { UploadCard } from './upload-card.tsx';
import { startUpload, useUploads } from './uploads.ts';

/** Files of calls: choose them, correct what is refused, and watch until every call is scored. */
export function UploadPage() {
  const t = uploadTexts.use();
  const uploads = useUploads();
  const [recordings, setRecordings] = useState<readonly File[]>([]);
  const [useless, setUseless] = useState<readonly File[]>([]);

  const choose = (files: readonly File[]) => {
    const chosen = sortFiles(files);
    for (const { table, archive } of chosen.batches) startUpload({ kind: 'batch', table, archive });
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
            for (const recording of recordings) startUpload({ kind: 'recording', recording, details });
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
