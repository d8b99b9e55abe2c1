import { openDatabase } from '@call-analysis/postgres';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing/database';
import type { TransportUnderTest } from '../contract/index.ts';
import { migrateBus } from '../open.ts';

/** A new database with the tables of the bus. */
export function busDatabase(): Promise<TestDatabase> {
  return freshDatabase('bus-tables', ({ url }) => migrateBus({ url: url('bus'), schema: 'bus' }));
}

/** The embedded transport with its own database. */
export async function openEmbeddedTransport(): Promise<TransportUnderTest> {
  const database = await busDatabase();
  const url = database.url('bus');
  const service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  return {
    config: { transport: 'embedded', url, schema: 'bus' },
    keepsHistory: false,
    transaction: (work) => service.transaction(work),
    // The publishing transaction itself inserts events into the inboxes.
    async arrived() {},
    async close() {
      await service.close();
      await database.drop();
    },
  };
}
