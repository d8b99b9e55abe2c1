import { keyManagement } from '@call-analysis/proto';
import type { ApiKey as ApiKeyReply } from '@call-analysis/proto/key_management/v1/ApiKey';
import type { Firm as FirmReply } from '@call-analysis/proto/key_management/v1/Firm';
import type { KeyVerdict as KeyVerdictReply } from '@call-analysis/proto/key_management/v1/KeyVerdict';
import type { User as UserReply } from '@call-analysis/proto/key_management/v1/User';
import { implement } from '@call-analysis/rpc';
import type { HashKey, KeyVerdict } from './api-keys/api-key.ts';
import { createKey } from './api-keys/create-key.ts';
import { deleteKey } from './api-keys/delete-key.ts';
import { listKeys } from './api-keys/list-keys.ts';
import type { Uses } from './api-keys/record-use.ts';
import { verifyKeys } from './api-keys/verify-keys.ts';
import { listAuditEntries } from './audit/list-audit-entries.ts';
import type { Firm, User } from './domain.ts';
import { addSegmentType } from './firms-and-users/add-segment-type.ts';
import { createFirm } from './firms-and-users/create-firm.ts';
import { createUser } from './firms-and-users/create-user.ts';
import { listUsers } from './firms-and-users/list-users.ts';
import { removeUser } from './firms-and-users/remove-user.ts';
import * as requests from './requests.ts';
import { parse } from './requests.ts';
import type { ListedKey, Store } from './store.ts';

/** The service of proto/key-management.proto. */
export function keyManagementService(parts: { store: Store; hashKey: HashKey; uses: Uses }) {
  const { store } = parts;
  return implement(keyManagement, {
    async createKey(request) {
      const { actor, firm_uuid } = parse(requests.CreateKey, request);
      const { apiKey, prefix, firm } = await createKey(parts, actor, firm_uuid);
      return { api_key: apiKey, key_prefix: prefix, firm_uuid: firm.uuid, firm_name: firm.name };
    },
    async listKeys(request) {
      const { actor, page, size } = parse(requests.ListKeys, request);
      const { count, items } = await listKeys(parts, actor, { page, size });
      return { count, items: items.map(keyReply) };
    },
    async deleteKey(request) {
      const { actor, key_uuid } = parse(requests.DeleteKey, request);
      await deleteKey(parts, actor, key_uuid);
      return {};
    },
    async verifyKeys(request) {
      const { api_keys } = parse(requests.VerifyKeys, request);
      const verdicts = await verifyKeys(parts, api_keys);
      return { verdicts: verdicts.map(verdictReply) };
    },
    async findUser(request) {
      const { user_uuid } = parse(requests.FindUser, request);
      const user = await store.findUser(user_uuid);
      return user === null ? {} : { user: userReply(user) };
    },
    async findFirm(request) {
      const { firm_uuid } = parse(requests.FindFirm, request);
      const firm = await store.findFirm(firm_uuid);
      return firm === null ? {} : { firm: firmReply(firm) };
    },
    async createFirm(request) {
      const { segment_types: segmentTypes, ...firm } = parse(requests.CreateFirm, request);
      return firmReply(await createFirm(parts, { ...firm, segmentTypes }));
    },
    async listFirms() {
      const firms = await store.listFirms();
      return { firms: firms.map(firmReply) };
    },
    async addSegmentType(request) {
      const { firm_uuid, name } = parse(requests.AddSegmentType, request);
      return firmReply(await addSegmentType(parts, firm_uuid, name));
    },
    async createUser(request) {
      const { firm_uuid: firmUuid, name, role } = parse(requests.CreateUser, request);
      return userReply(await createUser(parts, { firmUuid, name, role }));
    },
    async listUsers(request) {
      const { firm_uuid } = parse(requests.ListUsers, request);
      const users = await listUsers(parts, firm_uuid);
      return { users: users.map(userReply) };
    },
    async removeUser(request) {
      const { user_uuid } = parse(requests.RemoveUser, request);
      const { removedAt, ...user } = await removeUser(parts, user_uuid);
      return { user: userReply(user), removed_at: removedAt.toISOString() };
    },
    async listAudit(request) {
      const { firm_uuid: firmUuid, limit } = parse(requests.ListAudit, request);
      const entries = await listAuditEntries(parts, { firmUuid, limit });
      return {
        entries: entries.map(({ at, actor, action, subject, part, requestId, address }) => ({
          at: at.toISOString(),
          actor,
          action,
          subject: part === null ? subject : `${subject}/${part}`,
          request_id: requestId,
          address,
        })),
      };
    },
  });
}

function firmReply({ uuid, name, country, segmentTypes }: Firm): FirmReply {
  return { uuid, name, country, segment_types: [...segmentTypes] };
}

function userReply({ uuid, firmUuid, name, role, webApiOnly }: User): UserReply {
  return { uuid, firm_uuid: firmUuid, name, role, web_api_only: webApiOnly };
}

function keyReply({ uuid, prefix, firm, createdAt, lastUsed }: ListedKey): ApiKeyReply {
  return {
    uuid,
    key_prefix: prefix,
    is_active: true,
    firm_uuid: firm.uuid,
    firm_name: firm.name,
    created_at: createdAt.toISOString(),
    ...(lastUsed === null ? {} : { last_used: lastUsed.toISOString() }),
  };
}

function verdictReply({ verdict, keyUuid = '', firmUuid = '', userUuid = '' }: KeyVerdict): KeyVerdictReply {
  return { verdict, key_uuid: keyUuid, firm_uuid: firmUuid, user_uuid: userUuid };
}
