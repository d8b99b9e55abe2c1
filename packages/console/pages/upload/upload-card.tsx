import { Link } from '@tanstack/react-router';
import { type ComponentProps, useRef } from 'react';
import * as format from '../../i18n/format.ts';
import { Button } from '../../widgets/controls.tsx';
import { Table } from '../../widgets/list.tsx';
import { Fault } from '../../widgets/page.tsx';
import { uploadTexts } from '../texts.ts';
import { acceptedText, BatchProgress } from './batches.tsx';
import { RefusedRows } from './refusals.tsx';
import {
  isUnfinished,
  nameOf,
  pauseUpload,
  removeUpload,
  resumeUpload,
  sizeOf,
  type Upload,
  type RowErrors,
  sendCorrected,
  skipFaults,
} from './uploads.ts';

/** One upload: its files, how far it is, and what to do next. */
export function UploadCard({ upload }: { upload: Upload }) {
  const t = uploadTexts.use();
  const { progress, sentBytes } = upload;
  const size = sizeOf(upload);
  const name = nameOf(upload);
  return (
    <article className="card card-body upload-card" aria-label={name}>
      <div className="upload-card-head">
        <h2 className="foreign">{name}</h2>
        <span className="muted number">{format.bytes(size)}</span>
        <span className="upload-card-actions">
          {progress.state === 'sending' && (
            <Button icon="pause" isSmall onClick={() => pauseUpload(upload)}>
              {t('pause')}
            </Button>
          )}
          {progress.state === 'paused' && (
            <Button icon="play" isSmall onClick={() => resumeUpload(upload)}>
              {t('resume')}
            </Button>
          )}
          <Button
            icon="close"
            kind="quiet"
            isSmall
            label={isUnfinished(upload) ? t('stop', { name }) : t('hide', { name })}
            onClick={() => removeUpload(upload)}
          />
        </span>
      </div>
      {(progress.state === 'sending' || progress.state === 'paused') && (
        <div className="row upload-bar">
          <progress aria-label={t('sent')} max={size} value={sentBytes} />
          <span className="number">
            {t(progress.state, {
              sent: format.bytes(sentBytes),
              size: format.bytes(size),
              share: format.percent(size === 0 ? 0 : sentBytes / size),
            })}
          </span>
        </div>
      )}
      <div aria-live="polite">
        {progress.state === 'checking' && (
          <div className="row upload-bar">
            <progress aria-label={t('checking')} />
            <span>{t('checking')}</span>
          </div>
        )}
        {progress.state === 'failed' && (
          <div className="row upload-failure">
            <Fault error={progress.error} />
            <Button isSmall onClick={() => resumeUpload(upload)}>
              {t('again')}
            </Button>
          </div>
        )}
        {progress.state === 'stored' && (
          <p>
            {t('stored')}{' '}
            <Link to="/calls/$uuid" params={{ uuid: progress.callUuid }}>
              {t('openCall')}
            </Link>
          </p>
        )}
      </div>
      {progress.state === 'refused' && <Faults upload={upload} errors={progress.errors} />}
      {progress.state === 'accepted' && (
        <>
          <p>
            {acceptedText(progress.result)}
            {progress.result.ignored_columns.length > 0 && (
              <span className="muted foreign">
                {' '}
                {t('ignored', { columns: progress.result.ignored_columns.join(', ') })}
              </span>
            )}
          </p>
          <BatchProgress uuid={progress.result.batch_id} />
        </>
      )}
    </article>
  );
}

/** The faults of a refused CSV, by row and column, and what to do next. */
function Faults({ upload, errors }: { upload: Upload; errors: RowErrors }) {
  const t = uploadTexts.use();
  const { rows, valid, invalid, faults, faults_truncated, rejected_csv_url } = errors;
  return (
    <div className="upload-faults">
      <p role="alert">
        <strong>{t('refused', { n: invalid, invalid: format.number(invalid), rows: format.number(rows) })}</strong>{' '}
        {t('refused.how')}
      </p>
      <div className="row upload-ways">
        <RefusedRows url={rejected_csv_url} />
        <FileButton
          icon="upload"
          name={t('corrected')}
          accept=".csv"
          onFiles={([file]) => file !== undefined && sendCorrected(upload, file)}
        />
        {valid > 0 && (
          <Button onClick={() => skipFaults(upload)}>{t('skip', { n: valid, valid: format.number(valid) })}</Button>
        )}
      </div>
      <Table
        label={t('faults')}
        className="table-frame upload-table"
        items={faults}
        // One row may have the same fault twice.
        keyOf={(_, index) => index}
        columns={({ plain, number, text, actions }) => [
          number(t('fault.row'), ({ row }) => row ?? '–'),
          plain(t('fault.column'), ({ column }) => (column === null ? '–' : <code>{column}</code>)),
          text(t('fault.value'), ({ value }) => value, { className: 'foreign upload-value' }),
          actions(t('fault.what'), ({ code, message }) => (
            <>
              <strong>{t(`code.${code}`)}</strong>
              <span className="muted foreign upload-message">{message}</span>
            </>
          )),
        ]}
      />
      {faults_truncated && <p className="muted">{t('faults.more')}</p>}
    </div>
  );
}

interface FileButtonProps extends Pick<ComponentProps<typeof Button>, 'kind' | 'icon'> {
  readonly name: string;
  /** The endings of the files that it takes. */
  readonly accept: string;
  readonly isMany?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

export function FileButton({ name, accept, isMany = false, onFiles, ...button }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button {...button} onClick={() => input.current?.click()}>
        {name}
      </Button>
      <input
        ref={input}
        type="file"
        multiple={isMany}
        hidden
        accept={accept}
        aria-label={name}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file may be chosen again after it was corrected.
          target.value = '';
        }}
      />
    </>
  );
}
