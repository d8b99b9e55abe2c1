import type { Database } from '@call-analysis/postgres';
import { prismaAdapter } from '@call-analysis/postgres';
import { PrismaClient } from '../generated/client.ts';
import { batches } from './batches.ts';
import { calls } from './calls.ts';
import { uploads } from './uploads.ts';

/** The only way to this service's tables. */
export function openStore(db: Database, url: string) {
  const prisma = new PrismaClient({ adapter: prismaAdapter({ url, schema: db.schema }) });
  return {
    db,
    uploads: uploads(prisma, db),
    batches: batches(prisma, db),
    calls: calls(db),
    close: () => prisma.$disconnect(),
  };
}

export type Store = ReturnType<typeof openStore>;
export type { Batch, BatchProgress } from './batches.ts';
export type { CallRow, HistoryEntry, WaitingCall } from './calls.ts';
