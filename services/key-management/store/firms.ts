import type { Firm, FirmSettings } from '../domain.ts';
import type { Prisma } from '../generated/client.ts';

const SEGMENT_TYPES = { segmentTypes: { orderBy: { position: 'asc' } } } as const;

export function firmReads(client: Prisma.TransactionClient) {
  return {
    async findFirm(uuid: string): Promise<Firm | null> {
      const row = await client.firm.findUnique({ where: { uuid }, include: SEGMENT_TYPES });
      return row === null ? null : toFirm(row);
    },
    /** Oldest first. */
    async listFirms(): Promise<Firm[]> {
      const rows = await client.firm.findMany({
        include: SEGMENT_TYPES,
        orderBy: [{ createdAt: 'asc' }, { uuid: 'asc' }],
      });
      return rows.map(toFirm);
    },
  };
}

export function firmRows(tx: Prisma.TransactionClient) {
  return {
    findFirm: firmReads(tx).findFirm,
    async addFirm({ segmentTypes, retention, ...firm }: Firm): Promise<void> {
      await tx.firm.create({ data: { ...firm, ...retention } });
      // Positions come from a sequence, which follows the order of the rows in one insert.
      await tx.segmentType.createMany({ data: segmentTypes.map((name) => ({ firmUuid: firm.uuid, name })) });
    },
    /** Until the transaction ends, no other one that locks the firm changes it or its users. */
    async lockFirm(uuid: string): Promise<void> {
      await tx.$queryRaw`SELECT 1 FROM firm WHERE uuid = ${uuid}::uuid FOR NO KEY UPDATE`;
    },
    async changeFirm(
      uuid: string,
      { name, language, timeZone, redaction, retention }: FirmSettings & Pick<Firm, 'name'>,
    ): Promise<void> {
      await tx.firm.update({ where: { uuid }, data: { name, language, timeZone, redaction, ...retention } });
    },
    async setSegmentTypes(firmUuid: string, names: readonly string[]): Promise<void> {
      await tx.segmentType.deleteMany({ where: { firmUuid } });
      await tx.segmentType.createMany({ data: names.map((name) => ({ firmUuid, name })) });
    },
    /** False when the firm already has it. */
    async addSegmentType(firmUuid: string, name: string): Promise<boolean> {
      const { count } = await tx.segmentType.createMany({ data: [{ firmUuid, name }], skipDuplicates: true });
      return count > 0;
    },
  };
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
