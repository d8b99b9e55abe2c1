import { randomUUID } from 'node:crypto';
import type { Bus } from '@call-analysis/bus';
import type { EventType } from '@call-analysis/events';
import { unavailable } from '@call-analysis/fault';
import { type Database, prismaSql, translateError } from '@call-analysis/postgres';
import { currentContext } from '@call-analysis/runtime';
import type { Actor, Firm, Page, User } from './domain.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';

export const schema = 'key_management';

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
}

/** The result of a lookup by hash. For an unknown hash, all values are zeros and `active` is false. */
export interface FoundKey {
  readonly uuid: string;
  readonly firm_uuid: string;
  readonly user_uuid: string;
  readonly hash: Buffer;
  readonly active: boolean;
}

export interface NewKey {
  readonly uuid: string;
  readonly firmUuid: string;
  readonly userUuid: string;
  readonly prefix: string;
  readonly hash: Buffer;
}

export interface AuditEntry {
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  /** The uuid of what the action was performed on. */
  readonly subject: string;
  /** The name of the part of the subject that the action concerns, if that part has no uuid. */
  readonly part: string | null;
  readonly requestId: string;
  readonly address: string;
}

/** An audit entry that another service has published. */
export interface PublishedAuditEntry extends Omit<AuditEntry, 'part'> {
  readonly eventId: string;
  readonly firmUuid: string;
}

export type Action =
  | 'api_key.created'
  | 'api_key.deleted'
  | 'firm.created'
  | 'segment_type.added'
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
  /** Oldest first, without removed users. */
  listUsers(firmUuid: string): Promise<User[]>;
  /** Newest first. `count` is the number of active keys on all pages. */
  listActiveKeys(page: Page): Promise<{ count: number; items: ListedKey[] }>;
  /** One result for each hash, in order. Null counts as an unknown hash. */
  findKeysByHash(hashes: readonly (Buffer | null)[]): Promise<FoundKey[]>;
  /** Takes milliseconds since the epoch by key. A time before the stored one changes nothing. */
  saveLastUsed(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Newest first, of one firm or of all firms. */
  listAuditEntries(filter: { firmUuid: string | undefined; limit: number }): Promise<AuditEntry[]>;
  /** Adds entries to the audit log. An event that is delivered again adds nothing. */
  addPublishedAuditEntries(entries: readonly PublishedAuditEntry[]): Promise<void>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
}

export interface Transaction {
  findFirm(uuid: string): Promise<Firm | null>;
  addFirm(firm: Firm): Promise<void>;
  /** False when the firm already has it. */
  addSegmentType(firmUuid: string, name: string): Promise<boolean>;
  /** The uuid of the firm's API user. */
  findApiUser(firmUuid: string): Promise<string | null>;
  addUser(user: User): Promise<void>;
  /** Marks the user as removed. Null when there is no such user, or the user was removed before. */
  removeUser(userUuid: string, at: Date): Promise<User | null>;
  createKey(key: NewKey): Promise<void>;
  /** Marks the key as deleted and returns its firm's uuid. Null when there is no such key, or it was deleted before. */
  deleteKey(keyUuid: string): Promise<string | null>;
  /** Adds an audit entry with the id of the current request. `part` names a part of the subject that has no uuid. */
  addAuditEntry(actor: Actor, action: Action, subject: string, firmUuid: string, part?: string): Promise<void>;
  /** Publishes an event if and only if the transaction commits. */
  publish<Body>(type: EventType<Body>, event: { subject: string; firmUuid: string; data: Body }): Promise<void>;
}

// Returns a row of the same size for every hash, so that an unknown key takes as long as a deleted one.
const FIND_KEYS = `
  SELECT COALESCE(uuid, zero) AS uuid, COALESCE(firm_uuid, zero) AS firm_uuid, COALESCE(user_uuid, zero) AS user_uuid,
         COALESCE(hash, zeros) AS hash, COALESCE(enabled AND deleted_at IS NULL, false) AS active
  FROM unnest($1::bytea[]) WITH ORDINALITY AS request (wanted, position)
  CROSS JOIN (VALUES ('00000000-0000-0000-0000-000000000000'::uuid, decode(repeat('00', 32), 'hex')))
       AS nothing (zero, zeros)
  LEFT JOIN api_key ON hash = wanted
  ORDER BY position`;

const SAVE_LAST_USED = `
  UPDATE api_key SET last_used = GREATEST(last_used, used.at)
  FROM unnest($1::uuid[], $2::timestamptz[]) AS used (uuid, at)
  WHERE api_key.uuid = used.uuid`;

/** As long as a caller waits for a reply, so that a database that stalls for some seconds aborts no transaction. */
const TRANSACTION_TIMEOUT_MS = 10_000;

const ACTIVE = { enabled: true, deletedAt: null } as const;
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
    listUsers: (firmUuid) =>
      translated(() =>
        prisma.user.findMany({
          where: { firmUuid, deletedAt: null },
          orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
        }),
      ),
    listActiveKeys: ({ page, size }) =>
      translated(async () => {
        const count = await prisma.apiKey.count({ where: ACTIVE });
        const skip = (page - 1) * size;
        if (skip >= count) return { count, items: [] };
        const items = await prisma.apiKey.findMany({
          where: ACTIVE,
          select: {
            uuid: true,
            prefix: true,
            createdAt: true,
            lastUsed: true,
            firm: { select: { uuid: true, name: true } },
          },
          orderBy: [{ createdAt: 'desc' }, { uuid: 'desc' }],
          skip,
          take: size,
        });
        return { count, items };
      }),
    findKeysByHash: (hashes) => database.prepared<FoundKey>('find_keys_by_hash', FIND_KEYS, [hashes]),
    async saveLastUsed(uses) {
      const times = [...uses.values()].map((at) => new Date(at).toISOString());
      await database.query(SAVE_LAST_USED, [[...uses.keys()], times]);
    },
    listAuditEntries: ({ firmUuid, limit }) =>
      translated(() =>
        prisma.auditEntry.findMany({
          where: firmUuid === undefined ? {} : { firmUuid },
          orderBy: { id: 'desc' },
          take: limit,
        }),
      ),
    addPublishedAuditEntries: (entries) =>
      translated(async () => {
        await prisma.auditEntry.createMany({ data: [...entries], skipDuplicates: true });
      }),
    async ping() {
      await database.query('SELECT 1');
    },
  };
}

function openTransaction(tx: Prisma.TransactionClient, bus: Bus): Transaction {
  return {
    findFirm: (uuid) => findFirm(tx, uuid),
    async addFirm({ segmentTypes, ...firm }) {
      await tx.firm.create({ data: firm });
      // Positions come from a sequence, which follows the order of the rows in one insert.
      await tx.segmentType.createMany({ data: segmentTypes.map((name) => ({ firmUuid: firm.uuid, name })) });
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
      const [deleted] = await tx.apiKey.updateManyAndReturn({
        where: { uuid, deletedAt: null },
        data: { deletedAt: new Date(), enabled: false },
        select: { firmUuid: true },
      });
      return deleted?.firmUuid ?? null;
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

function toFirm(row: { uuid: string; name: string; country: string; segmentTypes: { name: string }[] }): Firm {
  const { uuid, name, country } = row;
  return { uuid, name, country, segmentTypes: row.segmentTypes.map((each) => each.name) };
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
