import { ApiError } from '@call-analysis/client/errors';
import { api, type Schemas, send } from '../../api/client.ts';
import { bearerToken, onUserChange, SERVICE_URL } from '../../session/session.ts';
import { createStore } from '../../store.ts';
import { forgetRefusal, keepRefusal } from './refusals.tsx';
import { transfer } from './transfer.ts';

export type RowErrors = Schemas['RowErrors'];
type UploadResult = Schemas['UploadResult'];
type UploadUrls = Schemas['UploadUrls'];

/** The metadata of a recording that is uploaded on its own, save its file name. */
export type RecordingDetails = Omit<Schemas['RecordingMetadata'], 'audio_file_name'>;

interface Batch {
  readonly table: File;
  readonly archive: File | null;
}
interface Recording {
  readonly recording: File;
  readonly details: RecordingDetails;
}

type Progress =
  | { readonly state: 'sending' | 'paused' | 'checking' }
  | { readonly state: 'refused'; readonly errors: RowErrors }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'accepted'; readonly result: UploadResult }
  | { readonly state: 'stored'; readonly callUuid: string };

/** One upload of this page, from the choice of its files until the service has accepted them. */
export interface Upload {
  readonly id: string;
  readonly source: Batch | Recording;
  readonly work: Work;
  readonly sentBytes: number;
  readonly progress: Progress;
}

/** The state of an upload while it runs, and for resuming it after a pause. */
interface Work {
  stop: AbortController;
  urls: UploadUrls | null;
  openedAt: number;
  readonly sent: Set<File>;
}

/** URLs are valid for an hour. One that has less than this left is not used for the rest of a file. */
const URL_AGE_MS = 50 * 60_000;

const uploads = createStore<readonly Upload[]>([]);
let lastId = 0;

/** The uploads of the user who is signed in, newest first. They go on while other pages are open. */
export const useUploads = uploads.use;
onUserChange(() => {
  for (const each of uploads.get()) removeUpload(each);
});

function filesOf({ source }: Upload): File[] {
  if ('recording' in source) return [source.recording];
  return source.archive === null ? [source.table] : [source.table, source.archive];
}

export function sizeOf(upload: Upload): number {
  return filesOf(upload).reduce((sum, { size }) => sum + size, 0);
}

export function nameOf(upload: Upload): string {
  return filesOf(upload)
    .map(({ name }) => name)
    .join(' + ');
}

export function isUnfinished({ progress }: Upload): boolean {
  return progress.state === 'sending' || progress.state === 'checking' || progress.state === 'paused';
}

export function startUpload(source: Batch | Recording): void {
  const upload: Upload = {
    id: `${Date.now()} ${++lastId}`,
    source,
    work: { stop: new AbortController(), urls: null, openedAt: 0, sent: new Set() },
    sentBytes: 0,
    progress: { state: 'sending' },
  };
  uploads.set([upload, ...uploads.get()]);
  void run(upload);
}

/** Stops the transfer. A partly sent file is sent again; a complete one is not. */
export function pauseUpload({ id, work }: Upload): void {
  work.stop.abort();
  change(id, { progress: { state: 'paused' } });
}

/** Continues after a pause or a failure. */
export function resumeUpload(upload: Upload): void {
  upload.work.stop = new AbortController();
  change(upload.id, { progress: { state: 'sending' } });
  void run(upload);
}

/** Accepts the good rows of a refused upload. */
export function skipFaults(upload: Upload): void {
  change(upload.id, { progress: { state: 'checking' } });
  void settle(upload, () => process(upload, 'skip'));
}

/** Uploads a corrected CSV in place of the refused one, with the same archive. */
export function sendCorrected(upload: Upload, table: File): void {
  if (!('table' in upload.source)) return;
  removeUpload(upload);
  startUpload({ ...upload.source, table });
}

/** Removes an upload from the page. The service keeps what it has accepted. */
export function removeUpload({ id, work }: Upload): void {
  work.stop.abort();
  uploads.set(uploads.get().filter((each) => each.id !== id));
}

function run(upload: Upload): Promise<void> {
  const { source } = upload;
  return settle(upload, () => ('table' in source ? sendBatch(upload, source) : sendRecording(upload, source)));
}

async function settle(upload: Upload, action: () => Promise<Progress>): Promise<void> {
  const { signal } = upload.work.stop;
  try {
    const progress = await action();
    if (progress.state === 'refused') {
      const { rows, invalid, rejected_csv_url: url } = progress.errors;
      keepRefusal({ ...refusalOf(upload), rows, invalid, url });
    } else forgetRefusal(upload.id);
    change(upload.id, { progress });
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof ApiError && error.status < 500 && !PASSING.has(error.status)) {
      const { code, message, details } = error;
      keepRefusal({ ...refusalOf(upload), rows: 0, invalid: 0, url: null, fault: { code, message, details } });
    }
    change(upload.id, { progress: { state: 'failed', error } });
  }
}

/** Answers that say nothing of the file. */
const PASSING = new Set([401, 408, 429]);

function refusalOf(upload: Upload) {
  return { id: upload.id, name: nameOf(upload), at: Date.now() };
}

async function sendBatch(upload: Upload, { table, archive }: Batch): Promise<Progress> {
  const { work } = upload;
  const { signal } = work.stop;
  if (work.urls === null || Date.now() - work.openedAt > URL_AGE_MS) {
    const body = { metadata_filename: table.name, ...(archive !== null && { audios_filename: archive.name }) };
    const { data } = await send(api.POST('/api/v1/calls/upload', { body, signal }));
    Object.assign(work, { urls: data, openedAt: Date.now() });
    work.sent.clear();
  }
  const { metadata_upload_url, audio_upload_url } = work.urls!;
  const put = async (url: string, file: File, type: string, before: number) => {
    if (work.sent.has(file)) return;
    await transfer({
      method: 'PUT',
      url,
      headers: { 'content-type': type },
      body: file,
      signal,
      onProgress: (sent) => change(upload.id, { sentBytes: before + Math.min(sent, file.size) }),
    });
    work.sent.add(file);
  };
  await put(metadata_upload_url, table, 'text/csv', 0);
  if (archive !== null && audio_upload_url !== undefined)
    await put(audio_upload_url, archive, 'application/zip', table.size);
  change(upload.id, { sentBytes: sizeOf(upload), progress: { state: 'checking' } });
  return process(upload, 'reject');
}

async function process(upload: Upload, onError: 'reject' | 'skip'): Promise<Progress> {
  const { urls, stop } = upload.work;
  const { metadata_key, audio_key } = urls!;
  try {
    const { data } = await send(
      api.POST('/api/v1/calls/process-upload', {
        body: { metadata_key, ...(audio_key !== undefined && { audios_key: audio_key }), on_error: onError },
        signal: stop.signal,
      }),
    );
    return { state: 'accepted', result: data };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'VALIDATION_FAILED') {
      return { state: 'refused', errors: error.details as unknown as RowErrors };
    }
    throw error;
  }
}

async function sendRecording(upload: Upload, { recording, details }: Recording): Promise<Progress> {
  const form = new FormData();
  form.set('metadata', JSON.stringify({ audio_file_name: recording.name, ...details }));
  form.set('audio_file', recording);
  const answer = (await transfer({
    method: 'POST',
    url: `${SERVICE_URL}/api/v1/audio/upload`,
    headers: { authorization: `Bearer ${(await bearerToken()) ?? ''}` },
    body: form,
    signal: upload.work.stop.signal,
    onProgress: (sent) => change(upload.id, { sentBytes: Math.min(sent, recording.size) }),
  })) as Schemas['UploadedRecording'];
  return { state: 'stored', callUuid: answer.audio_id };
}

function change(id: string, values: Partial<Upload>): void {
  uploads.set(uploads.get().map((each) => (each.id === id ? { ...each, ...values } : each)));
}

// A page that is closed loses what it still sends, so the browser asks first.
addEventListener('beforeunload', (event) => {
  if (uploads.get().some(isUnfinished)) event.preventDefault();
});
