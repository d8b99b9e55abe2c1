import { PrismaPg } from '@prisma/adapter-pg';
import type { Database } from './database.ts';
import { translateError } from './errors.ts';
import type { Sql } from './sql.ts';

/**
 * The adapter for `new PrismaClient({ adapter })`. It shares the connections of the database, which must be closed after
 * it. Prisma's own queries name their schema and raw SQL uses the search path, so both are set.
 */
export function prismaAdapter({ pool, schema }: Pick<Database, 'pool' | 'schema'>): PrismaPg {
  return new PrismaPg(pool, { schema, onPoolError: () => {}, onConnectionError: () => {} });
}

/** For a client's `$extends`: its queries reject with a Fault `unavailable` when the connection fails, as raw SQL does. */
export const unavailability = {
  query: {
    async $allOperations<Args>({
      args,
      query,
    }: {
      args: Args;
      query: (args: Args) => Promise<unknown>;
    }): Promise<unknown> {
      try {
        return await query(args);
      } catch (error) {
        throw translateError(error);
      }
    },
  },
};

/** The part of a Prisma client, or of its transaction client, that runs raw SQL. */
interface RawPrisma {
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): PromiseLike<T>;
}

/** Raw SQL inside a Prisma transaction, for example to publish events. `int8` values are numbers. */
export function prismaSql(tx: RawPrisma): Sql {
  return {
    async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
      try {
        const rows = await tx.$queryRawUnsafe<Record<string, unknown>[]>(text, ...values);
        return rows.map(withNumbers) as Row[];
      } catch (error) {
        throw translateError(error);
      }
    },
  };
}

function withNumbers(row: Record<string, unknown>): Record<string, unknown> {
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === 'bigint') row[column] = Number(value);
  }
  return row;
}
