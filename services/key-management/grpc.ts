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
    createKey: reading(requests.CreateKey, ({ actor, firm_uuid, expires_at }) =>
      createKey(parts, actor, firm_uuid, expires_at ?? null),
    ),
    listKeys: reading(requests.ListKeys, async ({ actor, ...page }) => {
      const { count, items } = await listKeys(parts, actor, page);
      return { count, items: items.map(keyReply) };
    }),
    deleteKey: reading(requests.DeleteKey, async ({ actor, key_uuid }) => {
      await deleteKey(parts, actor, key_uuid);
      return {};
    }),
    rotateKey: reading(requests.RotateKey, ({ actor, key_uuid, grace_seconds }) =>
      rotateKey(parts, actor, key_uuid, grace_seconds),
    ),
    verifyKeys: reading(requests.VerifyKeys, async ({ api_keys }) => ({ verdicts: await verifyKeys(parts, api_keys) })),
    findUser: reading(requests.FindUser, async ({ user_uuid, session_uuid, firm_uuid }) => {
      const user = await store.findUser(user_uuid);
      if (user === null || (firm_uuid !== undefined && user.firmUuid !== firm_uuid)) return {};
      if (session_uuid !== undefined && !(await store.hasSession(session_uuid, user_uuid))) return {};
      return { user: userReply(user) };
    }),
    findFirm: reading(requests.FindFirm, async ({ firm_uuid }) => {
      const firm = await store.findFirm(firm_uuid);
      return firm === null ? {} : { firm: firmReply(firm) };
    }),
    createFirm: reading(requests.CreateFirm, async ({ segment_types: segmentTypes, language, time_zone, ...firm }) => {
      const settings = { ...(language && { language }), ...(time_zone && { timeZone: time_zone }) };
      return firmReply(await createFirm(parts, { ...firm, ...settings, segmentTypes }));
    }),
    updateFirm: reading(requests.UpdateFirm, async ({ actor, firm_uuid, retention, segment_types, ...rest }) => {
      const { time_zone: timeZone, ...settings } = rest;
      const { audio_days: audioDays, transcript_days: transcriptDays, calls_days: callsDays } = retention ?? {};
      const days = { audioDays, transcriptDays, callsDays };
      const change = { ...settings, timeZone, segmentTypes: segment_types?.names, ...days };
      return firmReply(await updateFirm(parts, actor, firm_uuid, change));
    }),
    removeFirm: reading(requests.RemoveFirm, async ({ firm_uuid, confirmation }) =>
      removalReply(await removeFirm(parts, firm_uuid, confirmation)),
    ),
    async listFirms() {
      const firms = await store.listFirms();
      return { firms: firms.map(firmReply) };
    },
    addSegmentType: reading(requests.AddSegmentType, async ({ firm_uuid, name }) =>
      firmReply(await addSegmentType(parts, firm_uuid, name)),
    ),
    createUser: reading(requests.CreateUser, async ({ actor, firm_uuid, operator_ids: operatorIds, ...user }) => {
      const firmUuid = actor?.firmUuid ?? firm_uuid;
      return userReply(await createUser(parts, actor, { ...user, firmUuid, operatorIds }));
    }),
    listUsers: reading(requests.ListUsers, async ({ firm_uuid, ...page }) => {
      const { count, users } = await listUsers(parts, firm_uuid, page.page === 0 ? undefined : page);
      return { count, users: users.map(userReply) };
    }),
    changeUser: reading(requests.ChangeUser, async ({ actor, user_uuid, operator_ids: operatorIds, ...change }) =>
      userReply(await changeUser(parts, actor, user_uuid, { ...change, operatorIds })),
    ),
    removeUser: reading(requests.RemoveUser, async ({ actor, user_uuid }) => {
      const { removedAt, ...user } = await removeUser(parts, actor, user_uuid);
      return { user: userReply(user), removed_at: removedAt.toISOString() };
    }),
    recordToken: reading(requests.RecordToken, async ({ user_uuid, token_uuid }) => ({
      user: userReply(await recordToken(parts, user_uuid, token_uuid)),
    })),
    revokeTokens: reading(requests.OfUser, async ({ user_uuid }) => {
      const { user, revokedBefore } = await revokeTokens(parts, user_uuid);
      return { user: userReply(user), revoked_before: revokedBefore.toISOString() };
    }),
    createSignInCode: reading(requests.CreateSignInCode, ({ actor, user_uuid }) =>
      createSignInCode(parts, actor, user_uuid ?? null),
    ),
    openSession: reading(requests.OpenSession, ({ code, address }) => openSession(parts, code, address)),
    openProviderSession: reading(requests.OpenProviderSession, (person) => {
      const { issuer, subject, firm_uuid: firmUuid, name, role, operator_ids: operatorIds, address } = person;
      return openProviderSession(parts, { issuer, subject }, { firmUuid, name, role, operatorIds }, address);
    }),
    refreshSession: reading(requests.RefreshSession, ({ secret }) => refreshSession(parts, secret)),
    closeSession: reading(requests.CloseSession, async ({ secret, address }) => {
      await closeSession(parts, secret, address);
      return {};
    }),
    async listSessionKeys() {
      return { keys: parts.sessionKeys.map(({ kid, pem }) => ({ kid, pem })) };
    },
    listAudit: reading(requests.ListAudit, async (filter) => {
      const { count, entries, names } = await listAuditEntries(parts, filter);
      return { count, entries: entries.map(auditReply), names };
    }),
    recordRefusals: reading(requests.RecordRefusals, async ({ refusals }) => {
      await store.addReportedEntries(refusals.map(refusalOf));
      return {};
    }),
  });
}

/**
 * A handler of requests as their schema reads them. One whose actor is left out has the rights of the installation's
 * administrator.
 */
function reading<Request extends object, Reply>(
  schema: z.ZodType<Request>,
  handle: (request: Request) => Promise<Reply>,
): (request: unknown, call: Call) => Promise<Reply> {
  return async (request, call) => {
    const read = parse(schema, request);
    if ('actor' in read && read.actor === null) requireAdmin(call, 'A request without an actor');
    return handle(read);
  };
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
