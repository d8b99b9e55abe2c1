import { type Database, prismaAdapter, unavailability } from '@call-analysis/postgres';
import { PrismaClient } from './generated/client.ts';

/** A client on the pool of `db`. Like `db`, it throws Fault `unavailable` when the database cannot be reached. */
export function openPrisma(db: Database) {
  return new PrismaClient({ adapter: prismaAdapter(db) }).$extends(unavailability);
}

export type IngestPrisma = ReturnType<typeof openPrisma>;
