/** A response as a client sees it. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export type Send = (url: string, init: RequestInit) => Promise<Response>;
type Bytes = string | Uint8Array<ArrayBuffer> | Blob;

/** The service over HTTP, as one user. */
export interface ApiClient {
  readonly token: string;
  request<Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<Body>>;
  /** Like `request`; any status of 400 and above is an error. */
  call<Body>(method: string, path: string, body?: unknown): Promise<Body>;
  /** Opens an upload session and puts the CSV; returns the key for process-upload. */
  upload(csv: Bytes, filename?: string): Promise<string>;
  /** Like `upload`, for a CSV and a ZIP with the recordings that it names. */
  uploadBatch(csv: Bytes, zip: Bytes): Promise<{ metadata_key: string; audios_key: string }>;
  /** Sends one recording as a form. */
  uploadRecording<Body>(recording: Blob, fileName: string, metadata: object): Promise<Answer<Body>>;
}

interface Opened {
  data: { metadata_upload_url: string; metadata_key: string; audio_upload_url: string; audio_key: string };
}

export interface Batch {
  readonly batch_id: string;
  readonly kind: string;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly by_status: Record<string, number>;
  readonly finished_at: string | null;
  readonly rejected_csv_url: string | null;
}

/** `service.url` may change between requests. `send` sends each request. */
export function apiClient(
  service: { readonly url: string },
  token: string,
  signal?: AbortSignal,
  send: Send = fetch,
): ApiClient {
  const abort = signal === undefined ? {} : { signal };

  async function exchange<Body>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | Blob,
  ): Promise<Answer<Body>> {
    const response = await send(service.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body }),
      ...abort,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body };
  }

  async function put(url: string, contentType: string, body: Bytes): Promise<void> {
    const response = await send(url, { method: 'PUT', headers: { 'content-type': contentType }, body, ...abort });
    if (!response.ok) throw new Error(`PUT: ${response.status} ${await response.text()}`);
  }

  const self: ApiClient = {
    token,
    async request(method, path, body, headers = {}) {
      if (body === undefined) return exchange(method, path, headers);
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return exchange(method, path, { 'content-type': 'application/json', ...headers }, text);
    },
    async call<Body>(method: string, path: string, body?: unknown) {
      const answer = await self.request<Body>(method, path, body);
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    async upload(csv, filename = 'calls.csv') {
      const { data } = await self.call<Opened>('POST', '/api/v1/calls/upload', { metadata_filename: filename });
      await put(data.metadata_upload_url, 'text/csv', csv);
      return data.metadata_key;
    },
    async uploadBatch(csv, zip) {
      const names = { metadata_filename: 'metadata.csv', audios_filename: 'recordings.zip' };
      const { data } = await self.call<Opened>('POST', '/api/v1/calls/upload', names);
      await put(data.metadata_upload_url, 'text/csv', csv);
      await put(data.audio_upload_url, 'application/zip', zip);
      return { metadata_key: data.metadata_key, audios_key: data.audio_key };
    },
    async uploadRecording(recording, fileName, metadata) {
      const form = new FormData();
      form.append('metadata', JSON.stringify(metadata));
      form.append('audio_file', recording, fileName);
      // Node.js does not catch its own error when a response ends a form that it is still writing. A Blob is safe.
      const encoded = new Response(form);
      const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
      return exchange('POST', '/api/v1/audio/upload', headers, await encoded.blob());
    },
  };
  return self;
}
