import { keyManagement } from '@call-analysis/proto';
import type { ApiKey as ApiKeyReply } from '@call-analysis/proto/key_management/v1/ApiKey';
import type { AuditEntry as AuditEntryReply } from '@call-analysis/proto/key_management/v1/AuditEntry';
import type { Firm as FirmReply } from '@call-analysis/proto/key_management/v1/Firm';
import type { FirmRemoval as FirmRemovalReply } from '@call-analysis/proto/key_management/v1/FirmRemoval';
import type { User as UserReply } from '@call-analysis/proto/key_management/v1/User';
import { type Call, type Callers, implement, requireAdmin } from '@call-analysis/rpc';
import type { z } from 'zod';
import type { HashKey } from './api-keys/api-key.ts';
import { createKey, deleteKey, listKeys, rotateKey, verifyKeys } from './api-keys/keys.ts';
import type { Uses } from './api-keys/record-use.ts';
import { listAuditEntries } from './audit/audit-log.ts';
import type { Firm, User } from './domain.ts';
import { removeFirm, SERVICES } from './firm-removal/remove-firm.ts';
import { addSegmentType, createFirm, updateFirm } from './firms-and-users/firms.ts';
import { changeUser, createUser, listUsers, recordToken, removeUser, revokeTokens } from './firms-and-users/users.ts';
import * as requests from './requests.ts';
import { parse } from './requests.ts';
import type { SessionKey } from './sessions/session-keys.ts';
import {
  closeSession,
  createSignInCode,
  openProviderSession,
  openSession,
  refreshSession,
} from './sessions/sessions.ts';
import type { ListedKey } from './store/api-keys.ts';
import type { AuditEntry, ReportedEntry } from './store/audit.ts';
import type { FirmRemoval } from './store/firm-removals.ts';
import type { Store } from './store/store.ts';

/** Who may call a method of proto/key-management.proto, where it is not the gateway alone. */
export const callers: Callers<typeof keyManagement> = {
  findUser: ['gateway', 'admin'],
  findFirm: ['gateway', 'ingest', 'analysis'],
  createFirm: ['admin'],
  removeFirm: ['admin'],
  listFirms: ['admin', 'ingest'],
  addSegmentType: ['admin'],
  createUser: ['gateway', 'admin'],
  listUsers: ['gateway', 'admin'],
  removeUser: ['gateway', 'admin'],
  updateFirm: ['gateway', 'admin'],
  recordToken: ['admin'],
  revokeTokens: ['admin'],
  createSignInCode: ['gateway', 'admin'],
  listAudit: ['gateway', 'admin'],
};

/** The service of proto/key-management.proto. */
export function keyManagementService(parts: {
  store: Store;
  hashKey: HashKey;
  previousHashKeys: readonly HashKey[];
  nextHashKeys: readonly HashKey[];
  uses: Uses;
  sessionKeys: readonly [SessionKey, ...SessionKey[]];
}) {
  const { store } = parts;
  return implement(keyManagement, callers, {
    async createKey(request) {
      const { actor, firm_uuid, expires_at } = parse(requests.CreateKey, request);
      return createKey(parts, actor, firm_uuid, expires_at ?? null);
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
    async rotateKey(request) {
      const { actor, key_uuid, grace_seconds } = parse(requests.RotateKey, request);
      return rotateKey(parts, actor, key_uuid, grace_seconds);
    },
    async verifyKeys(request) {
      const { api_keys } = parse(requests.VerifyKeys, request);
      return { verdicts: await verifyKeys(parts, api_keys) };
    },
    async findUser(request) {
      const { user_uuid, session_uuid, firm_uuid } = parse(requests.FindUser, request);
      const user = await store.findUser(user_uuid);
      if (user === null || (firm_uuid !== undefined && user.firmUuid !== firm_uuid)) return {};
      if (session_uuid !== undefined && !(await store.hasSession(session_uuid, user_uuid))) return {};
      return { user: userReply(user) };
    },
    async findFirm(request) {
      const { firm_uuid } = parse(requests.FindFirm, request);
      const firm = await store.findFirm(firm_uuid);
      return firm === null ? {} : { firm: firmReply(firm) };
    },
    async createFirm(request) {
      const {
        segment_types: segmentTypes,
        language,
        time_zone: timeZone,
        ...firm
      } = parse(requests.CreateFirm, request);
      const settings = { ...(language !== undefined && { language }), ...(timeZone !== undefined && { timeZone }) };
      return firmReply(await createFirm(parts, { ...firm, ...settings, segmentTypes }));
    },
    async updateFirm(request, call) {
      const {
        actor,
        firm_uuid,
        time_zone: timeZone,
        segment_types,
        retention,
        ...rest
      } = parse(requests.UpdateFirm, request);
      requireActor(actor, call);
      const { audio_days: audioDays, transcript_days: transcriptDays, calls_days: callsDays } = retention ?? {};
      const change = { ...rest, timeZone, segmentTypes: segment_types?.names, audioDays, transcriptDays, callsDays };
      return firmReply(await updateFirm(parts, actor, firm_uuid, change));
    },
    async removeFirm(request) {
      const { firm_uuid, confirmation } = parse(requests.RemoveFirm, request);
      return removalReply(await removeFirm(parts, firm_uuid, confirmation));
    },
    async listFirms() {
      const firms = await store.listFirms();
      return { firms: firms.map(firmReply) };
    },
    async addSegmentType(request) {
      const { firm_uuid, name } = parse(requests.AddSegmentType, request);
      return firmReply(await addSegmentType(parts, firm_uuid, name));
    },
    async createUser(request, call) {
      const { actor, firm_uuid, operator_ids: operatorIds, ...user } = parse(requests.CreateUser, request);
      requireActor(actor, call);
      const firmUuid = actor?.firmUuid ?? firm_uuid;
      return userReply(await createUser(parts, actor, { ...user, firmUuid, operatorIds }));
    },
    async listUsers(request) {
      const { firm_uuid, page, size } = parse(requests.ListUsers, request);
      const { count, users } = await listUsers(parts, firm_uuid, page === 0 ? undefined : { page, size });
      return { count, users: users.map(userReply) };
    },
    async changeUser(request) {
      const { actor, user_uuid, operator_ids: operatorIds, ...change } = parse(requests.ChangeUser, request);
      return userReply(await changeUser(parts, actor, user_uuid, { ...change, operatorIds }));
    },
    async removeUser(request, call) {
      const { actor, user_uuid } = parse(requests.RemoveUser, request);
      requireActor(actor, call);
      const { removedAt, ...user } = await removeUser(parts, actor, user_uuid);
      return { user: userReply(user), removed_at: removedAt.toISOString() };
    },
    async recordToken(request) {
      const { user_uuid, token_uuid } = parse(requests.RecordToken, request);
      return { user: userReply(await recordToken(parts, user_uuid, token_uuid)) };
    },
    async revokeTokens(request) {
      const { user_uuid } = parse(requests.OfUser, request);
      const { user, revokedBefore } = await revokeTokens(parts, user_uuid);
      return { user: userReply(user), revoked_before: revokedBefore.toISOString() };
    },
    async createSignInCode(request, call) {
      const { actor, user_uuid } = parse(requests.CreateSignInCode, request);
      requireActor(actor, call);
      return createSignInCode(parts, actor, user_uuid ?? null);
    },
    async openSession(request) {
      const { code, address } = parse(requests.OpenSession, request);
      return openSession(parts, code, address);
    },
    async openProviderSession(request) {
      const {
        issuer,
        subject,
        firm_uuid: firmUuid,
        name,
        role,
        operator_ids: operatorIds,
        address,
      } = parse(requests.OpenProviderSession, request);
      return openProviderSession(parts, { issuer, subject }, { firmUuid, name, role, operatorIds }, address);
    },
    async refreshSession(request) {
      const { secret } = parse(requests.RefreshSession, request);
      return refreshSession(parts, secret);
    },
    async closeSession(request) {
      const { secret, address } = parse(requests.CloseSession, request);
      await closeSession(parts, secret, address);
      return {};
    },
    async listSessionKeys() {
      return { keys: parts.sessionKeys.map(({ kid, pem }) => ({ kid, pem })) };
    },
    async listAudit(request) {
      const { count, entries, names } = await listAuditEntries(parts, parse(requests.ListAudit, request));
      return { count, entries: entries.map(auditReply), names };
    },
    async recordRefusals(request) {
      const { refusals } = parse(requests.RecordRefusals, request);
      await store.addReportedEntries(refusals.map(refusalOf));
      return {};
    },
  });
}

/** Without an actor a request has the rights of the installation's administrator. */
function requireActor(actor: object | null, call: Call): void {
  if (actor === null) requireAdmin(call, 'A request without an actor');
}

/** The subject and the firm of an entry that concerns no known user. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

function refusalOf(sent: z.output<typeof requests.RecordRefusals>['refusals'][number]): ReportedEntry {
  return {
    eventId: sent.uuid,
    at: sent.at,
    actor: sent.user_uuid ?? 'unknown',
    action: sent.action,
    subject: sent.user_uuid ?? NOBODY,
    firmUuid: sent.firm_uuid ?? NOBODY,
    code: sent.code,
    requestId: sent.request_id,
    address: sent.address,
  };
}

function auditReply(entry: AuditEntry): AuditEntryReply {
  const { id, at, actor, action, subject, part, requestId, address, code } = entry;
  return {
    at: at.toISOString(),
    actor,
    action,
    subject: part === null ? subject : `${subject}/${part}`,
    request_id: requestId,
    address,
    id: id.toString(),
    ...(code !== null && { code }),
  };
}

function firmReply({ segmentTypes, timeZone, audioDays, transcriptDays, callsDays, ...firm }: Firm): FirmReply {
  return {
    ...firm,
    segment_types: [...segmentTypes],
    time_zone: timeZone,
    retention: {
      ...(audioDays !== null && { audio_days: audioDays }),
      ...(transcriptDays !== null && { transcript_days: transcriptDays }),
      ...(callsDays !== null && { calls_days: callsDays }),
    },
  };
}

function removalReply({ firmUuid, removedAt, reports }: FirmRemoval): FirmRemovalReply {
  const finished = reports.filter(({ finishedAt }) => finishedAt !== null);
  const unfinished = SERVICES.filter((each) => !finished.some(({ service }) => service === each));
  const last = Math.max(...finished.map(({ finishedAt }) => finishedAt!.getTime()));
  return {
    firm_uuid: firmUuid,
    removed_at: removedAt.toISOString(),
    ...(unfinished.length === 0 && { finished_at: new Date(last).toISOString() }),
    unfinished,
    removed: reports.flatMap(({ service, removed }) => removed.map((each) => ({ service, ...each }))),
  };
}

function userReply(user: User): UserReply {
  const { uuid, firmUuid, name, role, webApiOnly, tokensRevokedBefore, operatorIds, createdAt } = user;
  return {
    uuid,
    firm_uuid: firmUuid,
    name,
    role,
    web_api_only: webApiOnly,
    operator_ids: [...operatorIds],
    created_at: createdAt.toISOString(),
    ...(tokensRevokedBefore !== null && { tokens_revoked_before: tokensRevokedBefore.toISOString() }),
  };
}

function keyReply({ uuid, prefix, firm, createdAt, lastUsed, expiresAt }: ListedKey): ApiKeyReply {
  return {
    uuid,
    key_prefix: prefix,
    is_active: true,
    firm_uuid: firm.uuid,
    firm_name: firm.name,
    created_at: createdAt.toISOString(),
    ...(lastUsed === null ? {} : { last_used: lastUsed.toISOString() }),
    ...(expiresAt === null ? {} : { expires_at: expiresAt.toISOString() }),
  };
}
