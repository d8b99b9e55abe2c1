import { randomUUID } from 'node:crypto';
import type { Bus } from '@call-analysis/bus';
import type { EventType } from '@call-analysis/events';
import { unavailable } from '@call-analysis/fault';
import { type Database, prismaSql, translateError } from '@call-analysis/postgres';
import { currentContext } from '@call-analysis/runtime';
import type { Actor, Firm, Pages, User } from './domain.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';

export const schema = 'key_management';

/** The `source` of the events that this service publishes. */
const SOURCE = 'key-management';

/** An active key, as the list shows it. */
export interface ListedKey {
  readonly uuid: string;
  readonly prefix: string;
  readonly firm: { readonly uuid: string; readonly name: string };
  readonly createdAt: Date;
  /** Null before the first use. */
  readonly lastUsed: Date | null;
}

/** What a lookup by hash answers. Where there is no such key, everything is zeros and nothing is active. */
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
  readonly subject: string;
  /** What of the subject, where that has no uuid of its own. */
  readonly part: string | null;
  readonly requestId: string;
  readonly address: string;
}

/** A deed of another service, which told of it. */
export interface ToldDeed extends Omit<AuditEntry, 'part'> {
  readonly eventId: string;
  readonly firmUuid: string;
}

/** What was done; `subject` is the uuid of the thing it was done to. */
export type Action =
  | 'api_key.created'
  | 'api_key.deleted'
  | 'firm.created'
  | 'segment_type.added'
  | 'user.created'
  | 'user.removed';

/** A unique index refused a row; the transaction has been rolled back. */
export class Duplicate extends Error {
  override readonly name = 'Duplicate';
}

/** Firms, users, keys and the audit log. A database that does not answer is a Fault `unavailable`. */
export interface Store {
  /** All of `work` or nothing. Rejects with Duplicate when a unique index objects. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  findFirm(uuid: string): Promise<Firm | null>;
  /** Oldest first. */
  firms(): Promise<Firm[]>;
  /** Null also for a user who was removed. */
  findUser(uuid: string): Promise<User | null>;
  /** Oldest first, without those that were removed. */
  usersOf(firmUuid: string): Promise<User[]>;
  /** Newest first; `count` is that of all pages. */
  activeKeys(pages: Pages): Promise<{ count: number; items: ListedKey[] }>;
  /** One answer for each hash, in their order; for null, as for a hash that nothing has. */
  findKeysByHash(hashes: readonly (Buffer | null)[]): Promise<FoundKey[]>;
  /** Milliseconds since the epoch by key. A time before the one that is stored changes nothing. */
  saveLastUsed(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Newest first; of all firms when none is named. */
  auditEntries(filter: { firmUuid: string | undefined; limit: number }): Promise<AuditEntry[]>;
  /** Writes them into the audit log; each once, however often it is told. */
  recordDeeds(deeds: readonly ToldDeed[]): Promise<void>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
}

export interface Transaction {
  findFirm(uuid: string): Promise<Firm | null>;
  addFirm(firm: Firm): Promise<void>;
  /** False when the firm had it already. */
  addSegmentType(firmUuid: string, name: string): Promise<boolean>;
  /** The uuid of the firm's API user. */
  findApiUser(firmUuid: string): Promise<string | null>;
  addUser(user: User): Promise<void>;
  /** Marks the user removed; null when there is no such user or they were removed before. */
  endUser(userUuid: string, at: Date): Promise<User | null>;
  createKey(key: NewKey): Promise<void>;
  /** Marks the key deleted and returns its firm's uuid; null when there is no such key or it was deleted before. */
  deleteKey(keyUuid: string): Promise<string | null>;
  /** Under the id of the request that is being served. `part` is what of the subject, where that has no uuid of its own. */
  audit(actor: Actor, action: Action, subject: string, firmUuid: string, part?: string): Promise<void>;
  /** The fact and the rows of this transaction become true together or not at all. */
  publish<Body>(type: EventType<Body>, fact: { subject: string; firmUuid: string; data: Body }): Promise<void>;
}

// A row of one size for every hash, so that a key that never was costs what a deleted one costs.
const FIND_KEYS = `
  SELECT COALESCE(uuid, zero) AS uuid, COALESCE(firm_uuid, zero) AS firm_uuid, COALESCE(user_uuid, zero) AS user_uuid,
         COALESCE(hash, zeros) AS hash, COALESCE(enabled AND deleted_at IS NULL, false) AS active
  FROM unnest($1::bytea[]) WITH ORDINALITY AS request (wanted, place)
  CROSS JOIN (VALUES ('00000000-0000-0000-0000-000000000000'::uuid, decode(repeat('00', 32), 'hex')))
       AS nothing (zero, zeros)
  LEFT JOIN api_key ON hash = wanted
  ORDER BY place`;

const SAVE_LAST_USED = `
  UPDATE api_key SET last_used = GREATEST(last_used, used.at)
  FROM unnest($1::uuid[], $2::timestamptz[]) AS used (uuid, at)
  WHERE api_key.uuid = used.uuid`;

/** As long as a caller waits for an answer. A database that stands still for some seconds then breaks nothing off. */
const PATIENCE_MS = 10_000;

const ACTIVE = { enabled: true, deletedAt: null } as const;
const SEGMENT_TYPES = { segmentTypes: { orderBy: { position: 'asc' } } } as const;

export function openStore({ prisma, database, bus }: { prisma: PrismaClient; database: Database; bus: Bus }): Store {
  return {
    transaction: (work) =>
      asked(() =>
        prisma.$transaction((tx) => work(openTransaction(tx, bus)), { maxWait: PATIENCE_MS, timeout: PATIENCE_MS }),
      ),
    findFirm: (uuid) => asked(() => findFirm(prisma, uuid)),
    firms: () =>
      asked(async () => {
        const rows = await prisma.firm.findMany({
          include: SEGMENT_TYPES,
          orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
        });
        return rows.map(toFirm);
      }),
    findUser: (uuid) => asked(() => prisma.user.findUnique({ where: { uuid, deletedAt: null } })),
    usersOf: (firmUuid) =>
      asked(() =>
        prisma.user.findMany({
          where: { firmUuid, deletedAt: null },
          orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
        }),
      ),
    activeKeys: ({ page, size }) =>
      asked(async () => {
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
    auditEntries: ({ firmUuid, limit }) =>
      asked(() =>
        prisma.auditEntry.findMany({
          where: firmUuid === undefined ? {} : { firmUuid },
          orderBy: { id: 'desc' },
          take: limit,
        }),
      ),
    recordDeeds: (deeds) =>
      asked(async () => {
        await prisma.auditEntry.createMany({ data: [...deeds], skipDuplicates: true });
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
      // Their positions come from a sequence, which counts along the rows of one insert.
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
    async endUser(uuid, at) {
      const [ended] = await tx.user.updateManyAndReturn({ where: { uuid, deletedAt: null }, data: { deletedAt: at } });
      return ended ?? null;
    },
    async createKey({ hash, ...key }) {
      await tx.apiKey.create({ data: { ...key, hash: new Uint8Array(hash) } });
    },
    async deleteKey(uuid) {
      const [ended] = await tx.apiKey.updateManyAndReturn({
        where: { uuid, deletedAt: null },
        data: { deletedAt: new Date(), enabled: false },
        select: { firmUuid: true },
      });
      return ended?.firmUuid ?? null;
    },
    async audit({ name, address }, action, subject, firmUuid, part) {
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

/** Asks Prisma, and puts its errors into our words. */
async function asked<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError) {
      if (error.code === 'P2002') throw new Duplicate('A unique index refused the row.', { cause: error });
      // A transaction that could not begin in time, or whose connection was lost half-way.
      if (error.code === 'P2028') throw unavailable('PostgreSQL', error);
    }
    throw translateError(error);
  }
}
