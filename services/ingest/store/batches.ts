import { Fault, notFound } from '@call-analysis/fault';
import type { Prisma, PrismaClient } from '../generated/client.ts';

export interface Batch {
  readonly uuid: string;
  readonly kind: string;
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly ignoredColumns: string[];
  readonly rejectedUuid: string | null;
  readonly createdAt: Date;
}

export interface BatchProgress extends Batch {
  readonly byStatus: Record<string, number>;
  /** When its last call became terminal; null while any is not. */
  readonly finishedAt: Date | null;
}

const unfinished = ['queued', 'transcribing', 'analyzing'];

/** Batches and their CSVs of refused rows. Every question is asked in the name of one firm. */
export function batches(prisma: PrismaClient) {
  async function withProgress(found: Batch[]): Promise<BatchProgress[]> {
    const uuids = found.map((batch) => batch.uuid);
    const groups = await prisma.call.groupBy({
      by: ['batchUuid', 'status'],
      where: { batchUuid: { in: uuids } },
      _count: true,
      _max: { updatedAt: true },
    });
    return found.map((batch) => {
      const own = groups.filter((group) => group.batchUuid === batch.uuid);
      const byStatus = Object.fromEntries(own.map((group) => [group.status, group._count]));
      const running = own.some((group) => unfinished.includes(group.status));
      const lastMs = Math.max(batch.createdAt.getTime(), ...own.map((group) => group._max.updatedAt?.getTime() ?? 0));
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
