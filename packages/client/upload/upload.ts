import { ApiError, Unreachable } from '../errors.ts';
import type { components } from '../generated/api.ts';
import { pause } from '../requests.ts';
import { putFile } from './put-file.ts';

/** A file with its name: a `File` of a browser, or `{ name, data: await openAsBlob(path) }` in Node. */
export type NamedFile = File | { readonly name: string; readonly data: Blob };

export type UploadResult = components['schemas']['UploadResult'];

export interface Progress {
  /** `metadata` is the CSV, `audio` the ZIP. */
  readonly step: 'metadata' | 'audio' | 'process';
  readonly sentBytes: number;
  readonly totalBytes: number;
}

/** The state for resuming an upload after a failure. It is JSON, and its URLs are secrets for an hour. */
export interface UploadState {
  readonly urls: components['schemas']['UploadUrls'];
  readonly expiresAt: string;
  readonly done: readonly ('metadata' | 'audio')[];
}

export interface UploadOptions {
  readonly csv: NamedFile;
  /** The recordings that the CSV names. Without it, the CSV has transcripts. */
  readonly zip?: NamedFile;
  /** Uuid of an active campaign. Needs an API key. */
  readonly campaign?: string;
  /** `skip` accepts the valid rows when others are wrong. Default `reject`. */
  readonly onError?: 'reject' | 'skip';
  readonly onProgress?: (progress: Progress) => void;
  /** Called after each step. Store the state to go on later, also in another process. */
  readonly onState?: (state: UploadState) => void | Promise<void>;
  /** A stored state. An expired one is ignored, and the upload starts again. */
  readonly resume?: UploadState;
  readonly signal?: AbortSignal;
}

export interface Steps {
  open(names: { metadata_filename: string; audios_filename?: string }): Promise<UploadState['urls']>;
  process(keys: { metadata_key: string; audios_key?: string; on_error: 'reject' | 'skip' }): Promise<UploadResult>;
  readonly fetch: typeof fetch;
  readonly retries: number;
}

/** Time for the last step, before the URLs expire. */
const MARGIN_MS = 60_000;

/** Opens an upload session, puts the files and has them processed. Every step is safe to repeat. */
export async function upload(steps: Steps, options: UploadOptions): Promise<UploadResult> {
  const { csv, zip, onProgress = () => {}, signal } = options;
  let state = usable(options.resume, zip !== undefined) ?? (await begin());
  async function begin(): Promise<UploadState> {
    const names = { metadata_filename: csv.name, ...(zip !== undefined && { audios_filename: zip.name }) };
    const urls = await steps.open(names);
    return { urls, expiresAt: new Date(Date.now() + urls.expires_in * 1000).toISOString(), done: [] };
  }
  await options.onState?.(state);

  const put = async (step: 'metadata' | 'audio', url: string, file: NamedFile) => {
    if (state.done.includes(step)) return;
    const blob = file instanceof Blob ? file : file.data;
    const onSent = (sentBytes: number) => onProgress({ step, sentBytes, totalBytes: blob.size });
    await putWithRetries(steps, url, blob, onSent, signal);
    state = { ...state, done: [...state.done, step] };
    await options.onState?.(state);
  };
  const { urls } = state;
  await put('metadata', urls.metadata_upload_url, csv);
  if (zip !== undefined && urls.audio_upload_url !== undefined) await put('audio', urls.audio_upload_url, zip);
  onProgress({ step: 'process', sentBytes: 0, totalBytes: 0 });
  signal?.throwIfAborted();
  return steps.process({
    metadata_key: urls.metadata_key,
    ...(urls.audio_key !== undefined && { audios_key: urls.audio_key }),
    on_error: options.onError ?? 'reject',
  });
}

function usable(state: UploadState | undefined, hasZip: boolean): UploadState | undefined {
  if (state === undefined || Date.parse(state.expiresAt) - MARGIN_MS < Date.now()) return undefined;
  return (state.urls.audio_key !== undefined) === hasZip ? state : undefined;
}

async function putWithRetries(
  { fetch, retries }: Steps,
  url: string,
  file: Blob,
  onSent: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    let failure: Error;
    try {
      const response = await putFile(url, file, { fetch, onSent, signal });
      if (response.ok) return await response.body?.cancel();
      failure = new ApiError(response, await response.json().catch(() => null));
      if (response.status < 500 && response.status !== 429) throw failure;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      signal?.throwIfAborted();
      failure = new Unreachable(url, error);
    }
    if (attempt >= retries) throw failure;
    await pause(500 * 2 ** attempt, signal);
  }
}
