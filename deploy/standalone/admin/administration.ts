import { keyManagement } from '@call-analysis/proto';
import { type Client, dial } from '@call-analysis/rpc';
import { StartFault } from '@call-analysis/runtime';
import type { RemoteSettings } from '../config.ts';
import { issueToken } from './issue-token.ts';

/** What the admin command does through key-management (docs/api.md, "Configuration and commands"). */
export function administration(
  keys: Client<typeof keyManagement>,
  settings: Pick<RemoteSettings, 'jwt'>,
  storedSecret: string | undefined,
) {
  return {
    async createFirm(firm: { uuid?: string; name: string; country: string; segmentTypes: string[] }) {
      return firmOf(
        await keys.createFirm({
          uuid: firm.uuid ?? '',
          name: firm.name,
          country: firm.country,
          segment_types: firm.segmentTypes,
        }),
      );
    },

    async listFirms() {
      return (await keys.listFirms({})).firms.map(firmOf);
    },

    async addSegmentType(firmUuid: string, name: string) {
      const firm = await keys.addSegmentType({ firm_uuid: firmUuid, name });
      return { firm_uuid: firm.uuid, segment_types: firm.segment_types };
    },

    async createUser(user: { firm: string; name: string; role: string }) {
      return userOf(await keys.createUser({ firm_uuid: user.firm, name: user.name, role: user.role }));
    },

    async listUsers(firmUuid: string) {
      return (await keys.listUsers({ firm_uuid: firmUuid })).users.map(userOf);
    },

    async removeUser(userUuid: string) {
      const { user, removed_at } = await keys.removeUser({ user_uuid: userUuid });
      if (user === null) throw new Error('key-management answered without the user.');
      return { ...userOf(user), removed_at };
    },

    async issueToken(userUuid: string, ttlMs: number) {
      const { user } = await keys.findUser({ user_uuid: userUuid });
      if (user === undefined || user === null)
        throw new StartFault(`There is no user ${userUuid}. "user list" shows a firm's users.`);
      return issueToken(settings.jwt, storedSecret, user, ttlMs);
    },

    async listAudit(firmUuid: string | undefined, limit: number) {
      return (await keys.listAudit({ firm_uuid: firmUuid ?? '', limit })).entries.map((entry) => ({
        at: entry.at,
        actor: entry.actor,
        action: entry.action,
        subject: entry.subject,
        request_id: entry.request_id,
        address: entry.address,
      }));
    },
  };
}

export type Administration = ReturnType<typeof administration>;

export function dialAdministration(
  address: string,
  settings: Pick<RemoteSettings, 'jwt' | 'tls'>,
  storedSecret: string | undefined,
) {
  const keys = dial(keyManagement, address, { name: 'key-management', deadlineMs: 15_000, tls: settings.tls });
  return { ...administration(keys, settings, storedSecret), ready: () => keys.ready(), close: () => keys.close() };
}

function firmOf(firm: { uuid: string; name: string; country: string; segment_types: string[] }) {
  return { uuid: firm.uuid, name: firm.name, country: firm.country, segment_types: firm.segment_types };
}

function userOf(user: { uuid: string; firm_uuid: string; name: string; role: string }) {
  return { uuid: user.uuid, firm_uuid: user.firm_uuid, name: user.name, role: user.role };
}
