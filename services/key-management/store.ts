import { randomUUID } from 'node:crypto';
import type { Bus } from '@call-analysis/bus';
import type { EventType } from '@call-analysis/events';
import { unavailable } from '@call-analysis/fault';
import { type Database, prismaSql, translateError } from '@call-analysis/postgres';
import { currentContext } from '@call-analysis/runtime';
import {
  addPublishedAuditEntries,
  addRefusals,
  type AuditEntry,
  type AuditFilter,
  listAuditEntries,
  namesInEntries,
  type PublishedAuditEntry,
  pruneRefusals,
  type Refusal,
} from './audit/audit-store.ts';
import type { Actor, Firm, FirmSettings, Page, Role, User } from './domain.ts';
import {
  type FirmRemovalRows,
  findRemovedFirms,
  firmRemovalRows,
  removeAuditEntries,
} from './firm-removal/firm-removal-store.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { hasSession, pruneSessions, type SessionRows, sessionRows } from './sessions/session-store.ts';

/** The `source` of the events that this service publishes. */
const SOURCE = 'key-management';

/** An active key in the list of keys. */
export interface ListedKey {
  readonly uuid: string;
  readonly prefix: string;
  readonly firm: { readonly uuid: string; readonly name: string };
  readonly createdAt: Date;
  /** Null before the first use. */
  readonly lastUsed: Date | null;
  /** Null: never. */
  readonly expiresAt: Date | null;
}

/** The result of a lookup by hash. For an unknown hash, all values are zeros and `active` is false. */
export interface FoundKey {
  readonly uuid: string;
  readonly firm_uuid: string;
  readonly user_uuid: string;
  readonly hash: Buffer;
  readonly active: boolean;
  /** Until an active key ends. Null when it has no end. */
  readonly ends_in_ms: number | null;
}

export interface DeletedKeys {
  readonly firmUuid: string;
  /** The deleted key and those that it replaced. */
  readonly uuids: readonly string[];
}

export interface ReplacedKey {
  readonly firmUuid: string;
  readonly userUuid: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

export interface NewKey {
  readonly uuid: string;
  readonly firmUuid: string;
  readonly userUuid: string;
  readonly prefix: string;
  readonly hash: Buffer;
  readonly expiresAt: Date | null;
}

export type Action =
  | 'api_key.created'
  | 'api_key.deleted'
  | 'api_key.rotated'
  | 'firm.created'
  | 'firm.changed'
  | 'firm.removed'
  | 'segment_type.added'
  | 'segment_type.removed'
  | 'session.opened'
  | 'session.closed'
  | 'sign_in_link.created'
  | 'token.issued'
  | 'token.revoked'
  | 'user.changed'
  | 'user.created'
  | 'user.removed';

/** A unique index refused a row. The transaction has been rolled back. */
export class Duplicate extends Error {
  override readonly name = 'Duplicate';
}

/** Firms, users, keys and the audit log. Rejects with a Fault `unavailable` when the database does not answer. */
export interface Store {
  /** Runs `work` in a transaction. Rejects with Duplicate when a unique index refuses a row. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  findFirm(uuid: string): Promise<Firm | null>;
  /** Oldest first. */
  listFirms(): Promise<Firm[]>;
  /** Null also for a removed user. */
  findUser(uuid: string): Promise<User | null>;
  /** Oldest first, without removed users. Without a page, all of them. */
  listUsers(firmUuid: string, page?: Page): Promise<{ count: number; users: User[] }>;
  /** Newest first. `count` is the number of active keys on all pages. */
  listActiveKeys(page: Page): Promise<{ count: number; items: ListedKey[] }>;
  /** One result for each hash, in order. Null counts as an unknown hash. */
  findKeysByHash(hashes: readonly (Buffer | null)[]): Promise<FoundKey[]>;
  /** Stores a key under another hash. */
  rehashKey(uuid: string, hash: Buffer): Promise<void>;
  /** Takes milliseconds since the epoch by key. A time before the stored one changes nothing. */
  saveLastUsed(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Whether the session is the user's and has not ended. */
  hasSession(uuid: string, userUuid: string): Promise<boolean>;
  /** Removes what has expired. */
  pruneSessions(now: Date): Promise<void>;
  /** Newest first. */
  listAuditEntries(filter: AuditFilter): Promise<{ count: number; entries: AuditEntry[] }>;
  /** The names of the firm's users in the entries, by uuid. */
  namesInEntries(firmUuid: string, entries: readonly AuditEntry[]): Promise<Record<string, string>>;
  /** Adds entries to the audit log. An event that is delivered again adds nothing. */
  addPublishedAuditEntries(entries: readonly PublishedAuditEntry[]): Promise<void>;
  /** Adds refused requests to the audit log. One that is reported again adds nothing. */
  addRefusals(refusals: readonly Refusal[]): Promise<void>;
  /** Removes the oldest entries of refused requests, except the newest `keep`. Returns their number. */
  pruneRefusals(keep: number, before: Date): Promise<number>;
  /** Removes up to `limit` entries of a removed firm's audit log. Returns their number. */
  removeAuditEntries(firmUuid: string, limit: number): Promise<number>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
}

export interface Transaction extends SessionRows, FirmRemovalRows {
  findFirm(uuid: string): Promise<Firm | null>;
  addFirm(firm: Firm): Promise<void>;
  /** Until the transaction ends, no other one that locks the removal changes its reports. */
  lockRemoval(firmUuid: string): Promise<void>;
  /** Until the transaction ends, no other one that locks the firm changes it or its users. */
  lockFirm(uuid: string): Promise<void>;
  /** Until the transaction ends, no other one changes the user, revokes the user's tokens or ends all sessions. */
  lockUser(uuid: string): Promise<void>;
  changeFirm(uuid: string, change: FirmSettings & Pick<Firm, 'name'>): Promise<void>;
  setSegmentTypes(firmUuid: string, names: readonly string[]): Promise<void>;
  /** Null also for a removed user. */
  findUser(uuid: string): Promise<User | null>;
  /** The oldest one that was not removed. */
  findFirstSuperuser(): Promise<User | null>;
  revokeTokens(userUuid: string, before: Date): Promise<void>;
  /** False when the firm already has it. */
  addSegmentType(firmUuid: string, name: string): Promise<boolean>;
  /** The uuid of the firm's API user. */
  findApiUser(firmUuid: string): Promise<string | null>;
  addUser(user: User): Promise<void>;
  changeUser(uuid: string, change: Pick<User, 'name' | 'role'>): Promise<void>;
  /** The firm's people who have the role. */
  countPeople(firmUuid: string, role: Role): Promise<number>;
  /** Marks the user as removed. Null when there is no such user, or the user was removed before. */
  removeUser(userUuid: string, at: Date): Promise<User | null>;
  createKey(key: NewKey): Promise<void>;
  /**
   * Deletes an active key, with the keys that it replaced, or a replaced key that still works. Null when there is no such
   * key.
   */
  deleteKey(keyUuid: string): Promise<DeletedKeys | null>;
  /** Marks an active key as replaced: it works until `graceUntil`. Null when there is no such key. */
  replaceKey(keyUuid: string, graceUntil: Date): Promise<ReplacedKey | null>;
  /** Marks the firm's key as deleted if it has expired, so that the firm can have another. */
  removeExpiredKey(firmUuid: string): Promise<void>;
  /** Adds an audit entry with the id of the current request. `part` names a part of the subject that has no uuid. */
  addAuditEntry(actor: Actor, action: Action, subject: string, firmUuid: string, part?: string): Promise<void>;
  /** Publishes an event if and only if the transaction commits. */
  publish<Body>(type: EventType<Body>, event: { subject: string; firmUuid: string; data: Body }): Promise<void>;
}

// Returns a row of the same size for every hash, so that an unknown key takes as long as a deleted one.
const FIND_KEYS = `
  SELECT COALESCE(uuid, zero) AS uuid, COALESCE(firm_uuid, zero) AS firm_uuid, COALESCE(user_uuid, zero) AS user_uuid,
         COALESCE(hash, zeros) AS hash,
         COALESCE(COALESCE(expires_at > now(), true) AND (enabled AND deleted_at IS NULL OR grace_until > now()), false)
           AS active,
         CASE WHEN ends_at IS NOT NULL THEN GREATEST(1, LEAST(600000, 1000 * EXTRACT(EPOCH FROM ends_at - now())))::int END
           AS ends_in_ms
  FROM unnest($1::bytea[]) WITH ORDINALITY AS request (wanted, position)
  CROSS JOIN (VALUES ('00000000-0000-0000-0000-000000000000'::uuid, decode(repeat('00', 32), 'hex')))
       AS nothing (zero, zeros)
  LEFT JOIN api_key ON hash = wanted
  CROSS JOIN LATERAL
    (VALUES (LEAST(expires_at, CASE WHEN NOT enabled OR deleted_at IS NOT NULL THEN grace_until END))) AS life (ends_at)
  ORDER BY position`;

const SAVE_LAST_USED = `
  UPDATE api_key SET last_used = GREATEST(last_used, used.at)
  FROM unnest($1::uuid[], $2::timestamptz[]) AS used (uuid, at)
  WHERE api_key.uuid = used.uuid`;

/** As long as a caller waits for a reply, so that a database that stalls for some seconds aborts no transaction. */
const TRANSACTION_TIMEOUT_MS = 10_000;

const active = () => ({
  enabled: true,
  deletedAt: null,
  OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }],
});
const SEGMENT_TYPES = { segmentTypes: { orderBy: { position: 'asc' } } } as const;

export function openStore({ prisma, database, bus }: { prisma: PrismaClient; database: Database; bus: Bus }): Store {
  return {
    transaction: (work) =>
      translated(() =>
        prisma.$transaction((tx) => work(openTransaction(tx, bus)), {
          maxWait: TRANSACTION_TIMEOUT_MS,
          timeout: TRANSACTION_TIMEOUT_MS,
        }),
      ),
    findFirm: (uuid) => translated(() => findFirm(prisma, uuid)),
    listFirms: () =>
      translated(async () => {
        const rows = await prisma.firm.findMany({
          include: SEGMENT_TYPES,
          orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
        });
        return rows.map(toFirm);
      }),
    findUser: (uuid) => translated(() => prisma.user.findUnique({ where: { uuid, deletedAt: null } })),
    listUsers: (firmUuid, page) =>
      translated(async () => {
        const where = { firmUuid, deletedAt: null };
        const orderBy = [{ createdAt: 'asc' }, { uuid: 'asc' }] as const;
        const count = await prisma.user.count({ where });
        // Undefined: all of them.
        const take = page?.size;
        const skip = page === undefined ? 0 : (page.page - 1) * page.size;
        if (skip >= count) return { count, users: [] };
        const users = await prisma.user.findMany({
          where,
          orderBy: [...orderBy],
          skip,
          ...(take !== undefined && { take }),
        });
        return { count, users };
      }),
    listActiveKeys: ({ page, size }) =>
      translated(async () => {
        const where = active();
        const count = await prisma.apiKey.count({ where });
        const skip = (page - 1) * size;
        if (skip >= count) return { count, items: [] };
        const items = await prisma.apiKey.findMany({
          where,
          select: {
            uuid: true,
            prefix: true,
            createdAt: true,
            lastUsed: true,
            expiresAt: true,
            firm: { select: { uuid: true, name: true } },
          },
          orderBy: [{ createdAt: 'desc' }, { uuid: 'desc' }],
          skip,
          take: size,
        });
        return { count, items };
      }),
    findKeysByHash: (hashes) => database.prepared<FoundKey>('find_keys_by_hash', FIND_KEYS, [hashes]),
    async rehashKey(uuid, hash) {
      await database.query('UPDATE api_key SET hash = $2 WHERE uuid = $1', [uuid, hash]);
    },
    async saveLastUsed(uses) {
      const times = [...uses.values()].map((at) => new Date(at).toISOString());
      await database.query(SAVE_LAST_USED, [[...uses.keys()], times]);
    },
    hasSession: (uuid, userUuid) => translated(() => hasSession(prisma, uuid, userUuid)),
    pruneSessions: (now) => translated(() => pruneSessions(prisma, now)),
    listAuditEntries: (filter) => translated(() => listAuditEntries(prisma, filter)),
    namesInEntries: (firmUuid, entries) => translated(() => namesInEntries(prisma, firmUuid, entries)),
    addPublishedAuditEntries: (entries) =>
      translated(async () => addPublishedAuditEntries(prisma, await ofExistingFirms(prisma, entries))),
    addRefusals: (refusals) => translated(async () => addRefusals(prisma, await ofExistingFirms(prisma, refusals))),
    removeAuditEntries: (firmUuid, limit) => removeAuditEntries(database, firmUuid, limit),
    pruneRefusals: (keep, before) => pruneRefusals(database, keep, before),
    async ping() {
      await database.query('SELECT 1');
    },
  };
}

function openTransaction(tx: Prisma.TransactionClient, bus: Bus): Transaction {
  return {
    findFirm: (uuid) => findFirm(tx, uuid),
    ...sessionRows(tx),
    ...firmRemovalRows(tx),
    async addFirm({ segmentTypes, retention, ...firm }) {
      await tx.firm.create({ data: { ...firm, ...retention } });
      // Positions come from a sequence, which follows the order of the rows in one insert.
      await tx.segmentType.createMany({ data: segmentTypes.map((name) => ({ firmUuid: firm.uuid, name })) });
    },
    async lockRemoval(firmUuid) {
      await tx.$queryRaw`SELECT 1 FROM firm_removal WHERE firm_uuid = ${firmUuid}::uuid FOR NO KEY UPDATE`;
    },
    async lockFirm(uuid) {
      await tx.$queryRaw`SELECT 1 FROM firm WHERE uuid = ${uuid}::uuid FOR NO KEY UPDATE`;
    },
    async lockUser(uuid) {
      await tx.$queryRaw`SELECT 1 FROM firm_user WHERE uuid = ${uuid}::uuid FOR NO KEY UPDATE`;
    },
    async changeFirm(uuid, { name, language, timeZone, redaction, retention }) {
      await tx.firm.update({ where: { uuid }, data: { name, language, timeZone, redaction, ...retention } });
    },
    async setSegmentTypes(firmUuid, names) {
      await tx.segmentType.deleteMany({ where: { firmUuid } });
      await tx.segmentType.createMany({ data: names.map((name) => ({ firmUuid, name })) });
    },
    findUser: (uuid) => tx.user.findUnique({ where: { uuid, deletedAt: null } }),
    findFirstSuperuser: () =>
      tx.user.findFirst({
        where: { role: 'SUPERUSER', webApiOnly: false, deletedAt: null },
        orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
      }),
    async revokeTokens(uuid, before) {
      await tx.user.update({ where: { uuid }, data: { tokensRevokedBefore: before } });
    },
    async addSegmentType(firmUuid, name) {
      const { count } = await tx.segmentType.createMany({ data: [{ firmUuid, name }], skipDuplicates: true });
      return count > 0;
    },
    async findApiUser(firmUuid) {
      const user = await tx.user.findFirst({ where: { firmUuid, webApiOnly: true, deletedAt: null } });
      return user?.uuid ?? null;
    },
    async addUser(user) {
      await tx.user.create({ data: user });
    },
    async changeUser(uuid, { name, role }) {
      await tx.user.update({ where: { uuid }, data: { name, role } });
    },
    countPeople: (firmUuid, role) => tx.user.count({ where: { firmUuid, role, webApiOnly: false, deletedAt: null } }),
    async removeUser(uuid, at) {
      const [removed] = await tx.user.updateManyAndReturn({
        where: { uuid, deletedAt: null },
        data: { deletedAt: at },
      });
      return removed ?? null;
    },
    async createKey({ hash, ...key }) {
      await tx.apiKey.create({ data: { ...key, hash: new Uint8Array(hash) } });
    },
    async deleteKey(uuid) {
      const now = new Date();
      const inGrace = { graceUntil: { gt: now } };
      const deletion = { enabled: false, deletedAt: now, graceUntil: null };
      const [deleted] = await tx.apiKey.updateManyAndReturn({
        where: { uuid, deletedAt: null },
        data: deletion,
        select: { firmUuid: true },
      });
      // A firm whose key is deleted must not be reached by the key before it either.
      const replaced = await tx.apiKey.updateManyAndReturn({
        where: deleted === undefined ? { uuid, ...inGrace } : { firmUuid: deleted.firmUuid, ...inGrace },
        data: { graceUntil: null },
        select: { uuid: true, firmUuid: true },
      });
      const firmUuid = deleted?.firmUuid ?? replaced[0]?.firmUuid;
      if (firmUuid === undefined) return null;
      const uuids = replaced.map((each) => each.uuid);
      return { firmUuid, uuids: deleted === undefined ? uuids : [uuid, ...uuids] };
    },
    async replaceKey(uuid, graceUntil) {
      const [replaced] = await tx.apiKey.updateManyAndReturn({
        where: { uuid, ...active() },
        data: { enabled: false, deletedAt: new Date(), graceUntil },
        select: { firmUuid: true, userUuid: true, createdAt: true, expiresAt: true },
      });
      return replaced ?? null;
    },
    async removeExpiredKey(firmUuid) {
      const now = new Date();
      await tx.apiKey.updateMany({
        where: { firmUuid, deletedAt: null, expiresAt: { lte: now } },
        data: { enabled: false, deletedAt: now },
      });
    },
    async addAuditEntry({ name, address }, action, subject, firmUuid, part) {
      const requestId = currentContext()?.requestId ?? '';
      await tx.auditEntry.create({
        data: { actor: name, address, action, subject, part: part ?? null, firmUuid, requestId },
      });
    },
    async publish(type, { subject, firmUuid, data }) {
      const event = {
        id: randomUUID(),
        source: SOURCE,
        type: type.type,
        time: new Date().toISOString(),
        subject,
        firmuuid: firmUuid,
        priority: 0,
        traceparent: currentContext()?.traceparent,
        data,
      };
      await bus.publish(prismaSql(tx), [event]);
    },
  };
}

async function findFirm(client: Prisma.TransactionClient, uuid: string): Promise<Firm | null> {
  const row = await client.firm.findUnique({ where: { uuid }, include: SEGMENT_TYPES });
  return row === null ? null : toFirm(row);
}

function toFirm(row: Prisma.FirmGetPayload<{ include: typeof SEGMENT_TYPES }>): Firm {
  const { uuid, name, country, timeZone, audioDays, transcriptDays, callsDays } = row;
  return {
    uuid,
    name,
    country,
    segmentTypes: row.segmentTypes.map((each) => each.name),
    // Only values that requests.ts has parsed are stored.
    language: row.language as Firm['language'],
    timeZone,
    redaction: row.redaction as Firm['redaction'],
    retention: { audioDays, transcriptDays, callsDays },
  };
}

/** The entries of firms that were not removed: what arrives late is dropped. */
async function ofExistingFirms<Entry extends { readonly firmUuid: string }>(
  prisma: PrismaClient,
  entries: readonly Entry[],
): Promise<readonly Entry[]> {
  const removed = await findRemovedFirms(
    prisma,
    entries.map(({ firmUuid }) => firmUuid),
  );
  return removed.size === 0 ? entries : entries.filter(({ firmUuid }) => !removed.has(firmUuid));
}

/** Runs a query and translates the errors of Prisma. */
async function translated<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError) {
      if (error.code === 'P2002') throw new Duplicate('A unique index refused the row.', { cause: error });
      // The transaction could not begin in time, or lost its connection.
      if (error.code === 'P2028') throw unavailable('PostgreSQL', error);
    }
    throw translateError(error);
  }
}
