import { ApiError, Unreachable } from '../errors.ts';
import type { components } from '../generated/api.ts';
import { pause } from '../requests.ts';

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

/** How many bytes have been sent. */
type OnSent = (bytes: number) => void;

/** The part of a browser's XMLHttpRequest that is used here; Node has none. */
interface BrowserRequest {
  readonly upload: { addEventListener(type: 'progress', listener: (event: { loaded: number }) => void): void };
  readonly status: number;
  readonly responseText: string;
  addEventListener(type: 'load' | 'error' | 'abort', listener: () => void): void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: Blob): void;
  abort(): void;
}

/**
 * Puts a file, with its length in the request as S3 requires, and reports progress. In browsers `fetch` cannot report
 * it.
 */
function putFile(
  url: string,
  file: Blob,
  { fetch, onSent, signal }: { fetch: typeof globalThis.fetch; onSent: OnSent; signal: AbortSignal | undefined },
): Promise<Response> {
  const headers = { 'content-type': 'application/octet-stream' };
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => BrowserRequest };
  if (XMLHttpRequest === undefined) {
    const init: RequestInit = { method: 'PUT', headers, body: counted(file, onSent) };
    if (signal !== undefined) init.signal = signal;
    return fetch(url, init);
  }
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
    request.addEventListener('load', () =>
      resolve(new Response(request.responseText || null, { status: request.status })),
    );
    request.addEventListener('error', () => reject(new TypeError('The connection was lost.')));
    request.addEventListener('abort', () => reject(signal?.reason as Error));
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}

/** The same file, which reports what is read of it. */
function counted(file: Blob, onSent: OnSent): Blob {
  let sent = 0;
  const copy = file.slice();
  const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      sent += chunk.byteLength;
      onSent(sent);
      controller.enqueue(chunk);
    },
  });
  Object.defineProperty(copy, 'stream', { value: () => file.stream().pipeThrough(count) });
  return copy;
}
