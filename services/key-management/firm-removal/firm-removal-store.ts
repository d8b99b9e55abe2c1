import type { Database } from '@call-analysis/postgres';
import type { Prisma, PrismaClient } from '../generated/client.ts';

export interface RemovedThing {
  readonly what: string;
  readonly count: number;
}

export interface FirmRemoval {
  readonly firmUuid: string;
  readonly country: string;
  readonly removedAt: Date;
  readonly reports: readonly RemovalReport[];
}

/** The data that a service removed of a firm. */
export interface RemovalReport {
  readonly service: string;
  readonly removed: readonly RemovedThing[];
  /** Null while more may follow. */
  readonly finishedAt: Date | null;
}

/** Removals of firms, as part of a transaction. */
export interface FirmRemovalRows {
  findRemoval(firmUuid: string): Promise<FirmRemoval | null>;
  /** Removes the firm with its users, keys and sessions, and records the removal. Returns what was removed. */
  removeFirm(firm: { readonly uuid: string; readonly country: string }, at: Date): Promise<readonly RemovedThing[]>;
  /** The uuids of the keys of a firm that still work. */
  listWorkingKeys(firmUuid: string): Promise<string[]>;
  /** Adds what a service removed, or replaces what it said before. */
  setReport(firmUuid: string, report: RemovalReport): Promise<void>;
  /** Takes up to `limit` removals that some of these services have not finished, last announced before `before`. */
  takeUnfinished(services: readonly string[], before: Date, limit: number): Promise<FirmRemoval[]>;
}

const REPORTS = { reports: { orderBy: { service: 'asc' } } } as const;

/** The entries that stay in the audit log of a removed firm. They contain no person's name or address. */
const KEPT = ['firm.created', 'firm.removed'];

export function firmRemovalRows(tx: Prisma.TransactionClient): FirmRemovalRows {
  return {
    findRemoval: (firmUuid) => findRemoval(tx, firmUuid),
    async removeFirm({ uuid: firmUuid, country }, at) {
      const users = await tx.user.findMany({ where: { firmUuid }, select: { uuid: true, deletedAt: true } });
      const ofUsers = { userUuid: { in: users.map(({ uuid }) => uuid) } };
      const sessions = await tx.session.deleteMany({ where: ofUsers });
      await tx.signInCode.deleteMany({ where: ofUsers });
      const keys = await tx.apiKey.deleteMany({ where: { firmUuid } });
      await tx.user.deleteMany({ where: { firmUuid } });
      await tx.segmentType.deleteMany({ where: { firmUuid } });
      await tx.firm.delete({ where: { uuid: firmUuid } });
      await tx.firmRemoval.create({ data: { firmUuid, country, removedAt: at, announcedAt: at } });
      return [
        { what: 'firm', count: 1 },
        { what: 'user', count: users.length },
        { what: 'api_key', count: keys.count },
        { what: 'session', count: sessions.count },
      ];
    },
    async listWorkingKeys(firmUuid) {
      const now = new Date();
      const keys = await tx.apiKey.findMany({
        where: { firmUuid, OR: [{ deletedAt: null }, { graceUntil: { gt: now } }] },
        select: { uuid: true },
      });
      return keys.map(({ uuid }) => uuid);
    },
    async setReport(firmUuid, { service, removed, finishedAt }) {
      const data = { removed: removed.map((each) => ({ ...each })), finishedAt };
      await tx.firmRemovalReport.upsert({
        where: { firmUuid_service: { firmUuid, service } },
        create: { firmUuid, service, ...data },
        update: data,
      });
    },
    async takeUnfinished(services, before, limit) {
      const found = await tx.$queryRaw<{ firm: string }[]>`
        UPDATE firm_removal SET announced_at = now() WHERE firm_uuid IN (
          SELECT firm_uuid FROM firm_removal WHERE announced_at < ${before}
            AND (SELECT count(*) FROM firm_removal_report AS report WHERE report.firm_uuid = firm_removal.firm_uuid
              AND finished_at IS NOT NULL AND service = ANY(${[...services]})) < ${services.length}
          ORDER BY announced_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
        RETURNING firm_uuid AS firm`;
      const removals = await Promise.all(found.map(({ firm }) => findRemoval(tx, firm)));
      return removals.filter((removal) => removal !== null);
    },
  };
}

async function findRemoval(
  client: Prisma.TransactionClient | PrismaClient,
  firmUuid: string,
): Promise<FirmRemoval | null> {
  const row = await client.firmRemoval.findUnique({ where: { firmUuid }, include: REPORTS });
  if (row === null) return null;
  const reports = row.reports.map(({ service, removed, finishedAt }) => ({
    service,
    removed: removed as unknown as RemovedThing[],
    finishedAt,
  }));
  return { firmUuid, country: row.country, removedAt: row.removedAt, reports };
}

/** The ones among these firms that were removed. */
export async function findRemovedFirms(prisma: PrismaClient, firmUuids: readonly string[]): Promise<Set<string>> {
  const rows = await prisma.firmRemoval.findMany({
    where: { firmUuid: { in: [...new Set(firmUuids)] } },
    select: { firmUuid: true },
  });
  return new Set(rows.map(({ firmUuid }) => firmUuid));
}

/**
 * Removes up to `limit` entries of a removed firm's audit log and returns their number. The entry about the removal
 * stays.
 */
export async function removeAuditEntries(database: Database, firmUuid: string, limit: number): Promise<number> {
  const removed = await database.query(
    `DELETE FROM audit_entry WHERE id IN (
       SELECT id FROM audit_entry WHERE firm_uuid = $1 AND action <> ALL($2::text[]) LIMIT $3) RETURNING 1`,
    [firmUuid, KEPT, limit],
  );
  return removed.length;
}
