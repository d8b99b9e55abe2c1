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

const REPORTS = { reports: { orderBy: { service: 'asc' } } } as const;

export function firmRemovalRows(tx: Prisma.TransactionClient) {
  return {
    findRemoval: (firmUuid: string): Promise<FirmRemoval | null> => findRemoval(tx, firmUuid),
    /** Until the transaction ends, no other one that locks the removal changes its reports. */
    async lockRemoval(firmUuid: string): Promise<void> {
      await tx.$queryRaw`SELECT 1 FROM firm_removal WHERE firm_uuid = ${firmUuid}::uuid FOR NO KEY UPDATE`;
    },
    /** Removes the firm with its users, keys and sessions, and records the removal. Returns what was removed. */
    async removeFirm(
      { uuid: firmUuid, country }: { readonly uuid: string; readonly country: string },
      at: Date,
    ): Promise<readonly RemovedThing[]> {
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
    /** The uuids of the keys of a firm that still work. */
    async listWorkingKeys(firmUuid: string): Promise<string[]> {
      const now = new Date();
      const keys = await tx.apiKey.findMany({
        where: { firmUuid, OR: [{ deletedAt: null }, { graceUntil: { gt: now } }] },
        select: { uuid: true },
      });
      return keys.map(({ uuid }) => uuid);
    },
    /** Adds what a service removed, or replaces what it said before. */
    async setReport(firmUuid: string, { service, removed, finishedAt }: RemovalReport): Promise<void> {
      const data = { removed: removed.map((each) => ({ ...each })), finishedAt };
      await tx.firmRemovalReport.upsert({
        where: { firmUuid_service: { firmUuid, service } },
        create: { firmUuid, service, ...data },
        update: data,
      });
    },
    /** Takes up to `limit` removals that some of these services have not finished, last announced before `before`. */
    async takeUnfinished(services: readonly string[], before: Date, limit: number): Promise<FirmRemoval[]> {
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
