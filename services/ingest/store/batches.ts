import { Fault, notFound } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import type { Prisma, PrismaClient } from '../generated/client.ts';
import { UNFINISHED } from './unfinished.ts';

export interface Batch {
  readonly uuid: string;
  readonly kind: string;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly ignoredColumns: string[];
  readonly rejectedUuid: string | null;
  /** Its calls stand between these two in the order of uuids; null when none was accepted. */
  readonly firstCall: string | null;
  readonly lastCall: string | null;
  readonly createdAt: Date;
}

export interface BatchProgress extends Batch {
  readonly byStatus: Record<string, number>;
  /** When its last call became terminal; null while any is not. */
  readonly finishedAt: Date | null;
}

/** Batches and their CSVs of refused rows. Every question is asked in the name of one firm. */
export function batches(prisma: PrismaClient, db: Sql) {
  async function withProgress(found: Batch[]): Promise<BatchProgress[]> {
    const groups = await db.query<{ batch_uuid: string; status: string; count: number; latest: Date }>(
      `SELECT call.batch_uuid, status, count(*)::int AS count, max(updated_at) AS latest
       FROM batch JOIN call ON call.firm_uuid = batch.firm_uuid AND call.uuid BETWEEN first_call AND last_call
         AND call.batch_uuid = batch.uuid
       WHERE batch.uuid = ANY($1) GROUP BY call.batch_uuid, status`,
      [found.map((batch) => batch.uuid)],
    );
    return found.map((batch) => {
      const own = groups.filter((group) => group.batch_uuid === batch.uuid);
      const byStatus = Object.fromEntries(own.map((group) => [group.status, group.count]));
      const running = own.some((group) => UNFINISHED.includes(group.status));
      const lastMs = Math.max(batch.createdAt.getTime(), ...own.map((group) => group.latest.getTime()));
      return { ...batch, byStatus, finishedAt: running ? null : new Date(lastMs) };
    });
  }

  return {
    async ofSession(firmUuid: string, sessionUuid: string): Promise<Batch | null> {
      return prisma.batch.findFirst({ where: { firmUuid, sessionUuid } });
    },

    async get(firmUuid: string, uuid: string): Promise<BatchProgress> {
      const batch = await prisma.batch.findFirst({ where: { firmUuid, uuid } });
      if (batch === null) throw notFound('batch');
      const [progress] = await withProgress([batch]);
      return progress!;
    },

    async list(firmUuid: string, page: number, size: number): Promise<{ count: number; items: BatchProgress[] }> {
      const where: Prisma.BatchWhereInput = { firmUuid };
      const [count, found] = await Promise.all([
        prisma.batch.count({ where }),
        prisma.batch.findMany({
          where,
          orderBy: [{ createdAt: 'desc' }, { uuid: 'desc' }],
          skip: (page - 1) * size,
          take: size,
        }),
      ]);
      return { count, items: await withProgress(found) };
    },

    async keepRejected(file: { uuid: string; firmUuid: string; objectKey: string; expiresAt: Date }): Promise<void> {
      await prisma.rejectedFile.create({ data: file });
    },

    /** The object key of a CSV of refused rows that has not expired. */
    async rejectedKey(firmUuid: string, uuid: string, now: Date): Promise<string> {
      const file = await prisma.rejectedFile.findFirst({ where: { uuid, firmUuid, expiresAt: { gt: now } } });
      if (file === null) {
        throw new Fault('not-found', 'NOT_FOUND', 'There is no such CSV of refused rows; it is kept for 7 days.');
      }
      return file.objectKey;
    },

    async expiredRejected(before: Date, limit: number): Promise<{ uuid: string; objectKey: string }[]> {
      return prisma.rejectedFile.findMany({
        where: { expiresAt: { lt: before } },
        take: limit,
        select: { uuid: true, objectKey: true },
      });
    },

    async forgetRejected(uuid: string): Promise<void> {
      await prisma.rejectedFile.deleteMany({ where: { uuid } });
    },

    async isRejectedKept(objectKey: string): Promise<boolean> {
      return (await prisma.rejectedFile.count({ where: { objectKey } })) > 0;
    },
  };
}

export type Batches = ReturnType<typeof batches>;
