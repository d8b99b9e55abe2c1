import type { Database, Page } from '@call-analysis/postgres';
import type { Prisma, PrismaClient } from '../generated/client.ts';

const LISTED = {
  uuid: true,
  prefix: true,
  createdAt: true,
  lastUsed: true,
  expiresAt: true,
  firm: { select: { uuid: true, name: true } },
} as const;

/** An active key in the list of keys. `lastUsed` is null before the first use, `expiresAt` for a key that never does. */
export type ListedKey = Prisma.ApiKeyGetPayload<{ select: typeof LISTED }>;

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

const active = () => ({
  enabled: true,
  deletedAt: null,
  OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }],
});

export function keyReads(prisma: PrismaClient, database: Database) {
  return {
    /** Newest first. `count` is the number of active keys on all pages. */
    async listActiveKeys({ page, size }: Page): Promise<{ count: number; items: ListedKey[] }> {
      const where = active();
      const count = await prisma.apiKey.count({ where });
      const skip = (page - 1) * size;
      if (skip >= count) return { count, items: [] };
      const items = await prisma.apiKey.findMany({
        where,
        select: LISTED,
        orderBy: [{ createdAt: 'desc' }, { uuid: 'desc' }],
        skip,
        take: size,
      });
      return { count, items };
    },
    /** One result for each hash, in order. Null counts as an unknown hash. */
    findKeysByHash: (hashes: readonly (Buffer | null)[]): Promise<FoundKey[]> =>
      database.prepared<FoundKey>('find_keys_by_hash', FIND_KEYS, [hashes]),
    /** Stores a key under another hash. */
    async rehashKey(uuid: string, hash: Buffer): Promise<void> {
      await database.query('UPDATE api_key SET hash = $2 WHERE uuid = $1', [uuid, hash]);
    },
    /** Takes milliseconds since the epoch by key. A time before the stored one changes nothing. */
    async saveLastUsed(uses: ReadonlyMap<string, number>): Promise<void> {
      const times = [...uses.values()].map((at) => new Date(at).toISOString());
      await database.query(SAVE_LAST_USED, [[...uses.keys()], times]);
    },
  };
}

export function keyRows(tx: Prisma.TransactionClient) {
  return {
    async createKey({
      hash,
      ...key
    }: Omit<Prisma.ApiKeyUncheckedCreateInput, 'hash'> & { hash: Buffer }): Promise<void> {
      await tx.apiKey.create({ data: { ...key, hash: new Uint8Array(hash) } });
    },
    /**
     * Deletes an active key, with the keys that it replaced, or a replaced key that still works. Returns the uuids of all
     * of these, or null when there is no such key.
     */
    async deleteKey(uuid: string): Promise<{ firmUuid: string; uuids: string[] } | null> {
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
    /** Marks an active key as replaced: it works until `graceUntil`. Null when there is no such key. */
    async replaceKey(uuid: string, graceUntil: Date) {
      const [replaced] = await tx.apiKey.updateManyAndReturn({
        where: { uuid, ...active() },
        data: { enabled: false, deletedAt: new Date(), graceUntil },
        select: { firmUuid: true, userUuid: true, createdAt: true, expiresAt: true },
      });
      return replaced ?? null;
    },
    /** Marks the firm's key as deleted if it has expired, so that the firm can have another. */
    async removeExpiredKey(firmUuid: string): Promise<void> {
      const now = new Date();
      await tx.apiKey.updateMany({
        where: { firmUuid, deletedAt: null, expiresAt: { lte: now } },
        data: { enabled: false, deletedAt: now },
      });
    },
  };
}
