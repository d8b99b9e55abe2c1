import { dialAdministration } from '../administration.ts';
import { readSettings } from '../config.ts';
import { openDataDirectory } from '../data-directory.ts';

/** An answer as a client sees it. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Client {
  readonly token: string;
  readonly firmUuid: string;
  readonly userUuid: string;
  request<Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<Body>>;
  /** Like `request`; any status of 400 and above is an error of the test. */
  call<Body>(method: string, path: string, body?: unknown): Promise<Body>;
  /** Asks for an upload and puts the CSV; returns the key to process it with. */
  upload(csv: string | Uint8Array<ArrayBuffer> | Blob, filename?: string): Promise<string>;
}

/** What an administrator does on the machine itself, against the running service. */
export function administrator(directory: string) {
  const settings = readSettings({ DATA_DIR: directory });
  const data = openDataDirectory(settings.dataDirectory);
  return dialAdministration(data.socket('key-management'), settings, data.secrets.jwtSecret);
}

/** A new firm with a user of the role, and a client that acts as that user. `url` may change between requests. */
export async function newFirm(
  service: { readonly url: string; readonly directory: string },
  options: { role?: string; segmentTypes?: string[]; firm?: string } = {},
): Promise<Client> {
  const admin = administrator(service.directory);
  try {
    const segmentTypes = options.segmentTypes ?? ['support', 'sales', 'billing', 'delivery'];
    const firmUuid = options.firm ?? (await admin.createFirm({ name: 'Test', country: 'UZ', segmentTypes })).uuid;
    const user = await admin.createUser({ firm: firmUuid, name: 'Test', role: options.role ?? 'ADMIN' });
    const { token } = await admin.issueToken(user.uuid, 3_600_000);
    return client(service, token, firmUuid, user.uuid);
  } finally {
    admin.close();
  }
}

function client(service: { readonly url: string }, token: string, firmUuid: string, userUuid: string): Client {
  const self: Client = {
    token,
    firmUuid,
    userUuid,
    async request<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(service.url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body };
    },
    async call<Body>(method: string, path: string, body?: unknown) {
      const answer = await self.request<Body>(method, path, body);
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    async upload(csv, filename = 'calls.csv') {
      const { data } = await self.call<{ data: { metadata_upload_url: string; metadata_key: string } }>(
        'POST',
        '/api/v1/calls/upload',
        { metadata_filename: filename },
      );
      const response = await fetch(data.metadata_upload_url, {
        method: 'PUT',
        headers: { 'content-type': 'text/csv' },
        body: csv,
      });
      if (!response.ok) throw new Error(`PUT: ${response.status} ${await response.text()}`);
      return data.metadata_key;
    },
  };
  return self;
}

export interface Batch {
  readonly batch_id: string;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly by_status: Record<string, number>;
  readonly finished_at: string | null;
  readonly rejected_csv_url: string | null;
}
