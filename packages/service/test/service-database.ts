import { migrateBus } from '@call-analysis/bus';
import { migrate } from '@call-analysis/postgres';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing/database';

/** A new database with the tables of the bus and of a service. */
export function serviceDatabase(schema: string, migrations: string): Promise<TestDatabase> {
  return freshDatabase(schema, async ({ url }) => {
    await migrateBus({ url: url('bus'), schema: 'bus' });
    await migrate({ url: url(schema), schema, folder: migrations });
  });
}
