import { prismaAdapter, unavailability } from '@call-analysis/postgres';
import { PrismaClient } from '../generated/client.ts';

/** A database that is away is a Fault `unavailable` here too. */
export function openPrisma(url: string, schema: string) {
  return new PrismaClient({ adapter: prismaAdapter({ url, schema }) }).$extends(unavailability);
}

export type IngestPrisma = ReturnType<typeof openPrisma>;
