export { columnsOf, type Page, readPage, type Sql, valuesOf } from './database/sql.ts';
export { confidential, type ValueCipher } from './database/confidential.ts';
export { type Database, DEADLOCKS_RETRIED, openDatabase, type Transaction } from './database/database.ts';
export {
  limitOptions,
  MIGRATION_LIMITS,
  refuseSecondConnections,
  shareConnections,
  type SessionLimits,
  USUAL_LIMITS,
  withClient,
} from './database/connection.ts';
export { sqlState, translateError } from './database/errors.ts';
export { ensureSchema, migrate, requireMigrated } from './migrations/migrate.ts';
export { prismaAdapter, prismaSql, unavailability } from './database/prisma.ts';
export { databaseUrl, provision } from './provisioning/provision.ts';
