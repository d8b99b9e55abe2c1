import { type Database, prismaAdapter, unavailability } from '@call-analysis/postgres';
import { PrismaClient } from '../generated/client.ts';

/** A database that is away is a Fault `unavailable` here too. */
export function openPrisma(db: Database) {
  return new PrismaClient({ adapter: prismaAdapter(db) }).$extends(unavailability);
}

export type IngestPrisma = ReturnType<typeof openPrisma>;
