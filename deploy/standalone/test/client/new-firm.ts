import { dialAdministration } from '../../admin/administration.ts';
import { readRemote, readSettings } from '../../config.ts';
import { openDataDirectory } from '../../data-directory.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { fetchWhenAvailable } from './retry.ts';

export type { Batch } from './api-client.ts';

export interface Client extends ApiClient {
  readonly firmUuid: string;
  readonly userUuid: string;
  /** `GET /api/v1/calls` with this query. */
  listCalls<Item>(query: string): Promise<CallPage<Item>>;
}

export interface CallPage<Item> {
  readonly count: number;
  readonly count_is_estimate: boolean;
  readonly items: readonly Item[];
}

/** The operations of the admin command on the running service, in this process. `variables` is the command's environment. */
export function administrator(variables: Readonly<Record<string, string>>) {
  const remote = readRemote(variables);
  if (remote !== undefined) return dialAdministration(remote.address, remote, undefined);
  const settings = readSettings(variables);
  const data = openDataDirectory(settings.dataDirectory);
  return dialAdministration(data.socket('key-management'), settings, data.secrets.jwtSecret);
}

/** Creates a firm with a user of the role. Returns a client that acts as that user and retries on 503. */
export async function newFirm(
  service: { readonly url: string; readonly administration: Readonly<Record<string, string>> },
  options: { role?: string; operatorIds?: string[]; segmentTypes?: string[]; firm?: string } = {},
): Promise<Client> {
  const admin = administrator(service.administration);
  try {
    const segmentTypes = options.segmentTypes ?? ['support', 'sales', 'billing', 'delivery'];
    const firmUuid = options.firm ?? (await admin.createFirm({ name: 'Test', country: 'UZ', segmentTypes })).uuid;
    const { role = 'ADMIN', operatorIds = [] } = options;
    const user = await admin.createUser({ firm: firmUuid, name: 'Test', role, operatorIds });
    const { token } = await admin.issueToken(user.uuid, 3_600_000);
    const client = apiClient(service, token, undefined, fetchWhenAvailable);
    return {
      ...client,
      firmUuid,
      userUuid: user.uuid,
      listCalls: (query) => client.call('GET', `/api/v1/calls?${query}`),
    };
  } finally {
    admin.close();
  }
}
