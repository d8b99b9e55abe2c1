import { Uuid } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { currentContext } from '@call-analysis/runtime';
import type { z } from 'zod';
import type { Actor } from '../domain.ts';
import type { AuditEntry, Prisma, PrismaClient } from '../generated/client.ts';
import type { ListAudit } from '../requests.ts';
import { findRemovedFirms } from './firm-removals.ts';

export type { AuditEntry };

/** An entry about another service's object, or about a refused request. */
export type ReportedEntry = Omit<AuditEntry, 'id' | 'eventId' | 'part' | 'code'> &
  Partial<Pick<AuditEntry, 'part' | 'code'>> & { readonly eventId: string };

/** Undefined fields do not restrict the entries. Without a page, they are not counted. */
export type AuditFilter = z.output<typeof ListAudit>;

/** What this service records about its own objects. */
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

/** The entries that stay in the audit log of a removed firm. They contain no person's name or address. */
const KEPT = ['firm.created', 'firm.removed'];

const PRUNE_REFUSALS = `
  WITH removed AS (
    DELETE FROM audit_entry
    WHERE code IS NOT NULL
      AND (at < $2 OR id < (SELECT min(id) FROM (
        SELECT id FROM audit_entry WHERE code IS NOT NULL ORDER BY id DESC LIMIT $1) AS newest))
    RETURNING 1)
  SELECT count(*)::int AS count FROM removed`;

export function auditLog(prisma: PrismaClient, database: Database) {
  return {
    /** Newest first. */
    async listAuditEntries(filter: AuditFilter): Promise<{ count: number; entries: AuditEntry[] }> {
      const { firm_uuid: firmUuid, actor, action, subject, from, to, before_id: beforeId, limit, page } = filter;
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
    },
    /**
     * The names of those users of the firm who act in the entries or are subjects of them, by uuid. Removed users count.
     */
    async namesInEntries(firmUuid: string, entries: readonly AuditEntry[]): Promise<Record<string, string>> {
      const parties = new Set(entries.flatMap(({ actor, subject }) => [actor, subject]));
      // An actor may be a word.
      const uuids = [...parties].filter((text) => Uuid.safeParse(text).success);
      const where = { firmUuid, uuid: { in: uuids } };
      const users = await prisma.user.findMany({ where, select: { uuid: true, name: true } });
      return Object.fromEntries(users.map(({ uuid, name }) => [uuid, name]));
    },
    /** Adds entries to the audit log. One that is reported again adds nothing, nor does one of a removed firm. */
    async addReportedEntries(entries: readonly ReportedEntry[]): Promise<void> {
      const firms = entries.map(({ firmUuid }) => firmUuid);
      const removed = await findRemovedFirms(prisma, firms);
      const data = entries.filter(({ firmUuid }) => !removed.has(firmUuid));
      await prisma.auditEntry.createMany({ data, skipDuplicates: true });
    },
    /** Removes the oldest entries of refused requests, except the newest `keep`. Returns their number. */
    async pruneRefusals(keep: number, before: Date): Promise<number> {
      const [row] = await database.query<{ count: number }>(PRUNE_REFUSALS, [keep, before]);
      return row?.count ?? 0;
    },
    /**
     * Removes up to `limit` entries of a removed firm's audit log and returns their number. The entry about the removal
     * stays.
     */
    async removeAuditEntries(firmUuid: string, limit: number): Promise<number> {
      const removed = await database.query(
        `DELETE FROM audit_entry WHERE id IN (
           SELECT id FROM audit_entry WHERE firm_uuid = $1 AND action <> ALL($2::text[]) LIMIT $3) RETURNING 1`,
        [firmUuid, KEPT, limit],
      );
      return removed.length;
    },
  };
}

export function auditRows(tx: Prisma.TransactionClient) {
  return {
    /** Adds an audit entry with the id of the current request. `part` names a part of the subject that has no uuid. */
    async addAuditEntry(
      { name, address }: Actor,
      action: Action,
      subject: string,
      firmUuid: string,
      part?: string,
    ): Promise<void> {
      const requestId = currentContext()?.requestId ?? '';
      await tx.auditEntry.create({
        data: { actor: name, address, action, subject, part: part ?? null, firmUuid, requestId },
      });
    },
  };
}
