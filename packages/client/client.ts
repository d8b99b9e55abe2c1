import createClient from 'openapi-fetch';
import { ApiError } from './errors.ts';
import type { components, paths } from './generated/api.ts';
import { pause, sendRequest } from './requests.ts';
import { type NamedFile, upload, type UploadOptions, type UploadResult } from './upload/upload.ts';

export type Schemas = components['schemas'];
/** The parameters of Get Calls. */
export type CallFilter = Omit<NonNullable<paths['/api/v1/calls']['get']['parameters']['query']>, 'page' | 'cursor'>;

export interface ClientOptions {
  /** Of the service, such as `https://calls.example.com`. */
  readonly url: string;
  /** A user's bearer token, or what returns one that is valid now. */
  readonly token?: string | (() => string | Promise<string>);
  /** The firm's API key. Campaigns need it; for everything else it serves when there is no token. */
  readonly apiKey?: string;
  /** How often a request that may be repeated is sent again. Default 4. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
}

export interface WaitOptions {
  readonly onProgress?: (batch: Schemas['Batch']) => void;
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
}

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

const PAGE_SIZE = 100;
const CAMPAIGN = '/external/api/v1/call-campaign';
/** Requests that are safe to repeat, besides those with idempotent methods. */
const REPEATABLE = /\/(?:calls\/upload|process-upload)$/;

/** The service as one user, or as one firm's integration. Runs in Node and in browsers. */
export class Client {
  /** Every operation of the service, typed. Use it through `send`, which throws errors. */
  readonly api: ReturnType<typeof createClient<paths>>;
  readonly #options: ClientOptions;
  readonly #baseUrl: string;
  readonly #fetch: typeof fetch;
  readonly #retries: number;

  constructor(options: ClientOptions) {
    this.#options = options;
    // A browser's fetch must be called as a function of the window.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#retries = options.retries ?? 4;
    this.#baseUrl = options.url.replace(/\/+$/, '');
    const urlOf = (url: string) => this.#baseUrl + this.#pathOf(url.slice(this.#baseUrl.length));
    this.api = createClient<paths>({
      baseUrl: this.#baseUrl,
      fetch: (request) => this.#send(request),
      // The URL of a request cannot be changed later without losing its body in some browsers.
      Request: class extends Request {
        constructor(url: string, init?: RequestInit) {
          super(urlOf(url), init);
        }
      } as typeof Request,
      querySerializer,
    });
  }

  /**
   * The answer's body. Rejects with ApiError, or Unreachable: `await client.send(client.api.GET('/api/v1/statistics',
   * …))`
   */
  async send<Data>(request: Promise<Answer<Data>>): Promise<Data> {
    const { response, data, error } = await request;
    if (!response.ok) throw new ApiError(response, error);
    return data as Data;
  }

  /** Uploads a CSV of transcripts, or a CSV with a ZIP of recordings. */
  async upload(options: UploadOptions): Promise<UploadResult> {
    const { campaign, signal } = options;
    const abort = signal === undefined ? {} : { signal };
    const params = { path: { uuid: campaign ?? '' } };
    return upload(
      {
        fetch: this.#fetch,
        retries: this.#retries,
        open: async (body) => {
          const opened =
            campaign === undefined
              ? this.api.POST('/api/v1/calls/upload', { body, ...abort })
              : this.api.POST(`${CAMPAIGN}/{uuid}/calls/upload`, { body, params, ...abort });
          return (await this.send<Schemas['OpenedUpload']>(opened)).data;
        },
        process: async (body) => {
          const processed =
            campaign === undefined
              ? this.api.POST('/api/v1/calls/process-upload', { body, ...abort })
              : this.api.POST(`${CAMPAIGN}/{uuid}/calls/process-upload`, { body, params, ...abort });
          return (await this.send<Schemas['ProcessedUpload']>(processed)).data;
        },
      },
      options,
    );
  }

  /** Uploads one stereo recording. With a `partner_call_id` in the metadata, repeating it is safe. */
  async uploadRecording(
    file: NamedFile,
    metadata: Schemas['RecordingMetadata'],
    { campaign, signal }: { campaign?: string; signal?: AbortSignal } = {},
  ): Promise<Schemas['UploadedRecording']> {
    const url = `${this.#baseUrl}${this.#pathOf(
      campaign === undefined ? '/api/v1/audio/upload' : `${CAMPAIGN}/${campaign}/audio/upload`,
    )}`;
    const form = new FormData();
    // First, so that its faults are known before the bytes are sent.
    form.append('metadata', JSON.stringify(metadata));
    form.append('audio_file', file instanceof Blob ? file : file.data, file.name);
    // Node.js does not catch its own error when a response ends a form that it is still writing. A Blob is safe.
    const encoded = new Response(form);
    const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
    const body = await encoded.blob();
    const make = () => new Request(url, { method: 'POST', headers, body, ...(signal !== undefined && { signal }) });
    const isRepeatable = metadata.partner_call_id !== undefined;
    const response = await this.#sendAgain(make, isRepeatable);
    const answer: unknown = await response.json().catch(() => null);
    if (!response.ok) throw new ApiError(response, answer);
    return answer as Schemas['UploadedRecording'];
  }

  /** Resolves when no call of the batch is in progress any more. */
  async waitForBatch(batchId: string, options: WaitOptions = {}): Promise<Schemas['Batch']> {
    const { signal, everyMs = 1000 } = options;
    const params = { path: { batch_id: batchId } };
    for (;;) {
      const request = this.api.GET('/api/v1/calls/batches/{batch_id}', { params, ...(signal && { signal }) });
      const batch = await this.send<Schemas['Batch']>(request);
      options.onProgress?.(batch);
      if (batch.finished_at !== null) return batch;
      await pause(everyMs, signal);
    }
  }

  /** All calls that match, however many, by cursor: none is skipped or repeated while calls arrive. */
  async *calls(filter: CallFilter = {}): AsyncGenerator<Schemas['ListedCall']> {
    for (let cursor: string | undefined; ;) {
      const query = { size: PAGE_SIZE, ...filter, ...(cursor !== undefined && { cursor }) };
      const page = await this.send(this.api.GET('/api/v1/calls', { params: { query } }));
      yield* page.items;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /**
   * All items of a list that has pages: `client.pages((query) => client.api.GET('/api/v1/webhooks', { params: { query }
   * }))`
   */
  async *pages<Item>(
    list: (query: { page: number; size: number }) => Promise<Answer<{ count: number; items: readonly Item[] }>>,
  ): AsyncGenerator<Item> {
    for (let page = 1; ; page++) {
      const { count, items } = await this.send(list({ page, size: PAGE_SIZE }));
      yield* items;
      if (items.length === 0 || page * PAGE_SIZE >= count) return;
    }
  }

  /** With an API key alone, the paths of users are those of integrations. */
  #pathOf(path: string): string {
    const { token, apiKey } = this.#options;
    const isByKey = token === undefined && apiKey !== undefined && path.startsWith('/api/v1/');
    return isByKey ? `/external${path}` : path;
  }

  #send(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const isRepeatable = request.method !== 'POST' || REPEATABLE.test(pathname);
    return this.#sendAgain(() => request.clone(), isRepeatable);
  }

  async #sendAgain(make: () => Request, isRepeatable: boolean): Promise<Response> {
    const { token, apiKey } = this.#options;
    const bearer = typeof token === 'function' ? await token() : token;
    const authorized = () => {
      const request = make();
      const isForKey = /\/external\/api\/v1\/(?!api-key)/.test(request.url);
      if (isForKey && apiKey !== undefined) request.headers.set('x-service-api-key', apiKey);
      else if (bearer !== undefined) request.headers.set('authorization', `Bearer ${bearer}`);
      return request;
    };
    return sendRequest({ fetch: this.#fetch, retries: this.#retries }, authorized, isRepeatable);
  }
}

/** Lists repeat their parameter. Undefined and null values are left out. */
function querySerializer(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][]) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (each !== undefined && each !== null) parameters.append(name, String(each));
    }
  }
  return parameters.toString();
}
