import type { Database } from '@call-analysis/postgres';
import type { Prisma, PrismaClient } from '../generated/client.ts';

export interface AuditEntry {
  /** Ascending in the order in which entries were added. */
  readonly id: bigint;
  readonly at: Date;
  /** A user's uuid, `admin` for the admin command, or `unknown` for a caller who could not be identified. */
  readonly actor: string;
  readonly action: string;
  /** The uuid of the action's object. */
  readonly subject: string;
  /** The name of the part of the subject that the action concerns, if that part has no uuid. */
  readonly part: string | null;
  readonly requestId: string;
  readonly address: string;
  /** The error code of a refused request. */
  readonly code: string | null;
}

/** An audit entry that another service has published. */
export interface PublishedAuditEntry extends Omit<AuditEntry, 'id' | 'code'> {
  readonly eventId: string;
  readonly firmUuid: string;
}

/** An entry for a refused request. */
export interface Refusal extends Omit<AuditEntry, 'id' | 'part'> {
  readonly eventId: string;
  readonly firmUuid: string;
}

/** Undefined fields do not restrict the entries. */
export interface AuditFilter {
  readonly firmUuid: string | undefined;
  readonly actor: string | undefined;
  readonly action: string | undefined;
  readonly subject: { readonly uuid: string; readonly part: string | undefined } | undefined;
  /** Inclusive. */
  readonly from: Date | undefined;
  /** Exclusive. */
  readonly to: Date | undefined;
  readonly beforeId: bigint | undefined;
  readonly limit: number;
  /** Undefined: entries are not counted. */
  readonly page: number | undefined;
}

export async function listAuditEntries(
  prisma: PrismaClient,
  { firmUuid, actor, action, subject, from, to, beforeId, limit, page }: AuditFilter,
): Promise<{ count: number; entries: AuditEntry[] }> {
  const where: Prisma.AuditEntryWhereInput = {
    ...(firmUuid !== undefined && { firmUuid }),
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(subject !== undefined && { subject: subject.uuid }),
    ...(subject?.part !== undefined && { part: subject.part }),
    ...((from !== undefined || to !== undefined) && {
      at: { ...(from !== undefined && { gte: from }), ...(to !== undefined && { lt: to }) },
    }),
    ...(beforeId !== undefined && { id: { lt: beforeId } }),
  };
  const count = page === undefined ? 0 : await prisma.auditEntry.count({ where });
  const skip = ((page ?? 1) - 1) * limit;
  if (page !== undefined && skip >= count) return { count, entries: [] };
  const entries = await prisma.auditEntry.findMany({ where, orderBy: { id: 'desc' }, skip, take: limit });
  return { count, entries };
}

/**
 * The names of those users of the firm who act in the entries or are subjects of them, by uuid. Removed users count.
 */
export async function namesInEntries(
  prisma: PrismaClient,
  firmUuid: string,
  entries: readonly AuditEntry[],
): Promise<Record<string, string>> {
  const uuids = [...new Set(entries.flatMap(({ actor, subject }) => [actor, subject]))].filter((text) =>
    UUID.test(text),
  );
  const where = { firmUuid, uuid: { in: uuids } };
  const users = await prisma.user.findMany({ where, select: { uuid: true, name: true } });
  return Object.fromEntries(users.map(({ uuid, name }) => [uuid, name]));
}

/** An actor may be a word. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

export async function addPublishedAuditEntries(
  prisma: PrismaClient,
  entries: readonly PublishedAuditEntry[],
): Promise<void> {
  await prisma.auditEntry.createMany({ data: [...entries], skipDuplicates: true });
}

export async function addRefusals(prisma: PrismaClient, refusals: readonly Refusal[]): Promise<void> {
  await prisma.auditEntry.createMany({ data: [...refusals], skipDuplicates: true });
}

const PRUNE_REFUSALS = `
  WITH removed AS (
    DELETE FROM audit_entry
    WHERE code IS NOT NULL
      AND (at < $2 OR id < (SELECT min(id) FROM (
        SELECT id FROM audit_entry WHERE code IS NOT NULL ORDER BY id DESC LIMIT $1) AS newest))
    RETURNING 1)
  SELECT count(*)::int AS count FROM removed`;

export async function pruneRefusals(database: Database, keep: number, before: Date): Promise<number> {
  const [row] = await database.query<{ count: number }>(PRUNE_REFUSALS, [keep, before]);
  return row?.count ?? 0;
}
