import type { Bus } from '@call-analysis/bus';
import { createEvent, type EventType } from '@call-analysis/events';
import { unavailable } from '@call-analysis/fault';
import { type Database, prismaSql, translateError } from '@call-analysis/postgres';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import { keyReads, keyRows } from './api-keys.ts';
import { auditLog, auditRows } from './audit.ts';
import { firmRemovalRows } from './firm-removals.ts';
import { firmReads, firmRows, userReads, userRows } from './firms-and-users.ts';
import { sessionReads, sessionRows } from './sessions.ts';

/** The `source` of the events that this service publishes. */
const SOURCE = 'key-management';

/** As long as a caller waits for a reply, so that a database that stalls for some seconds aborts no transaction. */
const TRANSACTION_TIMEOUT_MS = 10_000;

/** A unique index refused a row. The transaction has been rolled back. */
export class Duplicate extends Error {
  override readonly name = 'Duplicate';
}

/** Firms, users, keys and the audit log. Rejects with a Fault `unavailable` when the database does not answer. */
export type Store = ReturnType<typeof openStore>;

export type Transaction = ReturnType<typeof openTransaction>;

export function openStore({ prisma, database, bus }: { prisma: PrismaClient; database: Database; bus: Bus }) {
  return {
    /** Runs `work` in a transaction. Rejects with Duplicate when a unique index refuses a row. */
    transaction: <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
      translated(() =>
        prisma.$transaction((tx) => work(openTransaction(tx, bus)), {
          maxWait: TRANSACTION_TIMEOUT_MS,
          timeout: TRANSACTION_TIMEOUT_MS,
        }),
      ),
    ...eachTranslated({
      ...firmReads(prisma),
      ...userReads(prisma),
      ...keyReads(prisma, database),
      ...sessionReads(prisma),
      ...auditLog(prisma, database),
    }),
  };
}

function openTransaction(tx: Prisma.TransactionClient, bus: Bus) {
  return {
    ...firmRows(tx),
    ...userRows(tx),
    ...keyRows(tx),
    ...sessionRows(tx),
    ...firmRemovalRows(tx),
    ...auditRows(tx),
    /** Publishes an event if and only if the transaction commits. */
    async publish<Body>(
      type: EventType<Body>,
      { subject, firmUuid, data }: { subject: string; firmUuid: string; data: Body },
    ): Promise<void> {
      await bus.publish(prismaSql(tx), [createEvent(SOURCE, type, subject, { firmuuid: firmUuid }, data)]);
    },
  };
}

function eachTranslated<Queries extends Record<string, (...given: never[]) => Promise<unknown>>>(
  queries: Queries,
): Queries {
  const wrapped = Object.entries(queries).map(([name, query]) => [
    name,
    (...given: never[]) => translated(() => query(...given)),
  ]);
  return Object.fromEntries(wrapped) as Queries;
}

/** Runs a query and translates the errors of Prisma. */
async function translated<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError) {
      if (error.code === 'P2002') throw new Duplicate('A unique index refused the row.', { cause: error });
      // The transaction could not begin in time, or lost its connection.
      if (error.code === 'P2028') throw unavailable('PostgreSQL', error);
    }
    throw translateError(error);
  }
}
